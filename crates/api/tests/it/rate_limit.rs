//! Contract 2.6 and 2.11: how often a partner may call.

use crate::context::samples::{buyer, terms};
use crate::context::{Answer, BUYERS, Context};
use lendpay_api::PartnerSettings;
use lendpay_domain::rate::RateLimit;

async fn limited(limit: &str) -> Context {
    let rate_limit: RateLimit = limit.parse().expect("a limit");
    Context::with(PartnerSettings { rate_limit: Some(rate_limit), ..PartnerSettings::default() }).await
}

/// The headers that say what is left.
fn left(answer: &Answer) -> [Option<&str>; 2] {
    ["ratelimit", "ratelimit-policy"].map(|name| answer.header(name))
}

const POLICY: Option<&str> = Some("\"partner\";q=3;w=3600");

#[tokio::test]
async fn a_partner_has_so_many_requests_over_all_its_keys_and_operations() {
    let context = limited("3/3600s").await;
    let placed = context.offer(terms()).await;
    let (all, lending) = (context.partner_a(), context.lending_only().await);

    let first = all.accept(placed).await;
    assert_eq!((first.status, left(&first)), (200, [Some("\"partner\";r=2;t=1200"), POLICY]));
    let second = lending.accept(placed).await;
    assert_eq!((second.status, left(&second)), (200, [Some("\"partner\";r=1;t=2400"), POLICY]));
    let third = all.create(&buyer()).await;
    assert_eq!((third.status, left(&third)), (201, [Some("\"partner\";r=0;t=3600"), POLICY]));

    for (answer, code) in [(all.accept(placed).await, Some("RateLimited")), (all.create(&buyer()).await, None)] {
        answer.is_error(429, code);
        assert_eq!(left(&answer), [Some("\"partner\";r=0;t=3600"), POLICY]);
        let wait: u64 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("whole seconds");
        assert!((1..=1_200).contains(&wait), "until the next request comes back: {wait}");
    }
    let other = context.partner_b().create(&buyer()).await;
    assert_eq!((other.status, left(&other)[1]), (201, POLICY), "what one partner does is nothing to another");
}

#[tokio::test]
async fn every_answer_to_somebody_known_says_what_is_left_whatever_its_status() {
    let context = limited("1000/3600s").await;
    let placed = context.offer(terms()).await;
    let (a, theirs) = (context.partner_a(), context.offer_of_b(terms()).await);
    for (answer, status) in [
        (a.accept(theirs).await, 404),
        (context.payments_only().await.accept(placed).await, 403),
        (a.post(BUYERS).body("{").send().await, 400),
        (a.post(BUYERS).header("content-type", "text/plain").body("x").send().await, 415),
    ] {
        assert_eq!(answer.status, status);
        assert!(left(&answer).iter().all(Option::is_some), "{status}");
    }
    for (answer, status) in [
        (context.holder("wrong").accept(placed).await, 401),
        (context.anonymous().create(&buyer()).await, 401),
        (a.post(BUYERS).body(vec![b'x'; 65_537]).send().await, 413),
        (a.post("/nowhere").send().await, 404),
    ] {
        assert_eq!((answer.status, left(&answer)), (status, [None, None]));
    }
}

#[tokio::test]
async fn the_rate_comes_after_authentication_and_before_the_area() {
    let context = limited("1/3600s").await;
    let placed = context.offer(terms()).await;
    let payments = context.payments_only().await;
    payments.accept(placed).await.is_error(403, Some("InsufficientScope"));
    payments.accept(placed).await.is_error(429, Some("RateLimited"));
    context.holder("wrong").accept(placed).await.is_error(401, Some("InvalidApiKey"));
}

#[tokio::test]
async fn without_a_limit_there_are_no_headers() {
    let context = Context::new().await;
    let answer = context.partner_a().create(&buyer()).await;
    assert_eq!((answer.status, left(&answer)), (201, [None, None]));
}
