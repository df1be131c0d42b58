//! The records that both stores keep as bytes. These shapes are the format: once there is a release, a field is never
//! moved, removed or given another meaning without a new version. None of them implements `Debug`, since they hold bank
//! details.

mod buyer;
mod call;
mod change;
mod codes;
mod offer;
mod party;
#[cfg(test)]
mod tests;
mod webhook;

use crate::codec::CodecError;
use lendpay_domain::Timestamp;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

pub(crate) use buyer::DescriptionRecord;
pub(crate) use call::CallRecord;
pub(crate) use change::{ChangeRecord, Entry};
pub(crate) use codes::{offer_type_code, offer_type_of, status_code, status_of};
pub(crate) use offer::TermsRecord;
pub(crate) use party::{KeyRow, PartnerRecord};
pub(crate) use webhook::{EndpointRecord, ProgressRecord, WebhookRecord};

/// A moment, to the nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Time {
    /// Since 1970, UTC.
    seconds: i64,
    nanoseconds: u32,
}

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self { seconds: at.timestamp(), nanoseconds: at.timestamp_subsec_nanos() }
    }
}

impl TryFrom<Time> for Timestamp {
    type Error = CodecError;

    fn try_from(time: Time) -> Result<Self, CodecError> {
        Self::from_timestamp(time.seconds, time.nanoseconds).ok_or(CodecError::Damaged)
    }
}

pub(crate) fn times(time: Option<Time>) -> Result<Option<Timestamp>, CodecError> {
    time.map(Timestamp::try_from).transpose()
}

/// A decimal with its scale: 0.10 stays 0.10.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dec([u8; 16]);

impl From<Decimal> for Dec {
    fn from(value: Decimal) -> Self {
        Self(value.serialize())
    }
}

impl From<Dec> for Decimal {
    fn from(value: Dec) -> Self {
        Self::deserialize(value.0)
    }
}
