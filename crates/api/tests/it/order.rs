//! Contract 2.6: size limit, authentication, area, then the resource and the payload.

use crate::context::samples::terms;
use crate::context::{BUYERS, Client, Context, path};

/// A body that is too large.
fn large() -> Vec<u8> {
    vec![b'x'; 65_537]
}

/// Requests for both operations that have everything else wrong as well: path, body, Content-Type, Idempotency-Key.
async fn everything_wrong(client: &Client, status: u16, code: &str) {
    for path in [path("x", "y"), path("%FF", "%FF"), path("%7B", "00000000-0000-0000-0000-000000000000")] {
        client.post(&path).header("content-type", "text/plain").body("{").send().await.is_error(status, Some(code));
    }
    for (content_type, key, body) in [
        ("text/plain", "a b", "{"),
        ("application/json", "", "[]"),
        ("application/json", "k", "not JSON"),
        ("application/json", "k", r#"{"type":1}"#),
        ("application/json", "k", ""),
    ] {
        let call = client.post(BUYERS).header("content-type", content_type).header("idempotency-key", key).body(body);
        call.send().await.is_error(status, None);
    }
}

#[tokio::test]
async fn the_size_limit_comes_before_authentication_and_routing() {
    let context = Context::new().await;
    for client in [context.anonymous(), context.holder("wrong"), context.payments_only().await, context.partner_a()] {
        let answer = client.post(&path("x", "y")).body(large()).send().await;
        answer.is_error(413, Some("RequestTooLarge"));
        client.post(BUYERS).header("content-type", "text/plain").body(large()).send().await.is_error(413, None);
        client.post("/nowhere").body(large()).send().await.is_error(413, None);
    }
}

#[tokio::test]
async fn authentication_comes_before_the_resource_and_the_payload() {
    let context = Context::new().await;
    everything_wrong(&context.anonymous(), 401, "InvalidApiKey").await;
    everything_wrong(&context.holder("wrong"), 401, "InvalidApiKey").await;
}

#[tokio::test]
async fn the_area_comes_before_the_resource_and_the_payload() {
    let context = Context::new().await;
    everything_wrong(&context.partner_a_for([]).await, 403, "InsufficientScope").await;
}

#[tokio::test]
async fn the_area_comes_before_ownership() {
    let context = Context::new().await;
    let theirs = context.offer_of_b(terms()).await;
    context.payments_only().await.accept(theirs).await.is_error(403, Some("InsufficientScope"));
}
