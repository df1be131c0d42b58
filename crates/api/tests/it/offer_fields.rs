//! Contract 1.2, Must hold 3: every field of an offer, as it went in.

use crate::context::samples::{amount, at, rate, start, terms};
use crate::context::{Context, Placed};
use lendpay_domain::OfferId;
use lendpay_domain::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Terms};
use serde_json::{Value, json};
use std::time::Duration as Time;

/// The sample of contract 1.2, its times written as 2.12 says.
const SAMPLE: &str = r#"{"expiryAt":"2022-06-03T12:15:44.050334200Z","status":"Offered","details":"Representative Rate",
 "fundingType":"TermLoan","offerType":"Indicative","annualPercentageRate":0.0905,"interestRate":0.03,
 "redirectUrl":"https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce",
 "id":"3e7b118e-bb4c-4e4b-981d-a62526cbbdce","amount":null,"duration":null,
 "statusChangedAt":"2022-05-27T12:15:44.050386800Z"}"#;

/// Every field, in any order.
const FIELDS: [&str; 12] = [
    "amount",
    "annualPercentageRate",
    "details",
    "duration",
    "expiryAt",
    "fundingType",
    "id",
    "interestRate",
    "offerType",
    "redirectUrl",
    "status",
    "statusChangedAt",
];

/// What an offer with these terms looks like once it is accepted.
async fn accepted(terms: Terms) -> Value {
    let context = Context::new().await;
    let placed = context.offer(terms).await;
    context.partner_a().accept(placed).await.json()
}

/// Puts the sample in at the moment that it names, and answers the accept that comes `later`.
async fn sample_accepted(later: Time) -> Value {
    let sample: Value = serde_json::from_str(SAMPLE).expect("the sample is JSON");
    let text = |field: &str| sample[field].as_str().expect("text");
    let number = |field: &str| sample[field].as_f64().expect("a number");
    let context = Context::new().await;
    context.clock().set(at(text("statusChangedAt")));
    let offer = OfferId::parse(text("id")).expect("a UUID");
    let terms = Terms {
        details: Details::parse(text("details")).expect("short"),
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Indicative,
        annual_percentage_rate: rate(number("annualPercentageRate")),
        interest_rate: Some(rate(number("interestRate"))),
        expiry_at: Some(at(text("expiryAt"))),
        redirect_url: Some(RedirectUrl::parse(text("redirectUrl")).expect("a URL")),
        amount: None,
        duration: None,
    };
    let placed = context.put_offer(Placed { application: context.a().application, offer }, terms).await;
    context.pass(later);
    context.partner_a().accept(placed).await.json()
}

#[tokio::test]
async fn the_sample_goes_in_and_comes_out_with_only_status_and_status_changed_at_different() {
    let mut wanted: Value = serde_json::from_str(SAMPLE).expect("the sample is JSON");
    wanted["status"] = "CustomerAccepted".into();
    // At the same moment even the time is the same, to its seventh digit.
    assert_eq!(sample_accepted(Time::ZERO).await, wanted);
    wanted["statusChangedAt"] = "2022-05-27T13:15:44.050386800Z".into();
    assert_eq!(sample_accepted(Time::from_secs(3_600)).await, wanted);
}

#[tokio::test]
async fn nullable_fields_are_present_with_null_when_they_have_no_value() {
    let body = accepted(Terms {
        interest_rate: None,
        expiry_at: None,
        redirect_url: None,
        amount: None,
        duration: None,
        ..terms()
    })
    .await;
    let mut fields: Vec<_> = body.as_object().expect("an object").keys().collect();
    fields.sort();
    assert_eq!(fields, FIELDS);
    for field in ["interestRate", "expiryAt", "redirectUrl", "amount", "duration"] {
        assert_eq!(body[field], Value::Null, "{field}");
    }
}

#[tokio::test]
async fn every_field_comes_out_as_it_went_in() {
    let body = accepted(Terms {
        details: Details::parse("Ставка «9 %» – \"quoted\" \u{1f3e6}\n<b>").expect("short"),
        redirect_url: Some(RedirectUrl::parse("https://onboarding.example/a?b=%C3%A4&c=~").expect("a URL")),
        expiry_at: Some(at("2026-03-02T14:00:00+02:00")),
        ..terms()
    })
    .await;
    let wanted = json!({
        "id": body["id"],
        "status": "CustomerAccepted",
        "details": "Ставка «9 %» – \"quoted\" \u{1f3e6}\n<b>",
        "fundingType": "TermLoan",
        "offerType": "Underwritten",
        "annualPercentageRate": 0.0905,
        "interestRate": 0.085,
        "expiryAt": "2026-03-02T12:00:00Z",
        "redirectUrl": "https://onboarding.example/a?b=%C3%A4&c=~",
        "amount": 25_000.55,
        "duration": "TwoYears",
        "statusChangedAt": "2026-03-01T12:00:00.123456Z",
    });
    assert_eq!(body, wanted);
}

#[tokio::test]
async fn numbers_come_out_digit_by_digit() {
    let context = Context::new().await;
    for (apr, interest, sum, written) in [
        (
            0.0905,
            0.03,
            25_000.55,
            [r#""annualPercentageRate":0.0905"#, r#""interestRate":0.03"#, r#""amount":25000.55"#],
        ),
        (0.1, 0.07, 0.01, [r#""annualPercentageRate":0.1"#, r#""interestRate":0.07"#, r#""amount":0.01"#]),
        (0.0, 0.299, 1e6, [r#""annualPercentageRate":0.0"#, r#""interestRate":0.299"#, r#""amount":1000000.0"#]),
        (
            4.0625,
            0.123_456_789,
            123_456_789_012.34,
            [r#""annualPercentageRate":4.0625"#, r#""interestRate":0.123456789"#, r#""amount":123456789012.34"#],
        ),
    ] {
        let placed = context
            .offer(Terms {
                annual_percentage_rate: rate(apr),
                interest_rate: Some(rate(interest)),
                amount: Some(amount(sum)),
                ..terms()
            })
            .await;
        let answer = context.partner_a().accept(placed).await;
        for field in written {
            let ended = [",", "}"].iter().any(|end| answer.text().contains(&format!("{field}{end}")));
            assert!(ended, "{field} in {}", answer.text());
        }
    }
}

#[tokio::test]
async fn times_are_utc_with_z_and_0_3_6_or_9_digits() {
    let context = Context::new().await;
    for (given, written) in [
        ("2026-06-03T12:15:44.0503342Z", "2026-06-03T12:15:44.050334200Z"),
        ("2026-06-03T12:15:44.050334217Z", "2026-06-03T12:15:44.050334217Z"),
        ("2026-06-03T14:15:44.5+02:00", "2026-06-03T12:15:44.500Z"),
        ("2026-06-03T12:15:44.67567Z", "2026-06-03T12:15:44.675670Z"),
        ("2026-06-03T12:15:44Z", "2026-06-03T12:15:44Z"),
    ] {
        let placed = context.offer(Terms { expiry_at: Some(at(given)), ..terms() }).await;
        assert_eq!(context.partner_a().accept(placed).await.json()["expiryAt"], written);
    }
    assert!(at("2026-06-03T12:15:44Z") > start());
}

#[tokio::test]
async fn every_duration_has_its_name() {
    let names = ["HalfYear", "Year", "TwoYears", "ThreeYears", "FourYears", "FiveYears", "SixYears"];
    let context = Context::new().await;
    let mut seen = Vec::new();
    for duration in Duration::ALL {
        let placed = context.offer(Terms { duration: Some(*duration), ..terms() }).await;
        seen.push(context.partner_a().accept(placed).await.json()["duration"].clone());
    }
    assert_eq!(seen, names);
}

#[tokio::test]
async fn every_offer_type_and_funding_type_has_its_name() {
    let context = Context::new().await;
    let mut seen = Vec::new();
    for funding_type in FundingType::ALL {
        for offer_type in OfferType::ALL {
            let placed = context.offer(Terms { funding_type: *funding_type, offer_type: *offer_type, ..terms() }).await;
            let body = context.partner_a().accept(placed).await.json();
            seen.push((body["fundingType"].clone(), body["offerType"].clone()));
        }
    }
    assert_eq!(seen, [(json!("TermLoan"), json!("Indicative")), (json!("TermLoan"), json!("Underwritten"))]);
}
