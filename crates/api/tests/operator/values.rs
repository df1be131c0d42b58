//! Values of the operator's bodies (contract 2.12), and that what a store has been given before stays readable.

use crate::context::{Context, holds_no_bank_detail, id, moment, offer, terms};
use lendpay_domain::command::{PutOffer, PutPartner, Stamp};
use lendpay_domain::decimal::Rate;
use lendpay_domain::event::Actor;
use lendpay_domain::offer::{Details, FundingType, OfferType, Terms};
use lendpay_domain::operator::Role;
use lendpay_domain::store::Commands as _;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, OfferId, OperationId, PartnerId};
use serde_json::{Value, json};

/// Texts that were taken before, and are refused now.
const REFUSED: [&str; 3] = ["\u{200b}", "a\u{202e}b", "a\u{2066}b"];

#[tokio::test]
async fn texts_have_a_visible_character_and_no_control_or_bidirectional_ones() {
    let context = Context::new().await;
    context.partner(1).await;
    let partner = format!("/operator/partners/{}", id(1));
    for text in REFUSED {
        let mut bad_terms = terms();
        bad_terms["details"] = text.into();
        for (method, path, body, field) in [
            ("PUT", partner.clone(), json!({ "name": text }), "name"),
            ("PUT", partner.clone(), json!({ "name": "x", "oauthClientId": text }), "oauthClientId"),
            ("POST", format!("{partner}/keys"), json!({ "name": text, "areas": ["lending"] }), "name"),
            ("PUT", offer(1, 1), bad_terms, "details"),
        ] {
            let errors = context.call(method, &path, &body).await.is_error(400, "InvalidData")["errors"].clone();
            let errors: Vec<String> = serde_json::from_value(errors).expect("a list");
            assert!(errors.len() == 1 && errors[0].starts_with(&format!("{field}: must ")), "{text:?} {errors:?}");
        }
    }
    for details in ["", " ", "a\nb"] {
        let mut bad = terms();
        bad["details"] = details.into();
        context.call("PUT", &offer(1, 1), &bad).await.is_error(400, "InvalidData");
    }
}

#[tokio::test]
async fn an_annual_rate_is_a_fraction_below_10() {
    let context = Context::new().await;
    context.partner(1).await;
    for (field, rate) in [("annualPercentageRate", 10.0), ("annualPercentageRate", 12.5), ("interestRate", 999.0)] {
        let mut bad = terms();
        bad[field] = rate.into();
        let body = context.call("PUT", &offer(1, 1), &bad).await.is_error(400, "InvalidData");
        assert_eq!(body["errors"], json!([format!("{field}: must be a fraction below 10: 0.09 is nine percent")]));
    }
    let mut high = terms();
    high["annualPercentageRate"] = 9.99.into();
    context.call("PUT", &offer(1, 1), &high).await.is(201);
}

#[tokio::test]
async fn a_key_that_has_expired_already_is_not_made() {
    let context = Context::new().await;
    context.partner(1).await;
    let path = format!("/operator/partners/{}/keys", id(1));
    let body = |expiry: &str| json!({ "name": "x", "areas": ["lending"], "expiresAt": expiry });
    for past in ["2020-01-01T00:00:00Z", "2023-11-14T22:13:20.123456Z"] {
        let error = context.call("POST", &path, &body(past)).await.is_error(400, "InvalidData");
        assert_eq!(error["errors"], json!(["expiresAt: must be in the future"]));
    }
    context.call("POST", &path, &body("2023-11-14T22:13:20.123457Z")).await.is(201);
}

#[tokio::test]
async fn what_was_stored_before_the_rules_stays_readable() {
    let context = Context::new().await;
    let operation = OperationId::from_bytes([1; 16]);
    let uuid = |n: u128| uuid::Uuid::parse_str(&id(n)).expect("a UUID");
    let mut n = 0;
    for (text, rate) in REFUSED.into_iter().zip([10_i64, 12, 1_000]) {
        n += 1;
        let stamp = || Stamp { at: moment(0), event: lendpay_api::event_id(), actor: Actor::Operator, operation };
        let partner = PutPartner {
            id: PartnerId::new(uuid(n)),
            name: Name::parse(text).expect("a name"),
            oauth_client_id: None,
            stamp: stamp(),
        };
        context.store.run(partner).await.expect("the store works");
        context.call("PUT", &crate::context::application(n), &json!({ "partnerId": id(n) })).await.is(201);
        let rate = Rate::new(rate.into()).expect("a rate");
        let terms = Terms {
            details: Details::parse(&format!("{text}\n")).expect("details"),
            funding_type: FundingType::TermLoan,
            offer_type: OfferType::Indicative,
            annual_percentage_rate: rate,
            interest_rate: Some(rate),
            expiry_at: None,
            redirect_url: None,
            amount: None,
            duration: None,
        };
        let (application, offer_id) = (ApplicationId::new(uuid(n)), OfferId::new(uuid(n)));
        let put = PutOffer { application, offer: offer_id, terms, stamp: stamp() };
        context.store.run(put).await.expect("the store works");
        let read = context.get(&offer(n, n)).await.is(200);
        assert_eq!((&read["details"], &read["annualPercentageRate"]), (&json!(format!("{text}\n")), &json!(rate.to_f64())));
        let items = context.get(&format!("{}/offers", crate::context::application(n))).await.is(200)["items"].clone();
        assert_eq!(items, json!([read]));
        let path = format!("{}/archive", offer(n, n));
        assert_eq!(context.call("POST", &path, &Value::Null).await.is(200)["interestRate"], rate.to_f64());
    }
    let export = context.get("/operator/export").await;
    assert_eq!(export.status, 200);
    lendpay_api::transfer::check(&export.bytes[..]).expect("an export that can be read");
}

#[tokio::test]
async fn a_read_in_full_answers_the_buyer_and_is_an_event_that_partners_do_not_see() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let headers = [("x-service-apikey", key.as_str())];
    let body = json!({ "name": "x", "bankAccount": { "iban": "GB33BUKB20201555555555" } });
    let made = context.as_partner("POST", "/payments/buyers", &headers, &body.to_string()).await.is(201);
    let path = format!("/operator/buyers/{}", made["id"].as_str().expect("an id"));
    let buyer = context.get(&path).await.is(200);
    let read = format!("{path}/read");
    assert_eq!(context.call_as(Role::Read, "POST", &read, &Value::Null).await.is(200), buyer);
    let unknown = format!("/operator/buyers/{}/read", id(9));
    context.call("POST", &unknown, &Value::Null).await.is_error(404, "BuyerNotFound");
    let events = context.get("/operator/events?type=buyer.created,buyer.read_in_full").await.is(200);
    let told: Vec<_> = events["items"].as_array().expect("a list").iter().map(|e| json!([e["type"], e["buyerId"]])).collect();
    assert_eq!(told, [json!(["buyer.created", made["id"]]), json!(["buyer.read_in_full", made["id"]])]);
    assert_eq!(events["items"][1]["actor"], "operator:read");
    holds_no_bank_detail(&events);
    let own = context.as_partner("GET", "/events", &headers, "").await.is(200);
    assert!(!own.to_string().contains("read_in_full"), "{own}");
}
