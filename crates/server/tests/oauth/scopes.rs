//! What a token may be used for, and what holds when a key is there as well.

use crate::fake_issuer::FakeIssuer;
use crate::party::{BUYERS, Service};
use crate::process::Reply;
use crate::signer::{Signer, claims, claims_with};
use serde_json::{Value, json};

fn service() -> (Service, Signer, FakeIssuer) {
    let signer = Signer::eddsa("a");
    let issuer = FakeIssuer::start(vec![signer.public()]);
    let mut service = Service::with_issuer(&["northwind", "contoso"], &issuer.url, &[]);
    service.wait_for_keys();
    (service, signer, issuer)
}

fn refused_for_want_of(reply: &Reply, scope: &str, code: Option<&str>) {
    assert_eq!(reply.status, 403, "{}", reply.body);
    assert_eq!(reply.body.get("errorCode").and_then(Value::as_str), code);
    assert_eq!(reply.body["errors"], json!([format!("The token needs the scope {scope}.")]));
    let challenge = format!("Bearer realm=\"lendpay\", error=\"insufficient_scope\", scope=\"{scope}\"");
    assert_eq!(reply.headers["www-authenticate"], challenge);
}

#[test]
fn each_operation_needs_its_scope() {
    let (service, signer, issuer) = service();
    let (lending, payments) = ("lending.offers.accept", "payments.buyers.create");
    for (scopes, may_accept, may_create) in [
        (json!(format!("{lending} {payments}")), true, true),
        (json!(format!("openid {lending}")), true, false),
        (json!(payments), false, true),
        (json!(""), false, false),
        (json!("lending.offers.accepted payments payments.buyers.creat"), false, false),
        (Value::Null, false, false),
    ] {
        let token = signer.token(&claims_with(&issuer.url, "scope", scopes.clone()));
        let (accept, create) = (service.post_with(&service.offers[0], &token), service.post_with(BUYERS, &token));
        match may_accept {
            true => assert_eq!(accept.status, 200, "{scopes}"),
            false => refused_for_want_of(&accept, lending, Some("InsufficientScope")),
        }
        match may_create {
            true => assert_eq!(create.status, 201, "{scopes}"),
            false => refused_for_want_of(&create, payments, None),
        }
    }
}

#[test]
fn a_token_reaches_only_its_own_partners_offers() {
    let (service, signer, issuer) = service();
    let token = signer.token(&claims_with(&issuer.url, "client_id", json!("contoso")));
    assert_eq!(service.post_with(&service.offers[1], &token).status, 200);
    let reply = service.post_with(&service.offers[0], &token);
    assert_eq!((reply.status, &reply.body["errorCode"]), (404, &json!("OfferNotFound")));
}

#[test]
fn the_key_decides_when_both_are_there_and_neither_gets_told_both_ways() {
    let (service, signer, issuer) = service();
    let good = format!("Bearer {}", signer.token(&claims(&issuer.url)));
    let both = |key: &str, token: &str| {
        let headers = [("x-service-apikey", key), ("authorization", token)];
        (service.post(&service.offers[0], &headers), service.post(BUYERS, &headers))
    };
    let (accept, create) = both(&service.key, "Bearer x");
    assert_eq!((accept.status, create.status), (200, 201));
    let (accept, create) = both("lendpay_0", &good);
    assert_eq!((accept.status, create.status), (401, 401));
    assert_eq!(accept.body["errorCode"], "InvalidApiKey");
    assert_eq!(accept.headers["www-authenticate"], "ApiKey realm=\"lendpay\"");

    for reply in [service.post(&service.offers[0], &[]), service.post(BUYERS, &[])] {
        assert_eq!(reply.status, 401);
        assert_eq!(reply.headers["www-authenticate"], "ApiKey realm=\"lendpay\", Bearer realm=\"lendpay\"");
        let message = reply.body["message"].as_str().expect("text");
        assert!(message.contains("X-Service-ApiKey") && message.contains("Authorization: Bearer"), "{message}");
    }
}
