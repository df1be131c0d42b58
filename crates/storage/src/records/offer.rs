//! An offer: a head that decisions read and change, and a tail that they leave alone. A change of status writes a new head
//! beside the old tail, without reading the tail: the committer decodes no text and no URL.

use super::codes::{
    duration_code, duration_of, funding_code, funding_of, offer_type_code, offer_type_of, status_code, status_of,
};
use super::{Dec, Place, Time, times};
use crate::codec::{self, CodecError};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::offer::{Details, Offer, OfferType, RedirectUrl, Status, Terms};
use lendpay_domain::{ApplicationId, OfferId, PartnerId, Timestamp};
use serde::{Deserialize, Serialize};

/// What decisions need. The ids are the value's key.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferHead {
    pub partner: [u8; 16],
    pub status: u8,
    pub status_changed_at: Time,
    pub offer_type: u8,
    pub expiry_at: Option<Time>,
}

impl OfferHead {
    pub(crate) fn new(partner: PartnerId, terms: &Terms, status: Status, at: Timestamp) -> Self {
        Self {
            partner: partner.to_bytes(),
            status: status_code(status),
            status_changed_at: at.into(),
            offer_type: offer_type_code(terms.offer_type),
            expiry_at: terms.expiry_at.map(Time::from),
        }
    }

    pub(crate) fn status(&self) -> Result<Status, CodecError> {
        status_of(self.status)
    }

    pub(crate) fn offer_type(&self) -> Result<OfferType, CodecError> {
        offer_type_of(self.offer_type)
    }

    pub(crate) fn expiry_at(&self) -> Result<Option<Timestamp>, CodecError> {
        times(self.expiry_at)
    }

    /// Reads the head of a sealed offer, and gives the bytes of its tail.
    pub(crate) fn of(value: &[u8]) -> Result<(Self, &[u8]), CodecError> {
        codec::take(codec::open(value)?)
    }

    /// Reads the sealed offer that has come to be what this head says.
    pub(crate) fn offer(&self, application: ApplicationId, id: OfferId, value: &[u8]) -> Result<Offer, CodecError> {
        let (_, tail) = Self::of(value)?;
        let tail: OfferTail<'_> = codec::read(tail)?;
        let rate = |value: Dec| Rate::new(value.into()).map_err(|_| CodecError::Damaged);
        let terms = Terms {
            details: Details::parse(tail.details).map_err(|_| CodecError::Damaged)?,
            funding_type: funding_of(tail.funding_type)?,
            offer_type: self.offer_type()?,
            annual_percentage_rate: rate(tail.annual_percentage_rate)?,
            interest_rate: tail.interest_rate.map(rate).transpose()?,
            expiry_at: self.expiry_at()?,
            redirect_url: tail.redirect_url.map(|url| RedirectUrl::restored(url.to_owned())),
            amount: tail.amount.map(|v| Amount::new(v.into())).transpose().map_err(|_| CodecError::Damaged)?,
            duration: tail.duration.map(duration_of).transpose()?,
        };
        Ok(Offer {
            id,
            application,
            partner: PartnerId::from_bytes(self.partner),
            terms,
            status: self.status()?,
            status_changed_at: self.status_changed_at.try_into()?,
        })
    }

    /// Seals the head with a tail.
    pub(crate) fn seal(&self, tail: &[u8], buffer: &mut Vec<u8>) -> Result<(), CodecError> {
        codec::begin(buffer);
        codec::append(self, buffer)?;
        buffer.extend_from_slice(tail);
        codec::finish(buffer, codec::MAX_VALUE)
    }
}

/// What the embedded store's index knows of an offer: all that decisions need, and where the rest is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferState {
    pub head: OfferHead,
    /// The sealed offer as it was when its terms were set: of its head only type and expiry still hold.
    pub terms: Place,
}

/// What decisions do not need.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferTail<'a> {
    pub details: &'a str,
    pub funding_type: u8,
    pub annual_percentage_rate: Dec,
    pub interest_rate: Option<Dec>,
    pub redirect_url: Option<&'a str>,
    pub amount: Option<Dec>,
    pub duration: Option<u8>,
}

impl<'a> From<&'a Terms> for OfferTail<'a> {
    fn from(terms: &'a Terms) -> Self {
        Self {
            details: terms.details.as_str(),
            funding_type: funding_code(terms.funding_type),
            annual_percentage_rate: terms.annual_percentage_rate.decimal().into(),
            interest_rate: terms.interest_rate.map(|rate| rate.decimal().into()),
            redirect_url: terms.redirect_url.as_ref().map(RedirectUrl::as_str),
            amount: terms.amount.map(|amount| amount.decimal().into()),
            duration: terms.duration.map(duration_code),
        }
    }
}

/// Reads a whole sealed offer.
pub(crate) fn offer_of(application: ApplicationId, id: OfferId, value: &[u8]) -> Result<Offer, CodecError> {
    OfferHead::of(value)?.0.offer(application, id, value)
}
