//! Examples of webhook endpoints for the operator's document, made by the conversions that make real answers.

use super::examples;
use super::finish::Example;
use crate::webhook_secrets::WebhookSecret;
use crate::wire::endpoint::{MadeWebhook, RotatedSecret, Webhook, WebhookAttempt, WebhookAttemptList, WebhookProgress};
use crate::wire::time::Time;
use lendpay_domain::webhook::attempt::TEST;
use lendpay_domain::webhook::{
    Attempt, Endpoint, EndpointUrl, FORMER_SECRET, InFlight, Owner, Problem, Progress, Sealed, Secrets, State,
};
use lendpay_domain::{EndpointId, EventId, PartnerId, Timestamp};
use serde_json::json;
use std::time::Duration;
use uuid::{Uuid, uuid};

const PARTNER: Uuid = uuid!("6f1d3c52-90a4-4b0e-8f57-2a4b3c9d8e10");

const URL: &str = "https://northwind.example/webhooks/lendpay";

fn moment() -> Timestamp {
    examples::moment(1_653_653_744, 50_386_800)
}

fn endpoint() -> Endpoint {
    Endpoint {
        id: EndpointId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71")),
        owner: Owner::Partner(PartnerId::new(PARTNER)),
        url: EndpointUrl::parse(URL).expect("the example is good"),
        types: None,
        in_flight: InFlight::MOST,
        set: State::Active,
        created_at: moment(),
        secrets: Secrets { current: Sealed::new(Vec::new()), former: None },
    }
}

/// No secret of any endpoint: its bits are not random.
fn secret() -> String {
    WebhookSecret::from_random([0xab; 32]).reveal()
}

pub(super) fn new() -> Vec<Example> {
    let lender =
        json!({ "url": "https://core.lender.example/events", "types": ["buyer.created"], "inFlight": 1, "after": 0 });
    vec![
        ("Of a partner".to_owned(), json!({ "url": URL, "partnerId": PARTNER })),
        ("Of the lender, in order and from the beginning".to_owned(), lender),
    ]
}

pub(super) fn made() -> Vec<Example> {
    let made = MadeWebhook { webhook: endpoint().into(), secret: secret() };
    vec![("Of a partner".to_owned(), json!(made))]
}

pub(super) fn changed() -> Vec<Example> {
    vec![("Another address".to_owned(), json!({ "url": "https://northwind.example/webhooks/2" }))]
}

pub(super) fn endpoints() -> Vec<Example> {
    vec![("Of a partner".to_owned(), json!(Webhook::from(endpoint())))]
}

pub(super) fn list() -> Vec<Example> {
    vec![("The last page".to_owned(), json!({ "items": [Webhook::from(endpoint())], "next": null }))]
}

pub(super) fn shown() -> Vec<Example> {
    let progress = Progress { cursor: 41, last_success_at: Some(moment()), ..Progress::default() };
    let shown = WebhookProgress::new(endpoint(), Some(&progress), None, moment());
    vec![("Nothing waits".to_owned(), json!(shown))]
}

pub(super) fn redeliveries() -> Vec<Example> {
    vec![("From event 42 on".to_owned(), json!({ "after": 41 }))]
}

pub(super) fn rotated() -> Vec<Example> {
    let rotated = RotatedSecret { secret: secret(), former_secret_until: Some(Time(moment() + FORMER_SECRET)) };
    vec![("A new secret".to_owned(), json!(rotated))]
}

fn made_attempts() -> [WebhookAttempt; 2] {
    let tested = Attempt {
        event: EventId::new(uuid!("1c3f4f0a-2f7e-4d4b-9d0a-6a1f6f0b7c11")),
        kind: TEST,
        sequence: None,
        number: 1,
        at: moment(),
        duration: Duration::from_micros(41_500),
        result: Ok(204),
        next_at: None,
    };
    let failed = Attempt {
        event: EventId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e")),
        kind: "offer.accepted",
        sequence: Some(41),
        number: 2,
        result: Err(Problem::Status(503)),
        next_at: Some(moment() + Duration::from_secs(31)),
        ..tested
    };
    [tested.into(), failed.into()]
}

pub(super) fn attempt() -> Vec<Example> {
    let [tested, _] = made_attempts();
    vec![("The endpoint took it".to_owned(), json!(tested))]
}

pub(super) fn attempts() -> Vec<Example> {
    vec![("A test, and an event that failed".to_owned(), json!(WebhookAttemptList { items: made_attempts().into() }))]
}
