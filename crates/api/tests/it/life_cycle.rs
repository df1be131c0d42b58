//! Contract 2.1: what becomes of an accept, by the offer's status and the moment.

use crate::context::samples::{start, terms, terms_until};
use crate::context::{Context, Placed};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{OfferType, Status, Terms};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);
const NANO: Duration = Duration::from_nanos(1);

/// An offer that was moved on and left for an hour.
async fn moved(context: &Context, actions: &[Action]) -> Placed {
    let placed = context.offer(terms()).await;
    context.move_to(placed, actions).await;
    context.pass(HOUR);
    placed
}

/// Accepts and sees a refusal that changes nothing.
async fn is_refused(context: &Context, placed: Placed, code: &str) {
    let (before, events) = (context.seen(placed).await, context.event_types().await);
    let answer = context.partner_a().accept(placed).await;
    answer.is_error(409, Some(code));
    assert_eq!(answer.errors(), [format!("An offer that is {} cannot become CustomerAccepted.", before.status)]);
    assert_eq!(context.seen(placed).await, before);
    assert_eq!(context.event_types().await, events);
}

#[tokio::test]
async fn accept_of_offered_makes_it_customer_accepted_now() {
    let context = Context::new().await;
    let placed = moved(&context, &[]).await;
    let answer = context.partner_a().accept(placed).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["status"], "CustomerAccepted");
    assert_eq!(context.seen(placed).await.status_changed_at, start() + HOUR);
}

#[tokio::test]
async fn accept_of_customer_accepted_answers_200_with_the_offer_unchanged() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let first = context.partner_a().accept(placed).await;
    context.pass(HOUR);
    let second = context.partner_a().accept(placed).await;
    assert_eq!(second.status, 200);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(context.event_types().await, ["offer.created", "offer.accepted"]);
}

#[tokio::test]
async fn accept_of_advanced_answers_200_with_the_offer_as_it_stands() {
    let context = Context::new().await;
    let placed = moved(&context, &[Action::Accept, Action::Advance]).await;
    let before = context.seen(placed).await;
    let answer = context.partner_a().accept(placed).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["status"], "Advanced");
    assert_eq!(answer.json()["statusChangedAt"], "2026-03-01T12:00:00.123456Z");
    assert_eq!(context.seen(placed).await, before);
    assert_eq!(context.event_types().await, ["offer.created", "offer.accepted", "offer.advanced"]);
}

#[tokio::test]
async fn a_repeated_accept_after_the_expiry_still_answers_200() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    let first = context.partner_a().accept(placed).await;
    context.pass(HOUR * 2);
    let second = context.partner_a().accept(placed).await;
    assert_eq!((second.status, second.bytes), (200, first.bytes));
}

#[tokio::test]
async fn accept_of_customer_declined_is_409_offer_declined() {
    let context = Context::new().await;
    let placed = moved(&context, &[Action::Decline]).await;
    is_refused(&context, placed, "OfferDeclined").await;
}

#[tokio::test]
async fn accept_of_archived_is_409_offer_archived_wherever_it_came_from() {
    let context = Context::new().await;
    for before in [&[][..], &[Action::Accept], &[Action::Accept, Action::Advance], &[Action::Decline]] {
        let placed = moved(&context, &[before, &[Action::Archive]].concat()).await;
        is_refused(&context, placed, "OfferArchived").await;
    }
    let expired = context.offer(terms_until(start())).await;
    context.move_to(expired, &[Action::Archive]).await;
    is_refused(&context, expired, "OfferArchived").await;
}

#[tokio::test]
async fn accept_before_the_expiry_succeeds() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    context.pass(HOUR - NANO);
    let answer = context.partner_a().accept(placed).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["status"], "CustomerAccepted");
}

#[tokio::test]
async fn accept_at_or_after_the_expiry_is_409_offer_expired() {
    for late in [Duration::ZERO, NANO, HOUR] {
        let context = Context::new().await;
        let placed = context.offer(terms_until(start() + HOUR)).await;
        context.pass(HOUR + late);
        context.partner_a().accept(placed).await.is_error(409, Some("OfferExpired"));
    }
}

#[tokio::test]
async fn an_expiry_is_stored_once_at_the_moment_of_expiry() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    context.pass(HOUR * 2);
    context.partner_a().accept(placed).await.is_error(409, Some("OfferExpired"));
    assert_eq!(context.event_types().await, ["offer.created", "offer.expired"]);
    assert_eq!(context.events().await[1].occurred_at, start() + HOUR);
    // Stored: it is Expired for a reader at any time, even one whose clock is behind.
    context.clock().set(start());
    let offer = context.seen(placed).await;
    assert_eq!((offer.status, offer.status_changed_at), (Status::Expired, start() + HOUR));
    is_refused(&context, placed, "OfferExpired").await;
}

#[tokio::test]
async fn a_read_after_the_expiry_shows_it_as_expired_before_anything_is_stored() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    context.pass(HOUR);
    let offer = context.seen(placed).await;
    assert_eq!((offer.status, offer.status_changed_at), (Status::Expired, start() + HOUR));
}

#[tokio::test]
async fn an_offer_without_an_expiry_never_expires() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.pass(HOUR * 24 * 365 * 100);
    assert_eq!(context.partner_a().accept(placed).await.status, 200);
}

#[tokio::test]
async fn an_indicative_offer_can_be_accepted() {
    let context = Context::new().await;
    let placed = context.offer(Terms { offer_type: OfferType::Indicative, ..terms() }).await;
    let answer = context.partner_a().accept(placed).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["offerType"], "Indicative");
    assert_eq!(answer.json()["status"], "CustomerAccepted");
}

#[tokio::test]
async fn accepting_one_offer_leaves_the_applications_other_offers_alone() {
    let context = Context::new().await;
    let (one, other) = (context.offer(terms()).await, context.offer(terms()).await);
    let before = context.seen(other).await;
    context.pass(HOUR);
    assert_eq!(context.partner_a().accept(one).await.status, 200);
    assert_eq!(context.seen(other).await, before);
    assert_eq!(context.partner_a().accept(other).await.status, 200);
}
