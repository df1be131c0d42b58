//! The record format for benchmarks, which see only what is public. Nothing else uses this.

use crate::codec::{self, CodecError};
use crate::records::BuyerRecord;
use lendpay_domain::buyer::{Buyer, Description};
use lendpay_domain::{BuyerId, PartnerId, Timestamp};

/// The value of a buyer is longer than one may be, or is damaged.
#[derive(Debug)]
pub struct NoRecord;

impl From<CodecError> for NoRecord {
    fn from(_: CodecError) -> Self {
        Self
    }
}

/// Appends the value of a buyer.
///
/// # Errors
/// It is too long.
pub fn encode(partner: PartnerId, at: Timestamp, buyer: &Description, value: &mut Vec<u8>) -> Result<(), NoRecord> {
    Ok(codec::seal(&BuyerRecord::new(partner, at, None, buyer), value)?)
}

/// Reads the value of a buyer.
///
/// # Errors
/// It is damaged.
pub fn decode(id: BuyerId, value: &[u8]) -> Result<Buyer, NoRecord> {
    Ok(codec::unseal::<BuyerRecord<'_>>(value)?.buyer(id)?)
}
