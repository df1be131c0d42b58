//! The terms of an offer.

use super::codes::{duration_code, duration_of, funding_code, funding_of, offer_type_code, offer_type_of};
use super::{Dec, Time, times};
use crate::codec::CodecError;
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::offer::{Details, RedirectUrl, Terms};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TermsRecord<'a> {
    details: &'a str,
    funding_type: u8,
    offer_type: u8,
    annual_percentage_rate: Dec,
    interest_rate: Option<Dec>,
    expiry_at: Option<Time>,
    redirect_url: Option<&'a str>,
    amount: Option<Dec>,
    duration: Option<u8>,
}

impl<'a> From<&'a Terms> for TermsRecord<'a> {
    fn from(terms: &'a Terms) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Terms {
            details,
            funding_type,
            offer_type,
            annual_percentage_rate,
            interest_rate,
            expiry_at,
            redirect_url,
            amount,
            duration,
        } = terms;
        Self {
            details: details.as_str(),
            funding_type: funding_code(*funding_type),
            offer_type: offer_type_code(*offer_type),
            annual_percentage_rate: annual_percentage_rate.decimal().into(),
            interest_rate: interest_rate.map(|rate| rate.decimal().into()),
            expiry_at: expiry_at.map(Time::from),
            redirect_url: redirect_url.as_ref().map(RedirectUrl::as_str),
            amount: amount.map(|amount| amount.decimal().into()),
            duration: duration.map(duration_code),
        }
    }
}

impl TryFrom<TermsRecord<'_>> for Terms {
    type Error = CodecError;

    fn try_from(record: TermsRecord<'_>) -> Result<Self, CodecError> {
        let rate = |value: Dec| Rate::new(value.into()).map_err(|_| CodecError::Damaged);
        Ok(Self {
            details: Details::parse(record.details).map_err(|_| CodecError::Damaged)?,
            funding_type: funding_of(record.funding_type)?,
            offer_type: offer_type_of(record.offer_type)?,
            annual_percentage_rate: rate(record.annual_percentage_rate)?,
            interest_rate: record.interest_rate.map(rate).transpose()?,
            expiry_at: times(record.expiry_at)?,
            redirect_url: record.redirect_url.map(|url| RedirectUrl::restored(url.to_owned())),
            amount: record.amount.map(|v| Amount::new(v.into())).transpose().map_err(|_| CodecError::Damaged)?,
            duration: record.duration.map(duration_of).transpose()?,
        })
    }
}
