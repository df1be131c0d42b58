//! Contract 2.13: a reader of events waits for one.

use crate::context::samples::{buyer, start, terms};
use crate::context::{Answer, Client, Context, Fault, Step};
use lendpay_api::{Feed, PartnerSettings};
use lendpay_domain::StoreError;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

async fn with_feed() -> (Context, Arc<Feed>) {
    let feed = Arc::<Feed>::default();
    let settings = PartnerSettings { feed: Arc::clone(&feed), ..PartnerSettings::default() };
    (Context::with(settings).await, feed)
}

/// A reader that waits, with more in its query.
fn reader(client: &Client, query: &str) -> JoinHandle<Answer> {
    let call = client.get(&format!("/events?wait=25{query}"));
    tokio::spawn(call.send())
}

/// Waits until so many readers wait.
async fn until_waiting(feed: &Feed, count: usize) {
    while feed.waiting() != [count, 0] {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn types(reader: JoinHandle<Answer>) -> Vec<String> {
    let answer = reader.await.expect("no panic");
    assert_eq!(answer.status, 200, "{answer:?}");
    let page = answer.json();
    assert_eq!(page["next"], Value::Null);
    let kind = |event: &Value| event["type"].as_str().expect("a type").to_owned();
    page["items"].as_array().expect("a list").iter().map(kind).collect()
}

/// Where a reader goes on that has seen all there is.
async fn end(client: &Client) -> String {
    let items = client.read_all("/events", 500).await;
    items.last().map_or_else(|| "&after=0".to_owned(), |event| format!("&after={}", event["sequence"]))
}

#[tokio::test]
async fn a_reader_is_answered_as_soon_as_there_is_an_event_for_it() {
    let (context, feed) = with_feed().await;
    let a = context.partner_a();
    context.offer(terms()).await;
    assert_eq!(types(reader(&a, "")).await, ["offer.created"], "there is one already");
    let after = end(&a).await;
    let all = reader(&a, &after);
    let accepts = reader(&a, &format!("{after}&type=offer.accepted"));
    let buyers = reader(&context.payments_only().await, &after);
    until_waiting(&feed, 3).await;
    // Nothing for any of them.
    context.offer_of_b(terms()).await;
    context.partner_b().create(&buyer()).await;
    let placed = context.offer(terms()).await;
    assert_eq!(types(all).await, ["offer.created"]);
    until_waiting(&feed, 2).await;
    context.partner_a().accept(placed).await;
    assert_eq!(types(accepts).await, ["offer.accepted"]);
    until_waiting(&feed, 1).await;
    context.partner_a().create(&buyer()).await;
    assert_eq!(types(buyers).await, ["buyer.created"]);
    assert_eq!(feed.waiting(), [0, 0]);
}

/// Whoever goes on where it was misses nothing, however fast events come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_waits_again_and_again_gets_each_event_once() {
    let (context, _) = with_feed().await;
    let a = context.partner_a();
    let writers = (0..4).map(|_| {
        let context = context.clone();
        tokio::spawn(async move {
            for _ in 0..50 {
                context.offer(terms()).await;
                context.offer_of_b(terms()).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let (mut seen, mut after) = (Vec::new(), "0".to_owned());
    while seen.len() < 200 {
        let page = a.read(&format!("/events?wait=25&limit=7&after={after}")).await;
        let items = page["items"].as_array().expect("a list");
        assert!(!items.is_empty(), "it waits until there is one");
        seen.extend(items.iter().map(|event| event["sequence"].as_u64().expect("a number")));
        after = seen.last().expect("one").to_string();
    }
    assert!(seen.is_sorted_by(|a, b| a < b) && seen.len() == 200);
    for writer in writers {
        writer.await.expect("no panic");
    }
}

#[tokio::test]
async fn ten_readers_of_a_partner_wait_and_the_eleventh_is_told() {
    let (context, feed) = with_feed().await;
    let a = context.partner_a();
    let after = end(&a).await;
    let waiting: Vec<_> = (0..10).map(|_| reader(&a, &after)).collect();
    until_waiting(&feed, 10).await;
    let refused = reader(&a, &after).await.expect("no panic");
    refused.is_error(429, None);
    assert_eq!(refused.json()["title"], "Too many requests wait");
    let wait: u64 = refused.header("retry-after").expect("it says when").parse().expect("seconds");
    assert!((1..=25).contains(&wait), "{wait}");
    // Others are not concerned, nor is who does not wait.
    let other = reader(&context.partner_b(), "");
    until_waiting(&feed, 11).await;
    assert_eq!(a.read("/events").await["items"], json!([]));
    // One that breaks off makes room.
    waiting[3].abort();
    until_waiting(&feed, 10).await;
    let eleventh = reader(&a, &after);
    until_waiting(&feed, 11).await;
    context.offer(terms()).await;
    for (n, reader) in waiting.into_iter().enumerate().filter(|(n, _)| *n != 3) {
        assert_eq!(types(reader).await, ["offer.created"], "{n}");
    }
    assert_eq!(types(eleventh).await, ["offer.created"]);
    context.offer_of_b(terms()).await;
    assert_eq!(types(other).await, ["offer.created"]);
}

/// Each event is read once for all who wait.
#[tokio::test]
async fn readers_that_wait_cost_one_look_together() {
    let (context, feed) = with_feed().await;
    let readers: Vec<_> = (0..10).map(|_| reader(&context.partner_a(), "")).collect();
    until_waiting(&feed, 10).await;
    let before = context.store().looks.load(Ordering::SeqCst);
    let shown = reader(&context.partner_b(), "&type=offer.declined");
    for _ in 0..50 {
        context.offer_of_b(terms()).await;
    }
    let placed = context.offer_of_b(terms()).await;
    context.partner_b().decline(placed).await;
    assert_eq!(types(shown).await, ["offer.declined"]);
    let looks = context.store().looks.load(Ordering::SeqCst) - before;
    // The other reader's two, and at most one for each change; none for each of the ten.
    assert!(looks <= 60, "{looks}");
    feed.stop();
    for reader in readers {
        assert!(types(reader).await.is_empty());
    }
}

#[tokio::test]
async fn without_an_event_the_answer_is_an_empty_page_in_time() {
    let (context, _) = with_feed().await;
    let begin = Instant::now();
    let page = context.partner_a().read("/events?wait=1").await;
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert_eq!((&page["items"], &page["next"]), (&json!([]), &Value::Null));
    let begin = Instant::now();
    context.partner_a().read("/events?wait=0").await;
    context.partner_a().read("/events").await;
    assert!(begin.elapsed() < Duration::from_secs(1));
}

/// The time limit of a request leaves its answer 5 s.
#[tokio::test]
async fn a_wait_ends_before_the_request_would_be_timed_out() {
    let limits = lendpay_api::Limits { request_time: Duration::from_secs(6) };
    let context = Context::with(PartnerSettings { limits, ..PartnerSettings::default() }).await;
    assert_eq!(context.partner_a().read("/events?wait=25").await["items"], json!([]));
}

#[tokio::test]
async fn when_the_service_ends_all_are_answered_and_nobody_waits() {
    let (context, feed) = with_feed().await;
    let waiting: Vec<_> = [context.partner_a(), context.partner_b()].iter().map(|client| reader(client, "")).collect();
    until_waiting(&feed, 2).await;
    feed.stop();
    for reader in waiting {
        assert!(types(reader).await.is_empty());
    }
    assert!(types(reader(&context.partner_a(), "")).await.is_empty());
}

#[tokio::test]
async fn a_reader_whose_key_is_revoked_meanwhile_learns_nothing() {
    let (context, feed) = with_feed().await;
    let waiting = reader(&context.partner_a(), "");
    until_waiting(&feed, 1).await;
    context.a().revoke(context.store(), context.a().key_id, start()).await;
    context.offer(terms()).await;
    waiting.await.expect("no panic").is_error(401, None);
}

#[tokio::test]
async fn a_reader_learns_that_the_store_fails() {
    let (context, feed) = with_feed().await;
    let waiting = reader(&context.partner_a(), "");
    until_waiting(&feed, 1).await;
    context.store().rig(Some((Step::Find, Fault::Error(StoreError::Unavailable))));
    context.offer(terms()).await;
    waiting.await.expect("no panic").is_error(503, None);
}

#[tokio::test]
async fn a_wait_is_a_whole_number_of_seconds_up_to_25() {
    let context = Context::new().await;
    for bad in ["", "-1", "26", "1.5", "x", "+", "25s", "99999999999999999999"] {
        let answer = context.partner_a().get(&format!("/events?wait={bad}")).send().await;
        answer.is_error(400, None);
        assert_eq!(answer.errors(), ["wait: must be a whole number from 0 to 25"], "{bad}");
    }
    context.partner_a().get("/payments/buyers?wait=1").send().await.is_error(400, None);
}
