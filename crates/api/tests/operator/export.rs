//! The export over HTTP.

use crate::context::{Context, OPERATOR_KEY, offer, terms};
use lendpay_api::transfer::{Reader, check};

#[tokio::test]
async fn an_export_is_a_whole_file() {
    let context = Context::new().await;
    context.partner(1).await;
    for n in 0..50 {
        context.call("PUT", &offer(1, n), &terms()).await.is(201);
    }
    let answer = context.send("GET", "/operator/export", &[("x-operator-key", OPERATOR_KEY)], "").await;
    assert_eq!(
        (answer.status, &answer.headers["content-type"]),
        (200, &"application/x-ndjson".parse().expect("a value"))
    );
    let checked = check(&answer.bytes[..]).expect("whole");
    let history = context.get("/operator/events").await.is(200)["history"].clone();
    assert_eq!((checked.records, checked.history.map(|id| id.to_string())), (53, history.as_str().map(str::to_owned)));
    let mut reader = Reader::new(&answer.bytes[..]);
    assert!(reader.next().expect("a record").is_some());
}
