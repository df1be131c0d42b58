//! The operator's reader of events waits for one.

use crate::context::{Context, OPERATOR_KEY, id, offer, terms};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn a_reader_is_answered_when_an_event_comes_that_its_filter_keeps() {
    let context = Arc::new(Context::new().await);
    context.partner(1).await;
    context.partner(2).await;
    let end = context.get("/operator/events").await.is(200)["items"].as_array().expect("a list").len();
    let last = context.get("/operator/events").await.is(200)["items"][end - 1]["sequence"].clone();
    let reader = |filter: String| {
        let context = Arc::clone(&context);
        let path = format!("/operator/events?wait=25&after={last}{filter}");
        tokio::spawn(async move { context.get(&path).await.is(200) })
    };
    let (any, of_2) = (reader(String::new()), reader(format!("&partnerId={}", id(2))));
    let archived = reader("&type=offer.archived,offer.declined".to_owned());
    while context.feed.waiting() != [0, 3] {
        tokio::task::yield_now().await;
    }
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    assert_eq!(any.await.expect("no panic")["items"][0]["offerId"], id(1));
    context.call("POST", &format!("{}/decline", offer(1, 1)), &json!(null)).await.is(200);
    assert_eq!(archived.await.expect("no panic")["items"][0]["type"], "offer.declined");
    assert_eq!(context.feed.waiting(), [0, 1]);
    context.call("PUT", &offer(2, 2), &terms()).await.is(201);
    let page = of_2.await.expect("no panic");
    assert_eq!((&page["items"][0]["partnerId"], &page["next"]), (&json!(id(2)), &json!(null)));
}

#[tokio::test]
async fn a_wait_is_bounded_and_a_bad_one_is_refused() {
    let context = Arc::new(Context::new().await);
    for bad in ["26", "x", "-1"] {
        let body = context.get(&format!("/operator/events?wait={bad}")).await.is_error(400, "InvalidData");
        assert_eq!(body["errors"], json!(["wait: must be a whole number from 0 to 25"]));
    }
    let readers = (0..100).map(|_| {
        let context = Arc::clone(&context);
        tokio::spawn(async move { context.get("/operator/events?wait=25").await.is(200) })
    });
    let readers: Vec<_> = readers.collect();
    while context.feed.waiting() != [0, 100] {
        tokio::task::yield_now().await;
    }
    let refused = context.get("/operator/events?wait=25").await;
    refused.is_error(429, "RateLimited");
    assert!(refused.headers.contains_key("retry-after"));
    let headers = [("x-operator-key", OPERATOR_KEY)];
    assert_eq!(context.send("GET", "/operator/events", &headers, "").await.status, 200, "who does not wait is answered");
    context.feed.stop();
    for reader in readers {
        assert_eq!(reader.await.expect("no panic")["items"], json!([]));
    }
}
