//! Contract 1.4, 2.6: what errors look like, beyond what the check of every answer sees.

use crate::context::samples::{buyer, start, terms};
use crate::context::{Answer, BUYERS, Context, Fault, PANIC, Step, path};
use lendpay_domain::StoreError;
use serde_json::Value;
use std::time::Duration;

/// An error of each area.
async fn one_of_each(context: &Context) -> [Answer; 2] {
    let client = context.anonymous();
    [client.post(&path("x", "y")).send().await, client.create(&buyer()).await]
}

#[tokio::test]
async fn an_error_has_title_message_errors_date_and_operation_id_of_their_types() {
    let context = Context::new().await;
    for answer in one_of_each(&context).await {
        let body = answer.json();
        assert!(body["title"].is_string() && body["message"].is_string(), "{body}");
        assert!(body["date"].is_string() && body["operationId"].is_string(), "{body}");
        assert!(body["errors"].as_array().is_some_and(|errors| errors.iter().all(Value::is_string)), "{body}");
    }
}

#[tokio::test]
async fn error_code_is_in_lending_errors_only() {
    let context = Context::new().await;
    let [lending, payments] = one_of_each(&context).await;
    assert_eq!(lending.json()["errorCode"], "InvalidApiKey");
    assert!(!payments.json().as_object().expect("an object").contains_key("errorCode"));
}

#[tokio::test]
async fn date_is_the_time_of_the_error() {
    let context = Context::new().await;
    for (moment, written) in [
        (start(), "2026-03-01T12:00:00.123456Z"),
        (start() + Duration::from_secs(86_400), "2026-03-02T12:00:00.123456Z"),
    ] {
        context.clock().set(moment);
        for answer in one_of_each(&context).await {
            assert_eq!(answer.json()["date"], written);
        }
    }
}

#[tokio::test]
async fn errors_are_json_whatever_the_client_prefers() {
    let context = Context::new().await;
    for accept in ["text/html", "text/plain;q=1, application/json;q=0", "application/problem+json", "*/*", "?"] {
        let call = context.anonymous().post(BUYERS).header("accept", accept);
        let answer = call.send().await;
        answer.is_error(401, None);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{accept}");
    }
}

#[tokio::test]
async fn a_panic_is_500_in_the_shape_of_the_area_and_says_nothing_of_it() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    for step in Step::OF_CHANGES {
        context.store().rig(Some((step, Fault::Panic)));
        let accepted = context.partner_a().accept(placed).await;
        let created = context.partner_a().create(&buyer()).await;
        for (answer, code) in [(accepted, Some("InternalError")), (created, None)] {
            answer.is_error(500, code);
            assert!(!answer.text().contains(PANIC) && !answer.text().contains("secret"), "{answer:?}");
        }
    }
    context.store().rig(None);
    assert_eq!(context.partner_a().accept(placed).await.status, 200, "the next request is fine");
}

#[tokio::test]
async fn an_operation_id_can_be_quoted_to_support_also_after_a_panic() {
    let context = Context::new().await;
    context.store().rig(Some((Step::Command, Fault::Panic)));
    let answer = context.partner_a().create(&buyer()).await;
    assert_eq!(answer.json()["operationId"], answer.operation());
}

#[tokio::test]
async fn every_refusal_of_credentials_says_how_to_authenticate_and_no_other_error_does() {
    let context = Context::new().await;
    for answer in one_of_each(&context).await {
        assert!(answer.header("www-authenticate").is_some(), "{answer:?}");
    }
    for answer in [
        context.partner_a().post(&path("x", "y")).send().await,
        context.lending_only().await.create(&buyer()).await,
        context.anonymous().get("/nowhere").send().await,
    ] {
        assert_eq!(answer.header("www-authenticate"), None, "{answer:?}");
    }
}

#[tokio::test]
async fn a_damaged_record_is_500_without_retry_after() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    for step in Step::OF_CHANGES {
        context.store().rig(Some((step, Fault::Error(StoreError::Corrupt))));
        let answer = context.partner_a().accept(placed).await;
        answer.is_error(500, Some("InternalError"));
        assert_eq!(answer.header("retry-after"), None);
        let answer = context.partner_a().create(&buyer()).await;
        answer.is_error(500, None);
        assert_eq!(answer.header("retry-after"), None);
    }
}
