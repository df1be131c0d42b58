//! What became of a call, by its operation id.

use crate::context::{Answer, Context, OPERATOR_KEY, id, moment, offer, terms};
use serde_json::{Value, json};

/// The path at which partners reach offer `n` of application 1.
fn partners_offer(n: u128) -> String {
    format!("/lending/applications/{}/offers/{}", id(1), id(n))
}

const ACCEPT: &str = "/lending/applications/{applicationId}/offers/{offerId}/accept";
const IBAN: &str = "GB33BUKB20201555555556";

/// The nth operation id.
fn operation(n: u64) -> String {
    format!("{n:032x}")
}

/// A request of a partner with operation id `n`.
async fn ask(context: &Context, n: u64, key: &str, method: &str, path: &str, body: &str) -> Answer {
    let traceparent = format!("00-{}-00f067aa0ba902b7-01", operation(n));
    context.as_partner(method, path, &[("x-service-apikey", key), ("traceparent", &traceparent)], body).await
}

/// What is known of operation `n`.
async fn look_up(context: &Context, n: u64) -> Value {
    context.get(&format!("/operator/operations/{}", operation(n))).await.is(200)
}

/// The one call that is known of operation `n`, which changed nothing.
async fn only_call(context: &Context, n: u64) -> Value {
    let mut found = look_up(context, n).await;
    assert_eq!((&found["operationId"], &found["events"]["items"]), (&json!(operation(n)), &json!([])), "{found}");
    let calls = found["calls"].as_array_mut().expect("a list");
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0]["durationMs"].as_f64().is_some_and(|time| time >= 0.0), "{calls:?}");
    calls.remove(0)
}

/// The types of the events of operation `n`, which has no call that changed nothing.
async fn only_events(context: &Context, n: u64) -> Vec<Value> {
    let found = look_up(context, n).await;
    assert_eq!(found["calls"], json!([]), "{found}");
    found["events"]["items"].as_array().expect("a list").clone()
}

#[track_caller]
fn tells(call: &Value, fields: Value) {
    for (name, value) in fields.as_object().expect("an object") {
        assert_eq!(&call[name], value, "{name}: {call}");
    }
}

/// Partner 1 with an offer; its key, and who it is in records.
async fn filled() -> (Context, String, String) {
    let context = Context::new().await;
    let key = context.partner(1).await;
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    let keys = context.get(&format!("/operator/partners/{}/keys", id(1))).await.is(200);
    (context, key, format!("key:{}", keys["items"][0]["keyId"].as_str().expect("an id")))
}

#[tokio::test]
async fn an_accept_is_found_by_its_event_and_what_follows_by_its_call() {
    let (context, key, actor) = filled().await;
    let accept = format!("{}/accept", partners_offer(1));
    assert_eq!(ask(&context, 1, &key, "POST", &accept, "").await.status, 200);
    let events = only_events(&context, 1).await;
    assert_eq!((events.len(), &events[0]["type"], &events[0]["actor"]), (1, &json!("offer.accepted"), &json!(actor)));

    context.set_time(1);
    assert_eq!(ask(&context, 2, &key, "POST", &accept, "").await.status, 200);
    let who = json!({
        "applicationId": id(1), "offerId": id(1), "buyerId": null, "partnerId": id(1), "actor": actor, "method": "POST",
        "receivedAt": "2023-11-14T22:13:21.123456Z",
    });
    let repeated = only_call(&context, 2).await;
    tells(&repeated, who.clone());
    tells(&repeated, json!({ "route": ACCEPT, "status": 200, "errorCode": null, "errors": [] }));

    let decline = format!("{}/decline", partners_offer(1));
    assert_eq!(ask(&context, 3, &key, "POST", &decline, "").await.status, 409);
    let refused = only_call(&context, 3).await;
    tells(&refused, who);
    let errors = ["An offer that is CustomerAccepted cannot become CustomerDeclined."];
    let route = ACCEPT.replace("accept", "decline");
    tells(&refused, json!({ "route": route, "status": 409, "errorCode": "OfferAccepted", "errors": errors }));
}

#[tokio::test]
async fn a_refusal_that_finds_an_expiry_has_a_call_and_an_event() {
    let (context, key, _) = filled().await;
    context.set_time(100_000);
    assert_eq!(ask(&context, 1, &key, "POST", &format!("{}/accept", partners_offer(1)), "").await.status, 409);
    let found = look_up(&context, 1).await;
    assert_eq!((found["calls"].as_array().map(Vec::len), &found["calls"][0]["errorCode"]), (Some(1), &json!("OfferExpired")));
    assert_eq!(found["events"]["items"][0]["type"], "offer.expired");
}

#[tokio::test]
async fn a_malformed_call_is_found_with_what_was_wrong_and_without_what_was_sent() {
    let (context, key, actor) = filled().await;
    let body = json!({ "name": "Secret Ltd", "type": "x", "bankAccount": { "iban": IBAN, "accountNumber": "!" } });
    let answer = ask(&context, 1, &key, "POST", "/payments/buyers", &body.to_string()).await;
    assert_eq!(answer.status, 400);
    let call = only_call(&context, 1).await;
    tells(&call, json!({ "route": "/payments/buyers", "status": 400, "errorCode": "BadRequest", "actor": actor }));
    assert_eq!(call["errors"], answer.json()["errors"]);
    assert!(call["errors"].to_string().contains("bankAccount.iban: "), "{call}");
    for value in [IBAN, "Secret Ltd", &key] {
        assert!(!call.to_string().contains(value), "{call}");
    }
    assert_eq!(ask(&context, 2, &key, "POST", "/payments/buyers", "{\"name\":").await.status, 400);
    tells(&only_call(&context, 2).await, json!({ "errors": ["The body ends in the middle of the JSON (line 1, column 8)."] }));
}

#[tokio::test]
async fn a_replayed_creation_names_the_buyer() {
    let (context, key, _) = filled().await;
    let mut answers = Vec::new();
    for n in 1..=3 {
        let traceparent = format!("00-{}-00f067aa0ba902b7-01", operation(n));
        let body = if n == 3 { "{\"name\":\"other\"}" } else { "{}" };
        let headers =
            [("x-service-apikey", key.as_str()), ("traceparent", &traceparent), ("idempotency-key", "once")];
        answers.push(context.as_partner("POST", "/payments/buyers", &headers, body).await);
    }
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [201, 201, 422]);
    let events = only_events(&context, 1).await;
    assert_eq!(events[0]["buyerId"], answers[0].json()["id"]);
    let buyer = answers[0].json()["id"].clone();
    tells(&only_call(&context, 2).await, json!({ "status": 201, "errorCode": null, "buyerId": buyer }));
    tells(&only_call(&context, 3).await, json!({ "status": 422, "errorCode": "BadRequest", "buyerId": null }));
}

#[tokio::test]
async fn calls_that_nobody_is_known_to_have_made_are_found_too() {
    let (context, key, _) = filled().await;
    let nobody = json!({ "partnerId": null, "actor": null });
    let accept = format!("{}/accept", partners_offer(1));
    for (n, path, status, route, offer) in [
        (1, accept.as_str(), 401, json!(ACCEPT), json!(id(1))),
        (2, "/payments/buyers", 401, json!("/payments/buyers"), Value::Null),
        (3, "/no/where", 404, Value::Null, Value::Null),
        (4, "/lending/applications/SECRET/offers/%FF/accept", 401, json!(ACCEPT), Value::Null),
    ] {
        assert_eq!(ask(&context, n, &key[1..], "POST", path, "").await.status, status, "{path}");
        let call = only_call(&context, n).await;
        tells(&call, nobody.clone());
        tells(&call, json!({ "status": status, "route": route, "offerId": offer }));
        assert!(!call.to_string().contains("SECRET"), "{call}");
    }
    assert_eq!(ask(&context, 5, &key, "BREW", "/payments/buyers", "").await.status, 405);
    tells(&only_call(&context, 5).await, json!({ "method": "-", "errorCode": "MethodNotAllowed" }));
}

#[tokio::test]
async fn one_id_may_name_many_calls_and_an_unknown_one_names_none() {
    let (context, key, _) = filled().await;
    let (accept, decline) = (format!("{}/accept", partners_offer(1)), format!("{}/decline", partners_offer(1)));
    for (seconds, path) in [(1, &accept), (2, &accept), (3, &decline), (4, &partners_offer(9))] {
        context.set_time(seconds);
        let method = if seconds == 4 { "GET" } else { "POST" };
        ask(&context, 1, &key, method, path, "").await;
    }
    let found = look_up(&context, 1).await;
    let statuses: Vec<_> = found["calls"].as_array().expect("a list").iter().map(|call| call["status"].clone()).collect();
    assert_eq!((json!(statuses), found["events"]["items"].as_array().map(Vec::len)), (json!([200, 409, 404]), Some(1)));

    assert_eq!(ask(&context, 2, &key, "GET", &partners_offer(1), "").await.status, 200);
    for n in [2, 3] {
        assert_eq!(only_events(&context, n).await, Vec::<Value>::new(), "a read that succeeds is not kept");
    }
    for bad in ["x", &id(1), &operation(1)[1..]] {
        let answer = context.get(&format!("/operator/operations/{bad}")).await;
        assert_eq!(answer.is_error(400, "InvalidData")["errors"], json!(["operationId: must be 32 hexadecimal digits"]));
    }
    let upper = context.get(&format!("/operator/operations/{}", operation(0xab).to_uppercase())).await.is(200);
    assert_eq!(upper["operationId"], operation(0xab));
}

#[tokio::test]
async fn calls_are_kept_for_seven_days() {
    let (context, key, _) = filled().await;
    ask(&context, 1, &key, "GET", "/payments/buyers/x", "").await;
    context.set_time(7 * 86_400);
    assert_eq!(only_call(&context, 1).await["status"], 404);
    context.set_time(7 * 86_400 + 1);
    assert_eq!(only_events(&context, 1).await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_operators_own_calls_are_found_too() {
    let (context, ..) = filled().await;
    let call = async |n: u64, key: &str, path: &str, body: Value| {
        let traceparent = format!("00-{}-00f067aa0ba902b7-01", operation(n));
        let headers = [("x-operator-key", key), ("traceparent", &traceparent)];
        context.send("PUT", path, &headers, &body.to_string()).await.status
    };
    let mut bad = terms();
    bad["amount"] = json!(-98_765_432_109_i64);
    let application = format!("/operator/applications/{}", id(1));
    let wrong = &OPERATOR_KEY[1..];
    for (n, key, path, body, status, code, actor) in [
        (1, OPERATOR_KEY, &offer(1, 2), bad, 400, json!("InvalidData"), json!("operator")),
        (2, OPERATOR_KEY, &application, json!({ "partnerId": id(1) }), 200, Value::Null, json!("operator")),
        (3, wrong, &application, json!({ "partnerId": id(1) }), 401, json!("InvalidOperatorKey"), Value::Null),
    ] {
        assert_eq!(call(n, key, path, body).await, status);
        let call = only_call(&context, n).await;
        tells(&call, json!({ "status": status, "errorCode": code, "actor": actor, "applicationId": id(1) }));
        tells(&call, json!({ "receivedAt": moment(0).to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true) }));
        assert!(!call.to_string().contains("98765432109") && !call.to_string().contains(key), "{call}");
    }
    assert!(only_call(&context, 1).await["errors"].to_string().contains("amount: "));
}
