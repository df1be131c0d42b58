//! Contract 2.5: retrying a creation.

use crate::context::samples::buyer;
use crate::context::{Answer, BUYERS, Client, Context, Fault, Step};
use lendpay_domain::StoreError;
use lendpay_domain::key::Area;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;

/// Sees to it that `second` is the replay of `first`.
#[track_caller]
fn is_replay(second: &Answer, first: &Answer) {
    assert_eq!((second.status, &second.bytes), (201, &first.bytes));
    assert_eq!(second.header("location"), first.header("location"));
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
}

/// Sees to it that this created a buyer.
#[track_caller]
fn is_original(answer: &Answer) {
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.header("idempotency-replayed"), None);
}

#[tokio::test]
async fn the_same_key_and_payload_get_the_original_201_with_idempotency_replayed() {
    let context = Context::new().await;
    let first = context.partner_a().create_once("order-1", &buyer()).await;
    is_original(&first);
    context.pass(Duration::from_secs(60));
    let second = context.partner_a().create_once("order-1", &buyer()).await;
    is_replay(&second, &first);
    assert_ne!(second.operation(), first.operation());
    assert_eq!(context.event_types().await, ["buyer.created"]);
}

#[tokio::test]
async fn a_key_is_remembered_for_at_least_24_hours() {
    let context = Context::new().await;
    let first = context.partner_a().create_once("order-1", &buyer()).await;
    context.pass(Duration::from_secs(24 * 3_600));
    is_replay(&context.partner_a().create_once("order-1", &buyer()).await, &first);
    assert_eq!(context.event_types().await, ["buyer.created"]);
}

#[tokio::test]
async fn the_same_key_with_another_payload_is_422() {
    let context = Context::new().await;
    let first = context.partner_a().create_once("order-1", &buyer()).await;
    let mut other_name = buyer();
    other_name["name"] = "Someone Else".into();
    let mut other_account = buyer();
    other_account["bankAccount"]["accountNumber"] = "55555556".into();
    for other in [json!({}), other_name, other_account] {
        context.partner_a().create_once("order-1", &other).await.is_error(422, None);
    }
    is_replay(&context.partner_a().create_once("order-1", &buyer()).await, &first);
    assert_eq!(context.event_types().await, ["buyer.created"]);
}

#[tokio::test]
async fn other_keys_make_other_buyers() {
    let context = Context::new().await;
    let long = "k".repeat(255);
    let mut ids = Vec::new();
    for key in ["order-1", "order-2", "Order-1", "0", "!~", "a\"b", &long] {
        let answer = context.partner_a().create_once(key, &buyer()).await;
        is_original(&answer);
        ids.push(answer.json()["id"].to_string());
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[tokio::test]
async fn a_quoted_key_is_the_bare_key() {
    let context = Context::new().await;
    let first = context.partner_a().create_once("order-1", &buyer()).await;
    is_replay(&context.partner_a().create_once("\"order-1\"", &buyer()).await, &first);
    let long = "k".repeat(255);
    let quoted = context.partner_a().create_once(&format!("\"{long}\""), &buyer()).await;
    is_original(&quoted);
    is_replay(&context.partner_a().create_once(&long, &buyer()).await, &quoted);
}

#[tokio::test]
async fn anything_but_1_to_255_visible_ascii_characters_is_400() {
    let context = Context::new().await;
    let long = "k".repeat(256);
    let long_quoted = format!("\"{long}\"");
    let bad: [&[u8]; 9] =
        [b"", b"\"\"", b"a b", b"a\tb", b"\"a b\"", "é".as_bytes(), b"\xff", long.as_bytes(), long_quoted.as_bytes()];
    for key in bad {
        let call = context.partner_a().post(BUYERS).raw_header("idempotency-key", key).json(&buyer());
        let answer = call.send().await;
        assert_eq!(answer.status, 400, "{key:?} {answer:?}");
    }
    assert_eq!(context.events().await, []);
}

#[tokio::test]
async fn two_keys_at_once_are_400() {
    let context = Context::new().await;
    for second in ["order-1", "order-2"] {
        let call = context.partner_a().post(BUYERS).header("idempotency-key", "order-1");
        call.header("idempotency-key", second).json(&buyer()).send().await.is_error(400, None);
    }
}

#[tokio::test]
async fn a_key_is_remembered_per_partner() {
    let context = Context::new().await;
    let a = context.partner_a().create_once("order-1", &buyer()).await;
    let b = context.partner_b().create_once("order-1", &json!({})).await;
    is_original(&b);
    assert_ne!(a.json()["id"], b.json()["id"]);
    let same_partner = context.partner_a_for([Area::Payments]).await;
    is_replay(&same_partner.create_once("order-1", &buyer()).await, &a);
}

#[tokio::test]
async fn failures_of_the_client_are_not_remembered() {
    let context = Context::new().await;
    let once = |client: Client| async move { client.create_once("order-1", &buyer()).await };
    context.partner_a().create_once("order-1", &json!({ "type": 1 })).await.is_error(400, None);
    once(context.anonymous()).await.is_error(401, None);
    once(context.lending_only().await).await.is_error(403, None);
    let call = || context.partner_a().post(BUYERS).header("idempotency-key", "order-1");
    call().body("{").send().await.is_error(400, None);
    call().body(vec![b' '; 65_537]).send().await.is_error(413, None);
    call().header("content-type", "text/plain").body("{}").send().await.is_error(415, None);
    is_original(&once(context.partner_a()).await);
}

#[tokio::test]
async fn failures_of_the_service_are_not_remembered() {
    let context = Context::new().await;
    for fault in [
        Fault::Error(StoreError::Overloaded),
        Fault::Error(StoreError::Unavailable),
        Fault::Error(StoreError::Corrupt),
        Fault::Panic,
    ] {
        context.store().rig(Some((Step::Command, fault)));
        let answer = context.partner_a().create_once("order-1", &buyer()).await;
        assert!(matches!(answer.status, 500 | 503), "{answer:?}");
    }
    context.store().rig(None);
    is_original(&context.partner_a().create_once("order-1", &buyer()).await);
}

#[tokio::test]
async fn a_lost_reply_is_retried_without_a_second_buyer() {
    let context = Context::new().await;
    context.store().rig(Some((Step::Command, Fault::DoneButUnknown)));
    context.partner_a().create_once("order-1", &buyer()).await.is_error(503, None);
    context.store().rig(None);
    let answer = context.partner_a().create_once("order-1", &buyer()).await;
    assert_eq!((answer.status, answer.header("idempotency-replayed")), (201, Some("true")));
    assert_eq!(context.event_types().await, ["buyer.created"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_16_concurrent_duplicates_one_makes_the_buyer_and_the_rest_are_replays() {
    const CALLERS: usize = 16;
    let context = Context::new().await;
    let barrier = Arc::new(Barrier::new(CALLERS));
    let tasks: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (barrier, client) = (Arc::clone(&barrier), context.partner_a());
            tokio::spawn(async move {
                barrier.wait().await;
                client.create_once("order-1", &buyer()).await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("the task does not panic"));
    }
    let (originals, replays): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer.header("idempotency-replayed").is_none());
    assert_eq!(originals.len(), 1);
    is_original(originals[0]);
    for replay in replays {
        is_replay(replay, originals[0]);
    }
    assert_eq!(context.event_types().await, ["buyer.created"]);
}

#[tokio::test]
async fn an_accept_does_not_care_about_an_idempotency_key() {
    let context = Context::new().await;
    let placed = context.offer(crate::context::samples::terms()).await;
    let call = context.partner_a().post(&placed.path()).header("idempotency-key", "a b");
    assert_eq!(call.send().await.status, 200);
}
