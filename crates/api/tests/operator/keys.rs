//! Keys: shown once, several at once, listed with their last use, revoked at once, expired in time.

use crate::context::{Answer, Context, id, offer, terms};
use lendpay_domain::operator::Role;
use lendpay_domain::store::Commands as _;
use serde_json::{Value, json};

fn keys(n: u128) -> String {
    format!("/operator/partners/{}/keys", id(n))
}

async fn create_buyer(context: &Context, key: &str) -> Answer {
    context.as_partner("POST", "/payments/buyers", &[("x-service-apikey", key)], "{}").await
}

#[tokio::test]
async fn a_key_works_from_its_answer_on_until_it_is_revoked() {
    let context = Context::new().await;
    let first = context.partner(1).await;
    let made = context.call("POST", &keys(1), &json!({ "name": "second", "areas": ["payments"] })).await.is(201);
    let second = made["key"].as_str().expect("a key");
    assert!(second.starts_with("lendpay_") && second.len() == 72 && second != first);
    assert_eq!(made["areas"], json!(["payments"]));
    for key in [&first, second] {
        assert_eq!(create_buyer(&context, key).await.status, 201, "several keys at once");
    }
    let accept = format!("/lending/applications/{}/offers/{}/accept", id(1), id(1));
    let answer = context.as_partner("POST", &accept, &[("x-service-apikey", second)], "").await;
    assert_eq!(answer.status, 403, "not its area");

    let path = format!("{}/{}", keys(1), made["keyId"].as_str().expect("an id"));
    let revoked = context.call("DELETE", &path, &Value::Null).await;
    assert_eq!((revoked.status, revoked.bytes.len()), (204, 0));
    assert_eq!(create_buyer(&context, second).await.status, 401, "from the next request on");
    assert_eq!(create_buyer(&context, &first).await.status, 201);
    assert_eq!(context.call("DELETE", &path, &Value::Null).await.status, 204, "safe to repeat");
}

#[tokio::test]
async fn a_key_ends_at_its_expiry() {
    let context = Context::new().await;
    context.partner(1).await;
    let body = json!({ "name": "short", "areas": ["payments"], "expiresAt": "2023-11-14T22:13:30.123456Z" });
    let made = context.call("POST", &keys(1), &body).await.is(201);
    assert_eq!(made["expiresAt"], "2023-11-14T22:13:30.123456Z");
    let key = made["key"].as_str().expect("a key");
    context.set_time(9);
    assert_eq!(create_buyer(&context, key).await.status, 201);
    context.set_time(10);
    assert_eq!(create_buyer(&context, key).await.status, 401);
}

/// A partner has until then to take another key.
#[tokio::test]
async fn a_key_can_be_made_to_expire_and_never_later_than_was_said() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let list = async || context.get(&keys(1)).await.is(200)["items"][0].clone();
    let path = format!("{}/{}", keys(1), list().await["keyId"].as_str().expect("an id"));
    let expiry = format!("{path}/expiry");
    let at = |seconds: i64| json!({ "expiresAt": crate::context::moment(seconds).to_rfc3339() });
    for bad in [at(0), at(-5), json!({}), json!({ "expiresAt": null }), json!({ "expiresAt": "tomorrow" })] {
        context.call("PUT", &expiry, &bad).await.is_error(400, "InvalidData");
    }
    for moment in [100, 100, 10] {
        assert_eq!(context.call("PUT", &expiry, &at(moment)).await.is(204), Value::Null);
    }
    context.call("PUT", &expiry, &at(11)).await.is_error(409, "KeyEndsEarlier");
    let shown = list().await;
    assert_eq!((&shown["expiresAt"], &shown["revokedAt"]), (&json!("2023-11-14T22:13:30.123456Z"), &Value::Null));
    context.set_time(9);
    assert_eq!(create_buyer(&context, &key).await.status, 201);
    context.set_time(10);
    assert_eq!(create_buyer(&context, &key).await.status, 401);
    context.call("PUT", &expiry, &at(20)).await.is_error(409, "KeyEndsEarlier");
    // A revocation holds at once, and no expiry comes after it.
    let made = context.call("POST", &keys(1), &json!({ "name": "x", "areas": ["payments"] })).await.is(201);
    let path = format!("{}/{}", keys(1), made["keyId"].as_str().expect("an id"));
    context.call("DELETE", &path, &Value::Null).await.is(204);
    context.call("PUT", &format!("{path}/expiry"), &at(20)).await.is_error(409, "KeyEndsEarlier");
    for unknown in [id(9), "x".to_owned()] {
        let path = format!("{}/{unknown}/expiry", keys(1));
        context.call("PUT", &path, &at(20)).await.is_error(404, "KeyNotFound");
    }
}

#[tokio::test]
async fn a_key_may_be_narrowed_to_reading() {
    let context = Context::new().await;
    context.partner(1).await;
    let make = |access: Value| json!({ "name": "x", "areas": ["payments"], "access": access });
    let made = context.call("POST", &keys(1), &make(json!("read"))).await.is(201);
    let narrowed = made["key"].as_str().expect("a key");
    let read = context.as_partner("GET", "/payments/buyers", &[("x-service-apikey", narrowed)], "").await;
    assert_eq!((&made["access"], read.status), (&json!("read"), 200));
    assert_eq!(create_buyer(&context, narrowed).await.status, 403);
    let full = context.call("POST", &keys(1), &make(json!("full"))).await.is(201);
    assert_eq!(create_buyer(&context, full["key"].as_str().expect("a key")).await.status, 201);
    let list = context.get(&keys(1)).await.is(200);
    for key in list["items"].as_array().expect("a list") {
        let wanted = if key["keyId"] == made["keyId"] { "read" } else { "full" };
        assert_eq!(key["access"], wanted, "full, too, when nothing is said");
    }
    for bad in [Value::Null, json!("write"), json!(""), json!(["read"]), json!(true)] {
        let refused = context.call("POST", &keys(1), &make(bad)).await.is_error(400, "InvalidData");
        assert_eq!(refused["errors"], json!(["access: must be one of full, read"]));
    }
}

#[tokio::test]
async fn a_list_shows_everything_but_the_keys() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    context.set_time(1);
    let other = context.call("POST", &keys(1), &json!({ "name": "other", "areas": ["lending"] })).await.is(201);
    context.set_time(100);
    create_buyer(&context, &key).await;
    context.store.check().await.expect("works");
    let answer = context.get(&keys(1)).await;
    let list = answer.is(200);
    assert!(!answer.text().contains("lendpay_") && list["next"].is_null());
    let items = list["items"].as_array().expect("a list");
    assert_eq!(items.len(), 2);
    let names: Vec<_> = items[0].as_object().expect("a key").keys().collect();
    assert_eq!(names, ["keyId", "name", "areas", "access", "createdAt", "expiresAt", "revokedAt", "lastUsedAt"]);
    assert_eq!(items[0]["lastUsedAt"], items[0]["createdAt"], "the hour began before the key");
    assert_eq!((&items[1]["keyId"], &items[1]["lastUsedAt"]), (&other["keyId"], &Value::Null), "in order of age");
    let path = format!("{}/{}", keys(1), other["keyId"].as_str().expect("an id"));
    context.call("DELETE", &path, &Value::Null).await;
    let list = context.get(&keys(1)).await.is(200);
    assert_eq!(list["items"][1]["revokedAt"], "2023-11-14T22:15:00.123456Z");
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    let body = json!({ "name": "x", "areas": ["lending"] });
    for unknown in [id(9), "x".to_owned(), "%FF".to_owned()] {
        let path = format!("/operator/partners/{unknown}/keys");
        context.call("POST", &path, &body).await.is_error(404, "PartnerNotFound");
        context.get(&path).await.is_error(404, "PartnerNotFound");
        context.call("DELETE", &format!("{}/{unknown}", keys(1)), &Value::Null).await.is_error(404, "KeyNotFound");
    }
    let of_two = context.get(&keys(2)).await.is(200)["items"][0]["keyId"].as_str().expect("an id").to_owned();
    let crossed = context.call("DELETE", &format!("{}/{of_two}", keys(1)), &Value::Null).await;
    crossed.is_error(404, "KeyNotFound");
    assert!(context.get(&keys(2)).await.is(200)["items"][0]["revokedAt"].is_null(), "it still works");
    // An offer is put by nobody's key but the operator's.
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
}

#[tokio::test]
async fn a_key_is_found_without_its_partner() {
    let context = Context::new().await;
    for n in [1, 2] {
        context.partner(n).await;
    }
    for n in [1, 2] {
        let listed = context.get(&format!("/operator/partners/{}/keys", id(n))).await.is(200)["items"][0].clone();
        let path = format!("/operator/keys/{}", listed["keyId"].as_str().expect("an id"));
        let mut found = context.call_as(Role::Read, "GET", &path, &Value::Null).await.is(200);
        assert_eq!(found["partnerId"], json!(id(n)));
        found.as_object_mut().expect("an object").shift_remove("partnerId");
        assert_eq!(found, listed);
    }
    for unknown in [id(9), "x".to_owned()] {
        context.get(&format!("/operator/keys/{unknown}")).await.is_error(404, "KeyNotFound");
    }
}
