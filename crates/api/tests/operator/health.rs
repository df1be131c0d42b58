//! Health and metrics: without a key.

use crate::context::Context;
use serde_json::json;

#[tokio::test]
async fn health_and_metrics_need_no_key() {
    let context = Context::new().await;
    assert_eq!(context.send("GET", "/health/live", &[], "").await.is(200), json!({ "status": "live" }));
    assert_eq!(context.send("GET", "/health/ready", &[], "").await.is(200), json!({ "status": "ready" }));
    let metrics = context.send("GET", "/metrics", &[], "").await;
    assert_eq!((metrics.status, metrics.text()), (200, "lendpay_test 1\n"));
    assert_eq!(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
}

#[tokio::test]
async fn a_store_that_takes_no_commands_is_not_ready_and_says_why() {
    let context = Context::new().await;
    context.store.close().await.expect("closes");
    let answer = context.send("GET", "/health/ready", &[], "").await.is(503);
    assert_eq!(answer, json!({ "status": "unavailable", "reason": "the store does not work" }));
    assert_eq!(context.send("GET", "/health/live", &[], "").await.status, 200);
}
