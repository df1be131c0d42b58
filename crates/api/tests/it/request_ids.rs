//! Contract 2.6: the operationId. That it is in `X-Request-Id` of every answer and equal in every error is part of the
//! check of every answer of every test.

use crate::context::samples::{buyer, terms};
use crate::context::{BUYERS, Context};
use poem::http::Method;
use std::collections::HashSet;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A traceparent with this trace id.
fn traceparent(trace: &str) -> String {
    format!("00-{trace}-00f067aa0ba902b7-01")
}

#[tokio::test]
async fn the_trace_id_of_a_valid_traceparent_is_the_request_id_of_every_kind_of_answer() {
    let context = Context::new().await;
    let offer = context.offer(terms()).await.path();
    let (a, nobody) = (context.partner_a(), context.anonymous());
    for call in [
        a.post(&offer),
        a.post(BUYERS).json(&buyer()),
        nobody.post(BUYERS),
        a.post(BUYERS).body(vec![b' '; 65_537]),
        nobody.get("/nowhere"),
        nobody.get("/lending/nowhere"),
        nobody.get(BUYERS),
        nobody.call(Method::OPTIONS, BUYERS),
        nobody.get("/docs"),
    ] {
        assert_eq!(call.header("traceparent", &traceparent(TRACE)).send().await.operation(), TRACE);
    }
    let operations: Vec<_> = context.events().await.iter().skip(1).map(|e| e.operation.to_string()).collect();
    assert_eq!(operations, [TRACE, TRACE], "the events of the accept and the creation name it too");
}

#[tokio::test]
async fn without_a_valid_traceparent_the_id_is_fresh() {
    let context = Context::new().await;
    let mut ids = HashSet::new();
    for value in [
        "",
        "x",
        &traceparent("00000000000000000000000000000000"),
        &traceparent(&TRACE.to_uppercase()),
        &traceparent(&TRACE[1..]),
        &format!("ff-{TRACE}-00f067aa0ba902b7-01"),
        &format!("00-{TRACE}-0000000000000000-01"),
        &format!("00-{TRACE}-00f067aa0ba902b7-01-x"),
    ] {
        let answer = context.anonymous().post(BUYERS).header("traceparent", value).send().await;
        assert_ne!(answer.operation(), TRACE, "{value:?}");
        assert_ne!(answer.operation(), "0".repeat(32), "{value:?}");
        assert!(ids.insert(answer.operation().to_owned()), "{value:?}");
    }
    for _ in 0..8 {
        assert!(ids.insert(context.anonymous().post(BUYERS).send().await.operation().to_owned()));
    }
}

#[tokio::test]
async fn two_traceparents_are_none() {
    let context = Context::new().await;
    let call = context.anonymous().post(BUYERS).header("traceparent", &traceparent(TRACE));
    let answer = call.header("traceparent", &traceparent(TRACE)).send().await;
    assert_ne!(answer.operation(), TRACE);
}

#[tokio::test]
async fn an_x_request_id_of_the_client_is_not_taken() {
    let context = Context::new().await;
    let answer = context.anonymous().post(BUYERS).header("x-request-id", TRACE).send().await;
    assert_ne!(answer.operation(), TRACE);
}
