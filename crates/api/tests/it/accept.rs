//! Contract 1.2: accepting an offer.

use crate::context::samples::{start, terms};
use crate::context::{Context, path};
use lendpay_domain::event::{Actor, Subject};
use lendpay_domain::offer::Status;
use std::time::Duration;

#[tokio::test]
async fn accepts_an_offer_and_returns_it() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.pass(Duration::from_secs(5));
    let answer = context.partner_a().accept(placed).await;
    assert_eq!(answer.status, 200);
    let body = answer.json();
    assert_eq!(body["id"], placed.offer.to_string());
    assert_eq!(body["status"], "CustomerAccepted");
    assert_eq!(body["statusChangedAt"], "2026-03-01T12:00:05.123456Z");
}

#[tokio::test]
async fn an_acceptance_is_stored_with_its_event() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.pass(Duration::from_secs(5));
    let answer = context.partner_a().accept(placed).await;
    let offer = context.seen(placed).await;
    assert_eq!((offer.status, offer.status_changed_at), (Status::CustomerAccepted, start() + Duration::from_secs(5)));
    assert_eq!(context.event_types().await, ["offer.created", "offer.accepted"]);
    let event = context.events().await.pop().expect("two events");
    let subject =
        Subject::Offer { application: placed.application, offer: placed.offer, status: Status::CustomerAccepted };
    assert_eq!(event.subject, subject);
    assert_eq!(event.partner, Some(context.a().id));
    assert_eq!(event.actor, Actor::Key(context.a().key_id));
    assert_eq!(event.occurred_at, offer.status_changed_at);
    assert_eq!(event.operation.to_string(), answer.operation());
}

#[tokio::test]
async fn ids_are_uuids_in_either_case() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let (application, offer) = (placed.application.to_string(), placed.offer.to_string());
    let upper = path(application.to_uppercase(), offer.to_uppercase());
    let answer = context.partner_a().post(&upper).send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["id"], offer, "ids are answered in lower case");
}

#[tokio::test]
async fn a_query_is_ignored() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let answer = context.partner_a().post(&format!("{}?a=%FF&applicationId=x", placed.path())).send().await;
    assert_eq!(answer.status, 200);
}
