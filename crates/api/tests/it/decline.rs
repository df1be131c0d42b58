//! Contract 2.1 and 2.13: what becomes of a partner's decline, by the offer's status and the moment.

use crate::context::samples::{start, terms, terms_until};
use crate::context::{Context, Fault, Placed, Step};
use lendpay_domain::event::Actor;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{OfferType, Status, Terms};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// Declines and sees a refusal that changes nothing.
async fn is_refused(context: &Context, placed: Placed, code: &str) {
    let (before, events) = (context.seen(placed).await, context.event_types().await);
    let answer = context.partner_a().decline(placed).await;
    answer.is_error(409, Some(code));
    assert_eq!(answer.errors(), [format!("An offer that is {} cannot become CustomerDeclined.", before.status)]);
    assert_eq!(context.seen(placed).await, before);
    assert_eq!(context.event_types().await, events);
}

#[tokio::test]
async fn decline_of_offered_makes_it_customer_declined_now_with_its_event() {
    for offer_type in [OfferType::Underwritten, OfferType::Indicative] {
        let context = Context::new().await;
        let placed = context.offer(Terms { offer_type, ..terms() }).await;
        context.pass(HOUR);
        let answer = context.partner_a().decline(placed).await;
        assert_eq!(answer.status, 200);
        let body = answer.json();
        assert_eq!((&body["id"], &body["status"]), (&placed.offer.to_string().into(), &"CustomerDeclined".into()));
        assert_eq!(body["statusChangedAt"], "2026-03-01T13:00:00.123456Z");
        assert_eq!(context.event_types().await, ["offer.created", "offer.declined"]);
        let event = context.events().await.pop().expect("two events");
        assert_eq!((event.actor, event.partner), (Actor::Key(context.a().key_id), Some(context.a().id)));
        assert_eq!(event.operation.to_string(), answer.operation());
        context.partner_a().accept(placed).await.is_error(409, Some("OfferDeclined"));
    }
}

#[tokio::test]
async fn a_repeated_decline_answers_200_with_the_offer_unchanged_whoever_declined_and_whatever_the_time() {
    let context = Context::new().await;
    let mine = context.offer(terms_until(start() + HOUR)).await;
    let first = context.partner_a().decline(mine).await;
    let operators = context.offer(terms()).await;
    context.move_to(operators, &[Action::Decline]).await;
    let before = context.seen(operators).await;
    context.pass(HOUR * 2);
    let second = context.partner_a().decline(mine).await;
    assert_eq!((second.status, &second.bytes), (200, &first.bytes));
    assert_eq!(context.partner_a().decline(operators).await.status, 200);
    assert_eq!(context.seen(operators).await, before);
    let types = context.event_types().await;
    assert_eq!(types.iter().filter(|kind| **kind == "offer.declined").count(), 2, "{types:?}");
}

#[tokio::test]
async fn decline_of_an_offer_that_cannot_be_declined_is_409() {
    let accepted = [Action::Accept];
    let advanced = [Action::Accept, Action::Advance];
    for (actions, code) in [
        (&accepted[..], "OfferAccepted"),
        (&advanced, "OfferAccepted"),
        (&[Action::Archive], "OfferArchived"),
        (&[Action::Decline, Action::Archive], "OfferArchived"),
        (&[Action::Accept, Action::Archive], "OfferArchived"),
    ] {
        let context = Context::new().await;
        let placed = context.offer(terms()).await;
        context.move_to(placed, actions).await;
        is_refused(&context, placed, code).await;
    }
}

#[tokio::test]
async fn decline_at_or_after_the_expiry_is_409_offer_expired_and_the_expiry_is_stored() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    context.pass(HOUR);
    context.partner_a().decline(placed).await.is_error(409, Some("OfferExpired"));
    assert_eq!(context.event_types().await, ["offer.created", "offer.expired"]);
    assert_eq!(context.seen(placed).await.status_changed_at, start() + HOUR);
    is_refused(&context, placed, "OfferExpired").await;
}

#[tokio::test]
async fn decline_before_the_expiry_succeeds() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    context.pass(HOUR - Duration::from_nanos(1));
    assert_eq!(context.partner_a().decline(placed).await.json()["status"], "CustomerDeclined");
}

#[tokio::test]
async fn another_partners_offer_is_untouched_by_a_decline() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.partner_b().decline(placed).await.is_error(404, Some("OfferNotFound"));
    assert_eq!(context.seen(placed).await.status, Status::Offered);
}

#[tokio::test]
async fn the_body_and_the_query_of_a_decline_are_ignored_up_to_the_size_limit() {
    for (kind, body) in
        [(None, &b""[..]), (None, b"{}"), (Some("text/plain"), b"x"), (Some("application/json"), b"{\"a\":"), (None, b"\xff")]
    {
        let context = Context::new().await;
        let placed = context.offer(terms()).await;
        let mut call = context.partner_a().post(&format!("{}/decline?a=%FF&status=x", placed.own_path()));
        if let Some(kind) = kind {
            call = call.header("content-type", kind);
        }
        assert_eq!(call.body(body).send().await.status, 200, "{body:?}");
    }
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let call = context.partner_a().post(&format!("{}/decline", placed.own_path()));
    call.body(vec![b'x'; 65_537]).send().await.is_error(413, Some("RequestTooLarge"));
    assert_eq!(context.seen(placed).await.status, Status::Offered);
}

#[tokio::test]
async fn a_decline_whose_reply_was_lost_is_retried_with_200() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.store().rig(Some((Step::Command, Fault::DoneButUnknown)));
    context.partner_a().decline(placed).await.is_error(503, Some("Unavailable"));
    context.store().rig(None);
    assert_eq!(context.partner_a().decline(placed).await.status, 200);
    assert_eq!(context.event_types().await, ["offer.created", "offer.declined"]);
}

/// Contract 2.1: of concurrent accepts and declines exactly one transition wins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_accepts_and_declines_at_once_one_wins() {
    let context = Context::new().await;
    for _ in 0..20 {
        let placed = context.offer(terms()).await;
        let a = context.partner_a();
        let (accepted, declined) = tokio::join!(a.accept(placed), a.decline(placed));
        match context.seen(placed).await.status {
            Status::CustomerAccepted => {
                assert_eq!(accepted.status, 200);
                declined.is_error(409, Some("OfferAccepted"));
            }
            Status::CustomerDeclined => {
                assert_eq!(declined.status, 200);
                accepted.is_error(409, Some("OfferDeclined"));
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(context.event_types().await.len(), 40);
}
