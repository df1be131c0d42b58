//! Contract 2.1: the accept body is ignored, whatever it is, up to the size limit.

use crate::context::Context;
use crate::context::samples::terms;
use futures_util::stream;

/// The most that a body may have.
const LIMIT: usize = 65_536;

#[tokio::test]
async fn the_accept_body_is_ignored_whatever_it_is_and_whatever_it_is_called() {
    let bodies: [&[u8]; 11] = [
        b"",
        b"{}",
        b"null",
        b"[]",
        b"[1,{\"a\":[]}]",
        b"\"text\"",
        b"{\"status\":\"Archived\",\"amount\":1}",
        b"not JSON",
        b"{\"a\":",
        b"\xff\xfe\0",
        b"<accept/>",
    ];
    let types: [Option<&[u8]>; 6] = [
        None,
        Some(b"application/json"),
        Some(b"application/json; charset=utf-16"),
        Some(b"text/plain"),
        Some(b""),
        Some(b"\xff"),
    ];
    let context = Context::new().await;
    for body in bodies {
        for content_type in types {
            let placed = context.offer(terms()).await;
            let mut call = context.partner_a().post(&placed.path()).body(body);
            if let Some(content_type) = content_type {
                call = call.raw_header("content-type", content_type);
            }
            let answer = call.send().await;
            assert_eq!(answer.status, 200, "{body:?} {content_type:?}");
            assert_eq!(answer.json()["status"], "CustomerAccepted", "{body:?} {content_type:?}");
            assert_eq!(answer.json()["amount"], 25_000.55, "{body:?} {content_type:?}");
        }
    }
}

#[tokio::test]
async fn the_accept_body_may_have_65536_bytes() {
    let context = Context::new().await;
    let with_length = context.offer(terms()).await;
    let answer = context.partner_a().post(&with_length.path()).body(vec![b'x'; LIMIT]).send().await;
    assert_eq!(answer.status, 200);
    let without = context.offer(terms()).await;
    let chunks = stream::iter([Ok(vec![b'x'; LIMIT - 1]), Ok(vec![b'x'])]);
    assert_eq!(context.partner_a().post(&without.path()).stream(chunks).send().await.status, 200);
}

#[tokio::test]
async fn an_accept_body_of_65537_bytes_is_413_and_accepts_nothing() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let call = || context.partner_a().post(&placed.path());
    call().body(vec![b'x'; LIMIT + 1]).send().await.is_error(413, Some("RequestTooLarge"));
    let chunks = stream::iter([Ok(vec![b'x'; LIMIT]), Ok(vec![b'x'])]);
    call().stream(chunks).send().await.is_error(413, Some("RequestTooLarge"));
    assert_eq!(context.event_types().await, ["offer.created"]);
}
