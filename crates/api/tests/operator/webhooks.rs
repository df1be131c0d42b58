//! Endpoints of webhooks (contract 2.15): added, changed, and never showing a secret twice.

use crate::context::{Context, TEST_STATUS, id, moment, offer, terms};
use futures_util::future::try_join_all;
use lendpay_domain::command::PutApplication;
use lendpay_domain::operator::Role;
use lendpay_domain::page::ENTRIES;
use lendpay_domain::store::{Commands as _, Exports as _, Webhooks as _};
use lendpay_domain::store::Export as _;
use lendpay_domain::testing::samples::put_application;
use lendpay_domain::webhook::{Noted, progress::ASIDE};
use lendpay_domain::{EndpointId, EventId, PartnerId};
use serde_json::{Value, json};

const ALL: &str = "/operator/webhooks";
const URL: &str = "https://northwind.example/hooks";

/// Adds an endpoint; its path, and the answer.
async fn add(context: &Context, body: Value) -> (String, Value) {
    let made = context.call("POST", ALL, &body).await.is(201);
    (format!("{ALL}/{}", made["endpointId"].as_str().expect("an id")), made)
}

fn endpoint_id(made: &Value) -> EndpointId {
    EndpointId::parse(made["endpointId"].as_str().expect("an id")).expect("an id")
}

/// The types of the events about endpoints, and of which partner.
async fn told(context: &Context) -> Vec<Value> {
    let events = context.get("/operator/events").await.is(200);
    let events = events["items"].as_array().expect("a list").clone();
    let of_endpoints = events.into_iter().filter(|event| !event["endpointId"].is_null());
    of_endpoints.map(|event| json!([event["type"], event["partnerId"], event["actor"]])).collect()
}

#[tokio::test]
async fn an_endpoint_is_added_shown_and_listed_and_its_secret_is_shown_once() {
    let context = Context::new().await;
    context.partner(1).await;
    let (path, made) = add(&context, json!({ "url": URL, "partnerId": id(1), "types": ["buyer.created"] })).await;
    let secret = made["secret"].as_str().expect("a text");
    assert!(secret.starts_with("whsec_") && secret.len() == 6 + 44, "{secret}");
    assert_eq!((&made["state"], &made["inFlight"], &made["partnerId"]), (&json!("active"), &json!(16), &json!(id(1))));
    let (_, lenders) = add(&context, json!({ "url": "https://core.example", "inFlight": 1 })).await;
    assert_eq!((&lenders["partnerId"], &lenders["url"]), (&Value::Null, &json!("https://core.example/")));
    assert_ne!(lenders["secret"], made["secret"]);

    let shown = context.get(&path).await.is(200);
    assert_eq!((&shown["url"], &shown["types"]), (&json!(URL), &json!(["buyer.created"])));
    let listed = context.get(ALL).await.is(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2));
    let of_partner = context.get(&format!("{ALL}?partnerId={}", id(1))).await.is(200);
    assert_eq!(of_partner["items"].as_array().map(Vec::len), Some(1));
    let first = context.get(&format!("{ALL}?limit=1")).await.is(200);
    let next = context.get(&format!("{ALL}?limit=1&after={}", first["next"].as_str().expect("more"))).await.is(200);
    assert_ne!(first["items"][0]["endpointId"], next["items"][0]["endpointId"]);

    assert_eq!(told(&context).await, [
        json!(["webhook.created", id(1), "operator"]),
        json!(["webhook.created", null, "operator"]),
    ]);
    let mut everything = String::new();
    let mut export = context.store.export().await.expect("works");
    let mut lines = lendpay_api::transfer::Lines::default();
    for record in export.next().await.expect("works") {
        everything.push_str(&String::from_utf8(lines.record(&record)).expect("UTF-8"));
    }
    for told in [shown, listed, context.get("/operator/events").await.is(200), json!(everything)] {
        assert!(!told.to_string().contains(&secret[6..]) && !told.to_string().contains("whsec"), "{told}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_endpoint_is_told_without_a_value() {
    let context = Context::new().await;
    context.partner(1).await;
    for (body, problem) in [
        (json!({}), "url: is required"),
        (json!({ "url": "SECRET" }), "url: must be an absolute URL with a host"),
        (json!({ "url": "http://SECRET.example/" }), "url: must begin with https://"),
        (json!({ "url": "https://user:SECRET@a.example/" }), "url: must not hold a user name or a password"),
        (json!({ "url": "https://a.example:0/" }), "url: must not have port 0"),
        (json!({ "url": format!("https://a.example/{}", "x".repeat(2_000)) }), "url: must have at most 2000 characters"),
        (json!({ "url": URL, "inFlight": 0 }), "inFlight: must be a whole number from 1 to 16"),
        (json!({ "url": URL, "inFlight": 17 }), "inFlight: must be a whole number from 1 to 16"),
        (json!({ "url": URL, "after": -1 }), "after: must be a whole number from 0 to 9007199254740991"),
        (json!({ "url": URL, "types": [] }), "types: must be an array of at least one type of event"),
        (json!({ "url": URL, "types": ["SECRET"] }), "types: each must be one of offer.created"),
        (json!({ "url": URL, "types": ["key.created"], "partnerId": id(1) }), "types: each must be one of offer.created"),
        (json!({ "url": URL, "partnerId": "SECRET" }), "partnerId: must be a UUID of 36 characters"),
        (json!({ "url": URL, "nmae": 1 }), "nmae: is not a known field"),
    ] {
        let told = context.call("POST", ALL, &body).await.is_error(400, "InvalidData");
        let errors = told["errors"].as_array().expect("a list");
        assert!(errors.len() == 1 && errors[0].as_str().is_some_and(|it| it.starts_with(problem)), "{problem}: {told}");
        assert!(!told.to_string().contains("SECRET"), "{told}");
    }
    context.call("POST", ALL, &json!({ "url": URL, "partnerId": id(9) })).await.is_error(404, "PartnerNotFound");
    context.call("POST", ALL, &json!({ "url": URL, "after": 9_999 })).await.is_error(409, "CursorUnknown");
    assert_eq!(told(&context).await, [Value::Null; 0]);
    add(&context, json!({ "url": URL, "types": ["key.created"] })).await;
}

#[tokio::test]
async fn an_endpoint_is_changed_paused_resumed_and_deleted() {
    let context = Context::new().await;
    context.partner(1).await;
    let (path, made) = add(&context, json!({ "url": URL, "partnerId": id(1) })).await;
    let post = async |what: &str| context.call("POST", &format!("{path}/{what}"), &Value::Null).await.is(200);
    assert_eq!(post("pause").await["state"], "paused");
    assert_eq!(post("pause").await["state"], "paused");
    assert_eq!(post("resume").await["state"], "active");
    let new = json!({ "url": "https://northwind.example/2", "types": ["offer.accepted"], "inFlight": 2 });
    let changed = context.call("PUT", &path, &new).await.is(200);
    for field in ["url", "types", "inFlight"] {
        assert_eq!(changed[field], new[field]);
    }
    let partners = json!({ "url": URL, "types": ["webhook.created"] });
    context.call("PUT", &path, &partners).await.is_error(400, "InvalidData");
    assert_eq!(context.get(&path).await.is(200)["url"], new["url"]);
    context.call("DELETE", &path, &Value::Null).await.is(204);
    for (method, what) in [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/secret"),
        ("POST", "/test"),
        ("GET", "/attempts"),
    ] {
        context.call(method, &format!("{path}{what}"), &Value::Null).await.is_error(404, "WebhookNotFound");
        context.call(method, &format!("{ALL}/no-id{what}"), &Value::Null).await.is_error(404, "WebhookNotFound");
    }
    context.call("PUT", &path, &new).await.is_error(404, "WebhookNotFound");
    context.call("POST", &format!("{path}/redeliver"), &json!({ "after": 0 })).await.is_error(404, "WebhookNotFound");
    assert_eq!(context.get(ALL).await.is(200)["items"], json!([]));
    let steps: Vec<_> = told(&context).await.iter().map(|event| event[0].clone()).collect();
    assert_eq!(steps, ["created", "paused", "resumed", "updated", "deleted"].map(|step| format!("webhook.{step}")));
    // Delivery is told of each.
    let id = endpoint_id(&made);
    assert_eq!(context.deliveries.changed(), [id; 6]);
}

#[tokio::test]
async fn a_rotated_secret_is_shown_once_and_the_one_before_is_valid_for_a_day() {
    let context = Context::new().await;
    let (path, made) = add(&context, json!({ "url": URL })).await;
    let rotated = context.call("POST", &format!("{path}/secret"), &Value::Null).await.is(201);
    assert_ne!(rotated["secret"], made["secret"]);
    assert_eq!(rotated["formerSecretUntil"], "2023-11-15T22:13:20.123456Z");
    assert_eq!(context.get(&path).await.is(200)["formerSecretUntil"], rotated["formerSecretUntil"]);
    let id = endpoint_id(&made);
    let endpoint = context.store.find_webhook(id).await.expect("works").expect("there").endpoint;
    let shown = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("32 bytes");
        json!(lendpay_api::WebhookSecret::from_random(bytes).reveal())
    };
    let opened = |seconds| {
        let opened = endpoint.secrets.valid(moment(seconds)).map(|secret| context.keys.open(id, secret).expect("opens"));
        opened.map(|bytes| shown(&bytes)).collect::<Vec<_>>()
    };
    assert_eq!(opened(0), [rotated["secret"].clone(), made["secret"].clone()]);
    assert_eq!(opened(24 * 3_600), [rotated["secret"].clone()]);
}

#[tokio::test]
async fn how_far_delivery_has_come_is_shown_and_can_be_set_back() {
    let context = Context::new().await;
    context.partner(1).await;
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    let (path, made) = add(&context, json!({ "url": URL, "partnerId": id(1) })).await;
    let shown = context.get(&path).await.is(200);
    assert_eq!((&shown["waitingSequence"], &shown["lagSeconds"]), (&Value::Null, &json!(0.0)), "it begins now");
    let cursor = shown["cursor"].as_u64().expect("a number");
    context.call("PUT", &offer(1, 2), &terms()).await.is(201);
    context.set_time(30);
    let shown = context.get(&path).await.is(200);
    assert_eq!((&shown["waitingSince"], &shown["lagSeconds"]), (&json!("2023-11-14T22:13:20.123456Z"), &json!(30.0)));
    assert!(shown["waitingSequence"].as_u64().is_some_and(|sequence| sequence > cursor), "{shown}");

    let of = endpoint_id(&made);
    let aside = (1..=ASIDE as u64).map(lendpay_domain::testing::samples::waits).collect();
    let noted = Noted { aside, last_success_at: Some(moment(7)), ..Noted::beginning(of, cursor + 9) };
    context.store.run(lendpay_domain::command::NoteDeliveries(vec![noted])).await.expect("works");
    let shown = context.get(&path).await.is(200);
    assert_eq!((&shown["setAside"], &shown["waitingSequence"]), (&json!(1_000), &Value::Null));
    assert_eq!(shown["lastSuccessAt"], "2023-11-14T22:13:27.123456Z");

    let redeliver = format!("{path}/redeliver");
    context.call("POST", &redeliver, &json!({ "after": 0 })).await.is(200);
    let shown = context.get(&path).await.is(200);
    assert_eq!((&shown["cursor"], &shown["setAside"]), (&json!(0), &json!(0)));
    assert!(!shown["waitingSequence"].is_null(), "{shown}");
    context.call("POST", &redeliver, &json!({ "after": 99_999 })).await.is_error(409, "CursorUnknown");
    for bad in [json!({}), json!({ "after": -1 }), json!({ "after": 1.5 }), json!({ "after": "1" })] {
        context.call("POST", &redeliver, &bad).await.is_error(400, "InvalidData");
    }
}

#[tokio::test]
async fn what_waits_behind_more_events_of_others_than_a_page_looks_at_is_found() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    let (path, _) = add(&context, json!({ "url": URL, "partnerId": id(1) })).await;
    let partner = PartnerId::parse(&id(2)).expect("an id");
    let others: Vec<_> = (1..=ENTRIES as u64).map(|n| PutApplication { partner, ..put_application(n, 2) }).collect();
    for some in others.chunks(1_000) {
        try_join_all(some.iter().map(|put| context.store.run(*put))).await.expect("the store works");
    }
    assert_eq!(context.get(&path).await.is(200)["waitingSequence"], Value::Null);
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    assert!(context.get(&path).await.is(200)["waitingSequence"].is_u64());
}

#[tokio::test]
async fn a_test_is_sent_and_attempts_are_listed_by_delivery() {
    let context = Context::new().await;
    let (path, _) = add(&context, json!({ "url": URL })).await;
    assert_eq!(context.get(&format!("{path}/attempts")).await.is(200)["items"], json!([]));
    let tested = context.call("POST", &format!("{path}/test"), &Value::Null).await.is(200);
    assert_eq!((&tested["type"], &tested["delivered"]), (&json!("webhook.test"), &json!(false)));
    assert_eq!((&tested["problem"], &tested["status"]), (&json!("status"), &json!(TEST_STATUS)));
    assert!(EventId::parse(tested["eventId"].as_str().expect("an id")).is_some());
    let attempts = context.get(&format!("{path}/attempts")).await.is(200);
    assert_eq!(attempts["items"], json!([tested]));
}

#[tokio::test]
async fn without_keys_webhooks_are_off() {
    let context = Context::without_webhooks().await;
    let one = format!("{ALL}/{}", id(1));
    for (method, path, body) in [
        ("GET", ALL, Value::Null),
        ("POST", ALL, json!({ "url": URL })),
        ("GET", &one, Value::Null),
        ("PUT", &one, json!({ "url": URL })),
        ("DELETE", &one, Value::Null),
        ("POST", &format!("{one}/pause"), Value::Null),
        ("POST", &format!("{one}/resume"), Value::Null),
        ("POST", &format!("{one}/secret"), Value::Null),
        ("POST", &format!("{one}/test"), Value::Null),
        ("GET", &format!("{one}/attempts"), Value::Null),
        ("POST", &format!("{one}/redeliver"), json!({ "after": 0 })),
    ] {
        let told = context.call_as(Role::Admin, method, path, &body).await.is_error(409, "WebhooksOff");
        assert!(told["message"].as_str().is_some_and(|text| text.contains("--secrets-key-file")), "{told}");
    }
}
