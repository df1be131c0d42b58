//! Examples for the operator's document, made by the conversions that make real answers.

use super::examples;
use super::finish::Example;
use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use crate::wire::offer_batch::{BatchAnswer, BatchFailure, BatchResult, BatchedAnswer};
use crate::wire::operator_offer::OperatorOffer;
use crate::wire::party::{MadeKey, Partner};
use lendpay_domain::key::{Access, ApiKey, Area, KeyRecord};
use lendpay_domain::offer::{Offer, Status};
use lendpay_domain::text::Name;
use lendpay_domain::{KeyId, PartnerId, Timestamp, partner};
use serde_json::{Value, json};
use uuid::{Uuid, uuid};

const PARTNER: Uuid = uuid!("6f1d3c52-90a4-4b0e-8f57-2a4b3c9d8e10");
const APPLICATION: Uuid = uuid!("5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21");
const OFFERS: [Uuid; 2] =
    [uuid!("8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10"), uuid!("3e7b118e-bb4c-4e4b-981d-a62526cbbdce")];

fn moment() -> Timestamp {
    examples::moment(1_653_653_744, 50_386_800)
}

fn name(text: &str) -> Name {
    Name::from_input(text).expect("the example is good")
}

pub(super) fn new_partners() -> Vec<Example> {
    vec![("Platform".to_owned(), json!({ "name": "Northwind Platform" }))]
}

pub(super) fn partners() -> Vec<Example> {
    let (id, name) = (PartnerId::new(PARTNER), name("Northwind Platform"));
    let partner = partner::Partner { id, name, oauth_client_id: None, created_at: moment() };
    vec![("Platform".to_owned(), json!(Partner::from(partner)))]
}

pub(super) fn partner_list() -> Vec<Example> {
    page(partners().into_iter())
}

pub(super) fn new_keys() -> Vec<Example> {
    let narrowed = json!({ "name": "Reporting", "areas": ["lending"], "access": "read" });
    vec![
        ("Both areas".to_owned(), json!({ "name": "Production 2026", "areas": ["lending", "payments"] })),
        ("For reading only".to_owned(), narrowed),
    ]
}

pub(super) fn made_keys() -> Vec<Example> {
    // No key of any store: its bits are not random.
    let key = ApiKey::from_random([0xab; 32]);
    let record = KeyRecord {
        id: KeyId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d")),
        partner: PartnerId::new(PARTNER),
        hash: key.hash(),
        name: name("Production 2026"),
        areas: Area::ALL.into_iter().collect(),
        access: Access::Full,
        created_at: moment(),
        expires_at: None,
        revoked_at: None,
    };
    vec![("Both areas".to_owned(), json!(MadeKey::new(&key, &record)))]
}

pub(super) fn new_expiries() -> Vec<Example> {
    vec![("Some day".to_owned(), json!({ "expiresAt": "2099-12-31T00:00:00Z" }))]
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
        "expiryAt": "2022-06-27T12:15:44Z",
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

pub(super) fn new_batches() -> Vec<Example> {
    let item = |(id, (_, terms)): (Uuid, Example)| {
        let mut item = json!({ "applicationId": APPLICATION, "offerId": id, "partnerId": PARTNER });
        item.as_object_mut().into_iter().zip(terms.as_object()).for_each(|(item, terms)| item.extend(terms.clone()));
        item
    };
    let items: Vec<_> = OFFERS.into_iter().zip(new_offers()).map(item).collect();
    vec![("Two offers".to_owned(), json!({ "items": items }))]
}

pub(super) fn batch_answers() -> Vec<Example> {
    let failure: Failure = OperatorFailure::TermsFixed(Status::CustomerAccepted).into();
    let item = |id, result, failure: Option<&Failure>| BatchedAnswer {
        application_id: Some(APPLICATION),
        offer_id: Some(id),
        result,
        failure: failure.map(BatchFailure::from),
    };
    let items = vec![item(OFFERS[0], BatchResult::Created, None), item(OFFERS[1], BatchResult::Failed, Some(&failure))];
    vec![("One is new".to_owned(), json!(BatchAnswer { items }))]
}

pub(super) fn offers() -> Vec<Example> {
    let example = |(summary, offer): (&str, Offer)| (summary.to_owned(), json!(OperatorOffer::from(offer)));
    examples::offered().into_iter().map(example).collect()
}

/// An offer after a transition.
pub(super) fn moved(to: Status) -> Vec<Example> {
    let [(_, offer), _] = examples::offered();
    vec![(to.name().to_owned(), json!(OperatorOffer::from(Offer { status: to, ..offer })))]
}

fn page(items: impl Iterator<Item = Example>) -> Vec<Example> {
    let items: Vec<_> = items.map(|(_, item)| item).collect();
    vec![("The last page".to_owned(), json!({ "items": items, "next": null }))]
}

pub(super) fn offer_list() -> Vec<Example> {
    page(offers().into_iter())
}

/// Keys as they are read.
fn read_keys() -> impl Iterator<Item = Example> {
    made_keys().into_iter().map(|(summary, mut key)| {
        if let Some(key) = key.as_object_mut() {
            key.shift_remove("key");
            key.insert("revokedAt".to_owned(), Value::Null);
            key.insert("lastUsedAt".to_owned(), "2022-05-27T12:20:00Z".into());
        }
        (summary, key)
    })
}

pub(super) fn keys() -> Vec<Example> {
    page(read_keys())
}

pub(super) fn found_keys() -> Vec<Example> {
    let owned = read_keys().map(|(summary, mut key)| {
        if let Some(key) = key.as_object_mut() {
            key.insert("partnerId".to_owned(), json!(PARTNER));
        }
        (summary, key)
    });
    owned.collect()
}

pub(super) fn new_declines() -> Vec<Example> {
    vec![("On the telephone".to_owned(), json!({ "reason": "The customer said no on the telephone" }))]
}

pub(super) fn applications() -> Vec<Example> {
    let application = json!({ "id": APPLICATION, "partnerId": PARTNER });
    vec![("Of a partner".to_owned(), application)]
}

pub(super) fn application_list() -> Vec<Example> {
    page(applications().into_iter())
}

pub(super) fn buyers() -> Vec<Example> {
    let buyer = json!({
        "id": "0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6a",
        "partnerId": PARTNER,
        "name": "Northwind Bicycles Ltd",
        "registrationNumber": "09876543",
        "countryCode": "GB",
        "type": 0,
        "bankAccount": {
            "currencyCode": "GBP", "accountName": null, "sortCode": "202015", "accountNumber": "55555555", "bic": null,
            "accountType": null, "iban": "GB33BUKB20201555555555",
        },
        "createdAt": "2022-05-27T12:15:44.050386800Z",
    });
    vec![("British company".to_owned(), buyer)]
}

pub(super) fn buyer_list() -> Vec<Example> {
    page(buyers().into_iter())
}

pub(super) fn events() -> Vec<Example> {
    let event = json!({
        "sequence": 41,
        "id": "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e",
        "type": "offer.accepted",
        "occurredAt": "2022-05-27T12:15:44.050386800Z",
        "partnerId": PARTNER,
        "applicationId": APPLICATION,
        "offerId": OFFERS[0],
        "buyerId": null,
        "keyId": null,
        "endpointId": null,
        "actor": "key:01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d",
        "operationId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "replaced": [],
        "reason": null,
    });
    let replaced = json!({
        "sequence": 57,
        "id": "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c70",
        "type": "offer.terms_replaced",
        "occurredAt": "2022-05-27T12:20:01Z",
        "partnerId": PARTNER,
        "applicationId": APPLICATION,
        "offerId": OFFERS[1],
        "buyerId": null,
        "keyId": null,
        "endpointId": null,
        "actor": "operator",
        "operationId": "7d0c1a52b8f54d1f9f0c8a4d3b2e6a91",
        "replaced": [{ "field": "amount", "before": null, "after": 25_000.55 }],
        "reason": null,
    });
    let revoked = json!({
        "sequence": 58,
        "id": "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6f",
        "type": "key.revoked",
        "occurredAt": "2022-05-27T12:16:01.5Z",
        "partnerId": PARTNER,
        "applicationId": null,
        "offerId": null,
        "buyerId": null,
        "keyId": "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d",
        "endpointId": null,
        "actor": "operator:anna.k",
        "operationId": "8e03978e40d5453fa2f4e2f0a1c3b5d7",
        "replaced": [],
        "reason": null,
    });
    let page =
        json!({ "history": "9b2fd8e4-6a0c-4c53-8f0e-3c1d5a7b9e42", "items": [event, replaced, revoked], "next": null });
    vec![("The last page".to_owned(), page)]
}

pub(super) fn operation() -> Vec<Example> {
    let call = json!({
        "receivedAt": "2022-05-27T12:15:45.112Z",
        "method": "POST",
        "route": "/lending/applications/{applicationId}/offers/{offerId}/decline",
        "applicationId": "5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21",
        "offerId": "8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10",
        "buyerId": null,
        "partnerId": PARTNER,
        "actor": "key:01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d",
        "status": 409,
        "errorCode": "OfferAccepted",
        "errors": ["An offer that is CustomerAccepted cannot become CustomerDeclined."],
        "durationMs": 1.25,
    });
    let [(_, events)]: [Example; 1] = events().try_into().expect("there is one example");
    let found = json!({ "operationId": "4bf92f3577b34da6a3ce929d0e0e4736", "calls": [call], "events": events });
    vec![("An accept, and a decline after it".to_owned(), found)]
}

pub(super) fn export() -> Vec<Example> {
    vec![("A line for each record".to_owned(), "(lines of JSON)\n".into())]
}

pub(super) fn log() -> Vec<Example> {
    vec![("The log's bytes".to_owned(), "(bytes)".into())]
}

pub(super) fn new_backups() -> Vec<Example> {
    vec![("As the copy said".to_owned(), json!({ "asOf": "2022-05-27T12:15:44.050386Z" }))]
}

pub(super) fn metrics() -> Vec<Example> {
    vec![("Some lines".to_owned(), "(lines in Prometheus' text format)\n".into())]
}

pub(super) fn live() -> Vec<Example> {
    vec![("Live".to_owned(), json!({ "status": "live" }))]
}

pub(super) fn ready() -> Vec<Example> {
    vec![("Ready".to_owned(), json!({ "status": "ready" }))]
}

pub(super) fn not_ready() -> Example {
    ("Not ready".to_owned(), json!({ "status": "unavailable", "reason": "the disk is full" }))
}
