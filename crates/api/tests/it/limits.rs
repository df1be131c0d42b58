//! Contract 2.6: the whole request over its time is 408, whatever it waits for.

use crate::context::samples::{buyer, terms};
use crate::context::{BUYERS, Context, Fault, Step};
use futures_util::{StreamExt as _, stream};
use lendpay_api::{Arrival, Limits, PartnerSettings};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A partner side that gives a request this long.
async fn limited(request_time: Duration) -> Context {
    Context::with(PartnerSettings { limits: Limits { request_time }, ..PartnerSettings::default() }).await
}

/// Short. What the tests wait for never comes, so the answer is the same however slow the machine is.
const SHORT: Duration = Duration::from_millis(20);

#[test]
fn a_request_may_take_30_seconds() {
    assert_eq!(PartnerSettings::default().limits.request_time, Duration::from_secs(30));
}

#[tokio::test]
async fn a_store_that_never_answers_is_408() {
    let context = limited(SHORT).await;
    let placed = context.offer(terms()).await;
    for step in Step::OF_CHANGES {
        context.store().rig(Some((step, Fault::Never)));
        context.partner_a().accept(placed).await.is_error(408, Some("Timeout"));
    }
    for step in Step::OF_CHANGES {
        context.store().rig(Some((step, Fault::Never)));
        context.partner_a().create(&buyer()).await.is_error(408, None);
    }
}

#[tokio::test]
async fn a_body_that_never_ends_is_408_for_who_has_a_key_and_else_nobody_waits_for_it() {
    let context = limited(SHORT).await;
    let placed = context.offer(terms()).await;
    let slow = || stream::iter([Ok(b"{".to_vec())]).chain(stream::pending());
    let client = context.partner_a();
    client.post(&placed.path()).stream(slow()).send().await.is_error(408, Some("Timeout"));
    client.post(BUYERS).stream(slow()).send().await.is_error(408, None);
    // Contract 2.6: authentication comes before the payload.
    let patient = Context::new().await;
    for client in [patient.anonymous(), patient.holder("wrong")] {
        for (path, status, code) in [(&*placed.path(), 401, Some("InvalidApiKey")), (BUYERS, 401, None), ("/x", 404, None)] {
            let answer = client.post(path).stream(slow()).send().await;
            answer.is_error(status, code);
            assert_eq!(answer.header("connection"), Some("close"), "the rest is no request");
        }
    }
}

#[tokio::test]
async fn a_body_that_drips_is_408() {
    let context = limited(SHORT).await;
    let drip = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Some((Ok(b" ".to_vec()), ()))
    });
    context.partner_a().post(BUYERS).stream(drip).send().await.is_error(408, None);
}

#[tokio::test]
async fn the_time_counts_from_the_first_byte_of_the_head() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let context = limited(HOUR).await;
    context.store().rig(Some((Step::Command, Fault::Never)));
    let Some(long_ago) = Instant::now().checked_sub(HOUR) else {
        panic!("this machine's clock cannot go back an hour")
    };
    let arrival = Arrival { first_byte: long_ago, crowd: Arc::default() };
    let call = context.partner_a().post(BUYERS).extension(arrival).json(&buyer());
    let answer = tokio::time::timeout(HOUR / 60, call.send()).await;
    answer.expect("the hour is over already").is_error(408, None);
}
