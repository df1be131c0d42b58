//! Contract 1.1, 2.2: who may call, and for what.

use crate::context::samples::{buyer, start, terms};
use crate::context::{Answer, BUYERS, Client, Context, Placed};
use lendpay_domain::key::Area;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// What a client is told by both operations.
async fn both(client: &Client, placed: Placed) -> [Answer; 2] {
    [client.accept(placed).await, client.create(&buyer()).await]
}

/// Both operations answer 401, each in the shape of its area, and say how to authenticate.
async fn is_unknown(client: &Client, placed: Placed) {
    let [accept, create] = both(client, placed).await;
    accept.is_error(401, Some("InvalidApiKey"));
    create.is_error(401, None);
    for answer in [accept, create] {
        assert_eq!(answer.header("www-authenticate"), Some("ApiKey realm=\"lendpay\""));
    }
}

#[tokio::test]
async fn a_key_in_x_service_api_key_suffices() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let [accept, create] = both(&context.partner_a(), placed).await;
    assert_eq!((accept.status, create.status), (200, 201));
}

#[tokio::test]
async fn neither_key_nor_token_is_401_and_both_ways_are_named() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let [accept, create] = both(&context.anonymous(), placed).await;
    accept.is_error(401, Some("InvalidApiKey"));
    create.is_error(401, None);
    for answer in [accept, create] {
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge, Some("ApiKey realm=\"lendpay\", Bearer realm=\"lendpay\""));
        let message = answer.json()["message"].to_string();
        assert!(message.contains("X-Service-ApiKey") && message.contains("Authorization: Bearer"), "{message}");
    }
    assert_eq!(context.event_types().await, ["offer.created"]);
}

#[tokio::test]
async fn a_key_that_is_not_exactly_a_key_is_401() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let key = &context.a().key;
    let (prefix, bits) = key.split_at(key.len() - 64);
    let last = if key.ends_with('0') { '1' } else { '0' };
    let wrong = [
        String::new(),
        "x".to_owned(),
        "null".to_owned(),
        bits.to_owned(),
        prefix.to_owned(),
        format!("{key}0"),
        format!("{}{last}", &key[..key.len() - 1]),
        key.to_uppercase(),
        format!("Bearer {key}"),
        format!("{key}, {key}"),
        "k".repeat(8_000),
        format!("{prefix}{}", "0".repeat(64)),
    ];
    for text in &wrong {
        is_unknown(&context.holder(text), placed).await;
    }
    assert_eq!(context.event_types().await, ["offer.created"]);
}

#[tokio::test]
async fn a_key_of_bytes_that_are_no_text_is_401() {
    let context = Context::new().await;
    let call = context.anonymous().post(BUYERS).raw_header("x-service-apikey", b"\xff\xfe");
    call.send().await.is_error(401, None);
}

#[tokio::test]
async fn two_key_headers_are_401_even_with_the_same_good_key() {
    let context = Context::new().await;
    let (a, b) = (&context.a().key, &context.b().key);
    for (first, second) in [(a, a), (a, b)] {
        let call = context.holder(first).post(BUYERS).header("x-service-apikey", second);
        call.send().await.is_error(401, None);
    }
}

#[tokio::test]
async fn a_key_anywhere_else_is_no_key() {
    let context = Context::new().await;
    let key = &context.a().key;
    let answer = context.anonymous().post(&format!("{BUYERS}?X-Service-ApiKey={key}")).body("{}").send().await;
    answer.is_error(401, None);
    let answer = context.anonymous().post(BUYERS).header("x-api-key", key).body("{}").send().await;
    answer.is_error(401, None);
}

#[tokio::test]
async fn an_expired_key_is_401_from_the_moment_of_its_expiry() {
    let context = Context::new().await;
    let end = start() + HOUR;
    let key = context.a().new_key(context.store(), Area::ALL.into_iter().collect(), Some(end), start()).await;
    let client = context.holder(&key.secret);
    let placed = context.offer(terms()).await;
    context.pass(HOUR - Duration::from_nanos(1));
    assert_eq!(client.create(&buyer()).await.status, 201);
    context.clock().set(end);
    is_unknown(&client, placed).await;
    context.pass(HOUR);
    is_unknown(&client, placed).await;
}

#[tokio::test]
async fn a_revoked_key_is_401_from_the_next_request_on() {
    let context = Context::new().await;
    let key = context.a().new_key(context.store(), Area::ALL.into_iter().collect(), None, start()).await;
    let client = context.holder(&key.secret);
    let placed = context.offer(terms()).await;
    assert_eq!(client.create(&buyer()).await.status, 201);
    context.a().revoke(context.store(), key.id, start()).await;
    is_unknown(&client, placed).await;
    assert_eq!(context.partner_a().accept(placed).await.status, 200, "other keys go on working");
}

#[tokio::test]
async fn a_partner_may_have_several_keys_at_once() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let second = context.partner_a_for(Area::ALL).await;
    let first = context.partner_a().accept(placed).await;
    assert_eq!(second.accept(placed).await.bytes, first.bytes);
}

#[tokio::test]
async fn a_known_key_without_the_area_is_403_insufficient_scope() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let [accept, create] = both(&context.payments_only().await, placed).await;
    accept.is_error(403, Some("InsufficientScope"));
    assert_eq!(create.status, 201);
    let [accept, create] = both(&context.lending_only().await, placed).await;
    assert_eq!(accept.status, 200);
    create.is_error(403, None);
    let [accept, create] = both(&context.partner_a_for([]).await, placed).await;
    accept.is_error(403, Some("InsufficientScope"));
    create.is_error(403, None);
    assert_eq!(context.event_types().await, ["offer.created", "buyer.created", "offer.accepted"]);
}

#[tokio::test]
async fn every_bearer_token_is_401_invalid_token_while_nothing_is_configured() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    for token in ["Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer x", "bearer x", "Bearer "] {
        let accept = context.anonymous().post(&placed.path()).header("authorization", token).send().await;
        accept.is_error(401, Some("InvalidToken"));
        let create = context.anonymous().post(BUYERS).header("authorization", token).body("{}").send().await;
        create.is_error(401, None);
        for answer in [accept, create] {
            let challenge = answer.header("www-authenticate").expect("a challenge");
            assert!(challenge.starts_with("Bearer ") && challenge.contains("error=\"invalid_token\""), "{challenge}");
        }
    }
}

#[tokio::test]
async fn either_form_of_authentication_suffices() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let call = context.partner_a().post(&placed.path()).header("authorization", "Bearer x");
    assert_eq!(call.send().await.status, 200, "a good key beside a token that is not accepted");
}
