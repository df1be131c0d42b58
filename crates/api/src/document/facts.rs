//! What the schemas say of each property beyond its type: bounds, from the constants that the code enforces, and an
//! example.
//!
//! Texts of answers have no bounds: what was stored before a rule, or without it (`--buyer-checks contract`), is shown
//! as it is.

use super::webhooks::ENDPOINT;
use crate::operations::parameters::MOST;
use crate::sandbox::{APPLICATION, BUYER, KEY, KEYS, OFFERS, PARTNER};
use crate::wire::fields::EXACT_MAX;
use crate::wire::offer_batch::OFFERS_AT_ONCE;
use lendpay_domain::bank::{AccountNumber, SortCode};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::offer::{Details, RedirectUrl};
use lendpay_domain::text::{NAME_MAX, SHORT_MAX};
use lendpay_domain::webhook::attempt::{Problem, TEST};
use lendpay_domain::webhook::{Disabled, EndpointUrl, InFlight, State};
use serde_json::{Map, Value, json};

/// The id of an operation, as it is written.
pub(super) const OPERATION_ID: &str = "^[0-9a-f]{32}$";

/// Why sending failed.
const REFUSED: Problem = Problem::Status(503);

const MOMENT: &str = "2022-05-27T12:15:44.050386800Z";

/// What is said of a property of a schema; nothing of one that is not known here. `sent` says that callers send it.
pub(super) fn of(schema: &str, property: &str, sent: bool) -> Map<String, Value> {
    let mut facts = if sent { bounds(property) } else { bounds_of_answers(schema, property) };
    if let Some(example) = example(schema, property) {
        facts["example"] = example;
    }
    map(facts)
}

/// What the domain asks of what is sent. A pattern describes what is common: the domain's parsers decide, and some
/// remove more spaces.
fn bounds(property: &str) -> Value {
    let text = |max: usize| json!({ "minLength": 1, "maxLength": max });
    match property {
        "name" | "accountName" | "oauthClientId" => text(NAME_MAX),
        "registrationNumber" | "accountType" => text(SHORT_MAX),
        "countryCode" => json!({ "minLength": 2, "maxLength": 2, "pattern": "^[A-Za-z]{2}$" }),
        "currencyCode" => json!({ "minLength": 3, "maxLength": 3, "pattern": "^[A-Za-z]{3}$" }),
        "sortCode" => {
            json!({ "minLength": SortCode::DIGITS, "maxLength": SortCode::DIGITS + 2, "pattern": "^[0-9]{2}[- ]?[0-9]{2}[- ]?[0-9]{2}$" })
        }
        "accountNumber" => {
            json!({ "minLength": 1, "maxLength": AccountNumber::MAX, "pattern": "^[A-Za-z0-9]+$" })
        }
        "bic" => json!({ "minLength": 8, "maxLength": 11, "pattern": "^[A-Za-z0-9]{8}([A-Za-z0-9]{3})?$" }),
        // 34 characters, and a space after each four of them.
        "iban" => json!({ "minLength": 5, "maxLength": 42, "pattern": "^[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]+$" }),
        "details" => text(Details::MAX),
        "annualPercentageRate" | "interestRate" => {
            json!({ "minimum": Rate::MIN, "maximum": Rate::BELOW, "exclusiveMaximum": true })
        }
        "amount" => json!({ "minimum": Amount::MIN, "maximum": Amount::MAX }),
        "redirectUrl" => json!({ "maxLength": RedirectUrl::MAX }),
        "items" => json!({ "minItems": 1, "maxItems": OFFERS_AT_ONCE }),
        "reason" => text(NAME_MAX),
        "url" => json!({ "format": "uri", "maxLength": EndpointUrl::LONGEST }),
        "inFlight" => json!({ "minimum": 1, "maximum": InFlight::MOST.get() }),
        "after" => json!({ "minimum": 0, "maximum": EXACT_MAX }),
        _ => json!({}),
    }
}

/// What is said of a header of answers, by its name in lower case.
pub(super) fn of_header(name: &str) -> Map<String, Value> {
    let facts = match name {
        "retry-after" => json!({ "minimum": 0, "maximum": i32::MAX, "example": 1 }),
        "location" => json!({ "format": "uri-reference", "example": format!("/payments/buyers/{BUYER}") }),
        "etag" => json!({ "example": "\"pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4\"" }),
        "idempotency-replayed" => json!({ "enum": ["true"] }),
        _ => json!({}),
    };
    map(facts)
}

fn map(facts: Value) -> Map<String, Value> {
    match facts {
        Value::Object(facts) => facts,
        other => unreachable!("facts are an object: {other}"),
    }
}

fn bounds_of_answers(schema: &str, property: &str) -> Value {
    match property {
        "operationId" => json!({ "pattern": OPERATION_ID }),
        "errorCode" => json!({ "pattern": "^[A-Z][A-Za-z]*$" }),
        "annualPercentageRate" | "interestRate" => json!({ "minimum": Rate::MIN, "maximum": Rate::MAX }),
        "amount" => json!({ "minimum": Amount::MIN, "maximum": Amount::MAX }),
        "details" => json!({ "maxLength": Details::MAX }),
        "redirectUrl" => json!({ "maxLength": RedirectUrl::MAX }),
        "sequence" => json!({ "minimum": 0, "maximum": i64::MAX }),
        "durationMs" => json!({ "minimum": 0 }),
        "status" if ["BatchFailure", "RecordedCall"].contains(&schema) => json!({ "minimum": 100, "maximum": 599 }),
        "items" if schema != "BatchAnswer" => json!({ "maxItems": MOST }),
        "items" => json!({ "maxItems": OFFERS_AT_ONCE }),
        _ => json!({}),
    }
}

fn example(schema: &str, property: &str) -> Option<Value> {
    Some(match (schema, property) {
        ("Application", "id") | (_, "applicationId") => APPLICATION.into(),
        ("Offer" | "OperatorOffer", "id") | (_, "offerId") => OFFERS[0].id.into(),
        ("Buyer" | "OperatorBuyer", "id") | (_, "buyerId") => BUYER.into(),
        ("Partner", "id") | (_, "partnerId") => PARTNER.into(),
        ("Event", "id") => "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e".into(),
        (_, "keyId") => KEYS[0].id.into(),
        (_, "history") => "9b2fd8e4-6a0c-4c53-8f0e-3c1d5a7b9e42".into(),
        ("Buyer" | "OperatorBuyer" | "CreateBuyerRequest", "name") | (_, "accountName") => {
            "Northwind Bicycles Ltd".into()
        }
        (_, "endpointId") => ENDPOINT.to_string().into(),
        (_, "eventId") => "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e".into(),
        (_, "url") => "https://platform.example/lendpay".into(),
        (_, "inFlight") => 16.into(),
        (_, "secret") => "whsec_TGVuZHBheSBleGFtcGxlIHNlY3JldCwgMzIgYnl0ZXM=".into(),
        ("WebhookList", "next") => ENDPOINT.to_string().into(),
        ("LenderWebhookData", "status") => "CustomerAccepted".into(),
        ("TestWebhook", "type") => TEST.into(),
        ("WebhookAttempt", "type") => "offer.accepted".into(),
        ("WebhookAttempt", "status") => REFUSED.names().1.into(),
        ("WebhookAttempt", "problem") => REFUSED.names().0.into(),
        (_, "number") => 1.into(),
        (_, "delivered") => false.into(),
        (_, "cursor" | "waitingSequence") => 41.into(),
        (_, "lagSeconds") => 0.8.into(),
        (_, "setAside") => 0.into(),
        ("AddWebhookRequest" | "RedeliverWebhookRequest", "after") => 41.into(),
        (name, "reason") if name.contains("Webhook") => State::Disabled(Disabled::Gone).names().1.into(),
        ("DeclineOfferRequest" | "Event", "reason") => "Found a cheaper loan".into(),
        ("Partner" | "PutPartnerRequest", "name") => "Northwind Platform".into(),
        (_, "name") => "Production 2026".into(),
        (_, "oauthClientId") => "northwind-platform".into(),
        (_, "registrationNumber") => "09876543".into(),
        (_, "countryCode") => "GB".into(),
        (_, "currencyCode") => "GBP".into(),
        ("BankAccount", "sortCode") => "20-20-15".into(),
        (_, "sortCode") => "202015".into(),
        ("MaskedBankAccount", "accountNumber") => "****5555".into(),
        (_, "accountNumber") => "55555555".into(),
        (_, "bic") => "BUKBGB22".into(),
        (_, "accountType") => "Current".into(),
        ("BankAccount", "iban") => "GB33 BUKB 2020 1555 5555 55".into(),
        ("MaskedBankAccount", "iban") => "******************5555".into(),
        (_, "iban") => "GB33BUKB20201555555555".into(),
        (_, "details") => "Fixed rate, no early repayment fee".into(),
        (_, "annualPercentageRate") => 0.0905.into(),
        (_, "interestRate") => 0.085.into(),
        (_, "expiryAt") => "2022-06-27T12:15:44Z".into(),
        (_, "redirectUrl") => "https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce".into(),
        (_, "amount") => 25_000.55.into(),
        (_, "expiresAt") => "2030-01-01T00:00:00Z".into(),
        (
            _,
            "statusChangedAt" | "createdAt" | "occurredAt" | "receivedAt" | "date" | "asOf" | "lastUsedAt"
            | "revokedAt" | "timestamp" | "at" | "nextAt" | "waitingSince" | "lastSuccessAt" | "formerSecretUntil",
        ) => MOMENT.into(),
        ("TestWebhook", "sequence") => 0.into(),
        (_, "sequence") => 41.into(),
        (_, "actor") => format!("key:{}", KEYS[0].id).into(),
        (_, "operationId") => "4bf92f3577b34da6a3ce929d0e0e4736".into(),
        ("EventList", "next") => "9b2fd8e4-6a0c-4c53-8f0e-3c1d5a7b9e42:41".into(),
        ("ApplicationList" | "PartnerList" | "KeyList", "next") => APPLICATION.into(),
        ("OfferList", "next") => format!("{}:{}", APPLICATION, OFFERS[0].id).into(),
        ("BuyerList", "next") => format!("{}:{}", PARTNER, BUYER).into(),
        (_, "title") => "Offer expired".into(),
        (_, "message") => "This offer is no longer valid.".into(),
        (_, "errorCode") => "OfferExpired".into(),
        (_, "errors") => json!(["An offer that is Expired cannot become CustomerAccepted."]),
        (_, "areas") => json!(["lending", "payments"]),
        (_, "key") => KEY.into(),
        (_, "field") => "amount".into(),
        (_, "before") => 24_000.into(),
        (_, "after") => 25_000.55.into(),
        (_, "method") => "POST".into(),
        (_, "route") => "/lending/applications/{applicationId}/offers/{offerId}/accept".into(),
        ("Health", "status") => "ready".into(),
        ("NotReady", "status") => "unavailable".into(),
        (_, "reason") => "the disk is full".into(),
        ("BatchFailure" | "RecordedCall", "status") => 409.into(),
        (_, "durationMs") => 1.25.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::buyer::description;
    use crate::wire::fields::Fields;
    use lendpay_domain::buyer_checks::{self, BuyerChecks};

    /// Whether the service accepts a buyer of which only this is known.
    fn accepted(property: &str, value: &str, of_account: bool) -> bool {
        let member = json!({ property: value });
        let buyer = if of_account { json!({ "bankAccount": member }) } else { member };
        let mut fields = Fields::of(buyer.to_string().as_bytes()).expect("an object");
        buyer_checks::check(description(&mut fields), BuyerChecks::Full).is_ok()
    }

    #[test]
    fn what_is_described_is_what_is_accepted() {
        let x = |count: usize| "x".repeat(count);
        let digits = |count: usize| "1".repeat(count);
        let (longest, short) = (x(NAME_MAX), x(SHORT_MAX));
        for (property, of_account, good, bad) in [
            ("name", false, vec!["x".to_owned(), longest.clone()], vec![String::new(), x(NAME_MAX + 1)]),
            ("registrationNumber", false, vec![short.clone()], vec![String::new(), x(SHORT_MAX + 1)]),
            ("countryCode", false, vec!["GB".into(), "gb".into()], vec!["G".into(), "GBR".into(), "G1".into()]),
            ("currencyCode", true, vec!["GBP".into(), "gbp".into()], vec!["GB".into(), "GBPP".into(), "12A".into()]),
            ("accountName", true, vec![longest], vec![String::new(), x(NAME_MAX + 1)]),
            ("accountType", true, vec![short], vec![String::new(), x(SHORT_MAX + 1)]),
            ("sortCode", true, vec!["202015".into(), "20-20-15".into(), "20 20 15".into()], vec![digits(5), digits(7)]),
            ("accountNumber", true, vec!["1".into(), digits(AccountNumber::MAX)], vec![digits(35), "12-34".into()]),
            ("bic", true, vec!["BUKBGB22".into(), "bukbgb22xxx".into()], vec!["BUKBGB2".into(), "BUKBGB22X".into()]),
            (
                "iban",
                true,
                vec!["GB33BUKB20201555555555".into(), "gb33 bukb 2020 1555 5555 55".into()],
                vec!["GB".into()],
            ),
            ("iban", true, vec!["MT84MALT011000012345MTLCAST001S".into()], vec!["GB33-BUKB-2020-1555-5555-55".into()]),
        ] {
            let schema = jsonschema::validator_for(&bounds(property)).expect("a schema");
            for (values, is_good) in [(good, true), (bad, false)] {
                for value in values {
                    assert_eq!(schema.is_valid(&value.clone().into()), is_good, "{property}: {value}");
                    assert_eq!(accepted(property, &value, of_account), is_good, "{property}: {value}");
                }
            }
        }
    }
}
