//! Examples for the operator's document, made by the conversions that make real answers.

use super::examples;
use super::finish::Example;
use crate::wire::operator_offer::OperatorOffer;
use crate::wire::party::{MadeKey, Partner};
use lendpay_domain::key::{ApiKey, Area, KeyRecord};
use lendpay_domain::text::Name;
use lendpay_domain::{KeyId, PartnerId, Timestamp, partner};
use serde_json::{Value, json};
use uuid::{Uuid, uuid};

const PARTNER: Uuid = uuid!("6f1d3c52-90a4-4b0e-8f57-2a4b3c9d8e10");

fn moment() -> Timestamp {
    Timestamp::from_timestamp(1_653_653_744, 50_386_800).unwrap_or_default()
}

pub(super) fn new_partners() -> Vec<Example> {
    vec![("Platform".to_owned(), json!({ "name": "Northwind Platform" }))]
}

pub(super) fn partners() -> Vec<Example> {
    let partner = Name::parse("Northwind Platform").map(|name| {
        let id = PartnerId::new(PARTNER);
        json!(Partner::from(partner::Partner { id, name, oauth_client_id: None, created_at: moment() }))
    });
    vec![("Platform".to_owned(), partner.unwrap_or(Value::Null))]
}

pub(super) fn new_keys() -> Vec<Example> {
    vec![("Both areas".to_owned(), json!({ "name": "Production 2026", "areas": ["lending", "payments"] }))]
}

pub(super) fn made_keys() -> Vec<Example> {
    // No key of any store: its bits are not random.
    let key = ApiKey::from_random([0xab; 32]);
    let made = Name::parse("Production 2026").map(|name| {
        let record = KeyRecord {
            id: KeyId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d")),
            partner: PartnerId::new(PARTNER),
            hash: key.hash(),
            name,
            areas: Area::ALL.into_iter().collect(),
            created_at: moment(),
            expires_at: None,
            revoked_at: None,
        };
        json!(MadeKey::new(&key, &record))
    });
    vec![("Both areas".to_owned(), made.unwrap_or(Value::Null))]
}

pub(super) fn new_applications() -> Vec<Example> {
    vec![("Of a partner".to_owned(), json!({ "partnerId": PARTNER }))]
}

pub(super) fn new_offers() -> Vec<Example> {
    let full = json!({
        "details": "Fixed rate, no early repayment fee",
        "fundingType": "TermLoan",
        "offerType": "Underwritten",
        "annualPercentageRate": 0.0905,
        "interestRate": 0.085,
        "expiryAt": "2022-06-27T12:15:44+00:00",
        "amount": 25_000.55,
        "duration": "TwoYears",
    });
    let least = json!({
        "details": "Representative Rate",
        "fundingType": "TermLoan",
        "offerType": "Indicative",
        "annualPercentageRate": 0.0905,
    });
    vec![("Underwritten".to_owned(), full), ("Indicative".to_owned(), least)]
}

pub(super) fn offers() -> Vec<Example> {
    let example = |summary: &str, offer: Result<lendpay_domain::offer::Offer, examples::NotAnExample>| {
        (summary.to_owned(), offer.map_or(Value::Null, |offer| json!(OperatorOffer::from(offer))))
    };
    vec![example("Underwritten", examples::underwritten()), example("Indicative", examples::indicative())]
}
