//! Contract 1.1, 2.7. That every answer carries `Access-Control-Allow-Origin: *` and the exposed headers is part of the
//! check of every answer of every test.

use crate::context::samples::{buyer, terms};
use crate::context::{Answer, BUYERS, Client, Context, offers_of, path};
use poem::http::Method;

/// Sees to it that this is a preflight's answer, header by header.
#[track_caller]
fn is_preflight(answer: &Answer) {
    assert_eq!(answer.status, 204, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST, OPTIONS"));
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("Authorization, Content-Type, Idempotency-Key, Traceparent, X-Service-ApiKey")
    );
    assert_eq!(answer.header("access-control-max-age"), Some("86400"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(answer.bytes, b"");
}

async fn preflight(client: &Client, path: &str) -> Answer {
    preflight_of("POST", client, path).await
}

async fn preflight_of(method: &str, client: &Client, path: &str) -> Answer {
    let call = client.call(Method::OPTIONS, path).header("origin", "https://shop.example");
    let call = call.header("access-control-request-method", method);
    call.header("access-control-request-headers", "content-type,x-service-apikey,x-other").send().await
}

#[tokio::test]
async fn a_preflight_of_accept_is_204_without_authentication() {
    let context = Context::new().await;
    let offer = context.offer(terms()).await.path();
    for path in [offer, path("x", "y"), path("%FF", "%FF"), path("", "")] {
        is_preflight(&preflight(&context.anonymous(), &path).await);
        is_preflight(&preflight(&context.holder("wrong"), &path).await);
    }
    assert_eq!(context.event_types().await, ["offer.created"]);
}

#[tokio::test]
async fn a_preflight_of_create_is_204_without_authentication() {
    let context = Context::new().await;
    is_preflight(&preflight(&context.anonymous(), BUYERS).await);
    is_preflight(&preflight(&context.partner_a(), BUYERS).await);
}

#[tokio::test]
async fn a_preflight_of_decline_is_that_of_accept() {
    let context = Context::new().await;
    let decline = format!("{}/decline", context.offer(terms()).await.own_path());
    is_preflight(&preflight(&context.anonymous(), &decline).await);
    assert_eq!(context.event_types().await, ["offer.created"]);
}

/// Contract 2.13: `GET` on these paths, `If-None-Match` allowed.
#[tokio::test]
async fn a_preflight_of_a_read_allows_get_and_if_none_match() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let buyer = format!("{BUYERS}/x");
    for path in ["/lending/applications", &offers_of("x"), &placed.own_path(), BUYERS, &buyer, "/events"] {
        for client in [context.anonymous(), context.holder("wrong")] {
            let answer = preflight_of("GET", &client, path).await;
            assert_eq!(answer.status, 204, "{path}");
            assert_eq!(answer.header("access-control-allow-methods"), Some("GET, OPTIONS"), "{path}");
            let names = "Authorization, Content-Type, Idempotency-Key, If-None-Match, Traceparent, X-Service-ApiKey";
            assert_eq!(answer.header("access-control-allow-headers"), Some(names), "{path}");
            assert_eq!(answer.header("access-control-max-age"), Some("86400"));
            assert_eq!(answer.bytes, b"");
        }
    }
    // What a page asks for that the address has not is refused by the browser: it is not in the list.
    let answer = preflight(&context.anonymous(), "/events").await;
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET, OPTIONS"));
}

#[tokio::test]
async fn options_without_an_origin_are_answered_alike() {
    let context = Context::new().await;
    is_preflight(&context.anonymous().call(Method::OPTIONS, BUYERS).send().await);
}

#[tokio::test]
async fn options_of_an_unknown_path_are_404() {
    let context = Context::new().await;
    preflight(&context.anonymous(), "/nowhere").await.is_error(404, None);
    preflight(&context.anonymous(), "/lending/nowhere").await.is_error(404, Some("NotFound"));
}

#[tokio::test]
async fn any_origin_gets_a_star_and_never_its_own_name() {
    let context = Context::new().await;
    for origin in ["https://shop.example", "null", "http://localhost:3000", "x"] {
        for client in [context.anonymous(), context.partner_a()] {
            let answer = client.post(BUYERS).header("origin", origin).json(&buyer()).send().await;
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{origin}");
            assert_eq!(answer.header("access-control-allow-credentials"), None);
        }
    }
}
