//! Offers as the operator puts and sees them (contract 2.9).

use super::fields::{self, Fields};
use super::offer::{Address, Duration, FundingType, Offer, OfferType};
use super::page::page_of;
use super::party::FromFields;
use super::time::Time;
use lendpay_domain::Timestamp;
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::offer::{self, Details, RedirectUrl, Terms};
use lendpay_domain::text::Reason;
use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

/// What is offered.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "PutOfferRequest")]
pub struct NewOffer {
    /// Free text that describes the offer: 1 to 2,000 characters.
    pub details: String,
    pub funding_type: FundingType,
    pub offer_type: OfferType,
    /// The yearly cost of the loan, fees included, as a fraction: 0.09 is nine percent. From 0 to less than 10.
    pub annual_percentage_rate: f64,
    /// The yearly interest as a fraction, from 0 to less than 10. Absent or null: not fixed yet.
    #[oai(nullable)]
    pub interest_rate: Option<f64>,
    /// From this moment on the offer can no longer be accepted. Absent or null: it does not expire.
    #[oai(nullable)]
    pub expiry_at: Option<Time>,
    /// The address where the customer enters the onboarding journey: an absolute http or https URL.
    #[oai(nullable)]
    pub redirect_url: Option<Address>,
    /// The sum that is lent. Absent or null: not fixed yet.
    #[oai(nullable)]
    pub amount: Option<f64>,
    /// How long the loan runs. Absent or null: not fixed yet.
    #[oai(nullable)]
    pub duration: Option<Duration>,
}

impl FromFields for NewOffer {
    type Value = Terms;

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<Terms> {
        use offer::{Duration, FundingType, OfferType};
        let details = fields.required("details", |value| fields::parsed(value, Details::from_input));
        let funding_type =
            fields.required("fundingType", |value| fields::one_of(value.as_str(), FundingType::ALL, FundingType::name));
        let offer_type =
            fields.required("offerType", |value| fields::one_of(value.as_str(), OfferType::ALL, OfferType::name));
        let annual_percentage_rate =
            fields.required("annualPercentageRate", |value| fields::decimal(value, Rate::from_input));
        let interest_rate = fields.optional("interestRate", |value| fields::decimal(value, Rate::from_input));
        let expiry_at = fields.optional("expiryAt", fields::time);
        let redirect_url = fields.optional("redirectUrl", |value| fields::parsed(value, RedirectUrl::parse));
        let amount = fields.optional("amount", |value| fields::decimal(value, Amount::from_f64));
        let duration =
            fields.optional("duration", |value| fields::one_of(value.as_str(), Duration::ALL, Duration::name));
        Some(Terms {
            details: details?,
            funding_type: funding_type?,
            offer_type: offer_type?,
            annual_percentage_rate: annual_percentage_rate?,
            interest_rate,
            expiry_at,
            redirect_url,
            amount,
            duration,
        })
    }
}

/// What there is to say when an offer is declined.
#[derive(Debug, Object)]
#[oai(rename = "DeclineOfferRequest")]
pub struct NewDecline {
    /// Why: a text of 1 to 256 characters, which operators read in the event. Absent or null: not said.
    #[oai(nullable)]
    pub reason: Option<String>,
}

impl FromFields for NewDecline {
    type Value = Option<Reason>;
    const REQUIRED: bool = false;

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<Self::Value> {
        Some(fields.optional("reason", |value| fields::parsed(value, Reason::from_input)))
    }
}

/// An offer with the application that it answers.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct OperatorOffer {
    /// The identifier of the application.
    pub application_id: Uuid,
    #[oai(flatten)]
    #[serde(flatten)]
    pub offer: Offer,
}

impl From<offer::Offer> for OperatorOffer {
    fn from(offer: offer::Offer) -> Self {
        Self { application_id: offer.application.uuid(), offer: offer.into() }
    }
}

page_of! {
    OperatorOffer,
    /// A page of offers, in the order of their applications, then of their own identifiers. With a filter a page may be
    /// short, or empty, and yet have a `next`.
    OfferList
}
