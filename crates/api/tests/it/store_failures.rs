//! Contract 2.6, architecture: a store that cannot is 503 with `Retry-After`, at every step, in both areas.

use crate::context::samples::{buyer, terms};
use crate::context::{Context, Fault, Step};
use lendpay_domain::StoreError;
use lendpay_domain::offer::Status;

const PASSING: [StoreError; 3] = [StoreError::Overloaded, StoreError::Unavailable, StoreError::OutcomeUnknown];

/// A whole number of seconds, at least one.
fn is_delay(text: Option<&str>) -> bool {
    text.and_then(|text| text.parse::<u32>().ok()).is_some_and(|seconds| seconds > 0)
}

#[tokio::test]
async fn accept_is_503_unavailable_with_retry_after() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    for step in Step::OF_CHANGES {
        for error in PASSING {
            context.store().rig(Some((step, Fault::Error(error))));
            let answer = context.partner_a().accept(placed).await;
            answer.is_error(503, Some("Unavailable"));
            assert!(is_delay(answer.header("retry-after")), "{answer:?}");
        }
    }
    context.store().rig(None);
    assert_eq!(context.partner_a().accept(placed).await.status, 200, "the next request is fine");
}

#[tokio::test]
async fn create_is_503_with_retry_after() {
    let context = Context::new().await;
    for step in Step::OF_CHANGES {
        for error in PASSING {
            context.store().rig(Some((step, Fault::Error(error))));
            let answer = context.partner_a().create(&buyer()).await;
            answer.is_error(503, None);
            assert!(is_delay(answer.header("retry-after")), "{answer:?}");
        }
    }
    context.store().rig(None);
    assert_eq!(context.partner_a().create(&buyer()).await.status, 201, "the next request is fine");
}

#[tokio::test]
async fn an_accept_whose_reply_was_lost_is_retried_with_200() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.store().rig(Some((Step::Command, Fault::DoneButUnknown)));
    context.partner_a().accept(placed).await.is_error(503, Some("Unavailable"));
    assert_eq!(context.seen(placed).await.status, Status::CustomerAccepted);
    context.store().rig(None);
    assert_eq!(context.partner_a().accept(placed).await.status, 200);
    assert_eq!(context.event_types().await, ["offer.created", "offer.accepted"]);
}

#[tokio::test]
async fn a_failing_store_is_not_asked_by_those_who_show_no_key() {
    let context = Context::new().await;
    context.store().rig(Some((Step::FindKey, Fault::Error(StoreError::Unavailable))));
    context.anonymous().create(&buyer()).await.is_error(401, None);
}
