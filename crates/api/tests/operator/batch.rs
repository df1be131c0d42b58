//! Many offers at once: each is answered by itself.

use crate::context::{Answer, Context, OPERATOR_KEY, id, offer, terms};
use serde_json::{Value, json};

const BATCH: &str = "/operator/offers/batch";

/// Offer `n` of application `a`.
fn item(a: u128, n: u128) -> Value {
    let mut item = terms();
    (item["applicationId"], item["offerId"]) = (json!(id(a)), json!(id(n)));
    item
}

fn with(mut item: Value, field: &str, value: Value) -> Value {
    item[field] = value;
    item
}

async fn put(context: &Context, items: &[Value]) -> Answer {
    context.call("POST", BATCH, &json!({ "items": items })).await
}

/// The result of each item, or the code of its failure.
fn results(answer: &Answer) -> Vec<String> {
    let answer = answer.is(200);
    let items = answer["items"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let result = |item: &Value| {
        assert_eq!(item["result"] == "failed", !item["failure"].is_null(), "{item}");
        text(if item["failure"].is_null() { &item["result"] } else { &item["failure"]["errorCode"] })
    };
    items.iter().map(result).collect()
}

async fn events(context: &Context) -> Vec<String> {
    let list = context.get("/operator/events?limit=500&type=offer.created,offer.terms_replaced,offer.accepted").await.is(200);
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|event| event["type"].as_str().expect("a type").to_owned()).collect()
}

#[tokio::test]
async fn offers_are_created_replaced_and_left_as_they_are() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let items = [item(1, 1), item(1, 2), item(1, 3)];
    let first = put(&context, &items).await;
    let wanted = json!({ "applicationId": id(1), "offerId": id(1), "result": "created", "failure": null });
    assert_eq!(first.is(200)["items"][0], wanted);
    assert_eq!(results(&first), ["created"; 3]);
    let accept = format!("/lending/applications/{}/offers/{}/accept", id(1), id(1));
    assert_eq!(context.as_partner("POST", &accept, &[("x-service-apikey", &key)], "").await.status, 200);
    let before = events(&context).await;
    assert_eq!(results(&put(&context, &items).await), ["unchanged"; 3], "the first of them is accepted");
    assert_eq!(events(&context).await, before, "nothing has happened");

    let other = |n| with(item(1, n), "amount", json!(30_000));
    let changed = put(&context, &[other(1), other(2), item(1, 3), item(1, 4)]).await;
    assert_eq!(results(&changed), ["TermsFixed", "replaced", "unchanged", "created"]);
    let failure = &changed.is(200)["items"][0]["failure"];
    assert_eq!((&failure["status"], &failure["errors"]), (&json!(409), &json!(["The offer is CustomerAccepted."])));
    assert_eq!(context.get(&offer(1, 2)).await.is(200)["amount"], 30_000.0);
    let list = context.get("/operator/events?type=offer.terms_replaced").await.is(200);
    let replaced = json!([{ "field": "amount", "before": 25_000.55, "after": 30_000.0 }]);
    assert_eq!((&list["items"][0]["replaced"], &list["items"][1]), (&replaced, &Value::Null));
    assert_eq!(list["items"][0]["offerId"], id(2));

    // Past its time it is still what was put.
    context.set_time(5_000);
    assert_eq!(results(&put(&context, &[other(2), item(1, 2)]).await), ["InvalidData"; 2]);
    assert_eq!(results(&put(&context, &[other(2)]).await), ["unchanged"]);
    context.call("PUT", &offer(1, 2), &with(terms(), "amount", json!(30_000))).await.is_error(409, "TermsFixed");
}

#[tokio::test]
async fn a_bad_item_leaves_the_good_ones_alone() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    let items = [
        item(1, 1),
        with(with(item(1, 2), "amount", json!("SECRET")), "nmae", json!(1)),
        json!("SECRET"),
        with(item(1, 3), "offerId", json!("SECRET")),
        item(9, 4),
        with(item(1, 5), "partnerId", json!(id(2))),
        with(item(8, 6), "partnerId", json!(id(9))),
        item(1, 7),
    ];
    let answer = put(&context, &items).await;
    assert!(!answer.text().contains("SECRET"));
    let wanted = [
        "created",
        "InvalidData",
        "InvalidData",
        "InvalidData",
        "ApplicationNotFound",
        "ApplicationOwned",
        "PartnerNotFound",
        "created",
    ];
    assert_eq!(results(&answer), wanted);
    let answers = answer.is(200)["items"].clone();
    assert_eq!(answers[1]["failure"]["errors"], json!(["amount: must be a number", "nmae: is not a known field"]));
    assert_eq!((&answers[1]["offerId"], &answers[2]["offerId"]), (&json!(id(2)), &Value::Null));
    assert_eq!(answers[2]["failure"]["errors"], json!(["must be an object"]));
    assert_eq!(answers[3]["failure"]["errors"], json!(["offerId: must be a UUID of 36 characters"]));
    assert_eq!(events(&context).await, ["offer.created"; 2]);
}

#[tokio::test]
async fn an_item_may_bring_its_application_along() {
    let context = Context::new().await;
    context.partner(1).await;
    let owned = |a, n| with(item(a, n), "partnerId", json!(id(1)));
    assert_eq!(results(&put(&context, &[owned(5, 1), owned(5, 2), owned(6, 1)]).await), ["created"; 3]);
    assert_eq!(results(&put(&context, &[owned(5, 1), item(6, 1)]).await), ["unchanged"; 2]);
    for n in [5, 6] {
        let application = context.get(&crate::context::application(n)).await.is(200);
        assert_eq!(application["partnerId"], id(1));
    }
}

#[tokio::test]
async fn an_offer_that_is_there_twice_fails_twice() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    let other = with(item(1, 1), "amount", json!(1));
    let answer = put(&context, &[item(1, 1), item(2, 1), other, item(1, 2)]).await;
    assert_eq!(results(&answer), ["InvalidData", "created", "InvalidData", "created"]);
    assert_eq!(answer.is(200)["items"][2]["failure"]["errors"], json!(["offerId: is there twice in the batch"]));
    context.get(&offer(1, 1)).await.is_error(404, "OfferNotFound");
}

#[tokio::test]
async fn a_batch_has_1_to_500_offers() {
    let context = Context::new().await;
    context.partner(1).await;
    let many: Vec<_> = (1..=501).map(|n| item(1, n)).collect();
    let wrong = json!(["items: must be an array of 1 to 500 offers"]);
    for items in [&[][..], &many] {
        assert_eq!(put(&context, items).await.is_error(400, "InvalidData")["errors"], wrong);
    }
    for body in [json!({ "items": {} }), json!({ "items": null }), json!({ "items": [item(1, 1)], "more": 1 })] {
        context.call("POST", BATCH, &body).await.is_error(400, "InvalidData");
    }
    for body in ["", "[]", "{\"items\":[{\"amount\":1,\"amount\":2}]}"] {
        context.send("POST", BATCH, &[("x-operator-key", OPERATOR_KEY)], body).await.is_error(400, "BadRequest");
    }
    assert_eq!(events(&context).await, Vec::<String>::new());
    assert_eq!(results(&put(&context, &many[..500]).await), ["created"; 500]);
    assert_eq!(results(&put(&context, &many[1..]).await)[498..], ["unchanged", "created"]);
}

/// 500 of the longest offers fit, and no other operation takes so much.
#[tokio::test]
async fn a_batch_may_have_8_mib() {
    let context = Context::new().await;
    context.partner(1).await;
    let url = format!("https://x.example/{}", "a".repeat(2_030));
    let long = |n| with(with(item(1, n), "details", json!("🏦".repeat(2_000))), "redirectUrl", json!(url));
    let items: Vec<_> = (1..=500).map(long).collect();
    assert_eq!(results(&put(&context, &items).await), ["created"; 500]);
    let key = [("x-operator-key", OPERATOR_KEY)];
    let body = |length| format!("{{\"items\":\"{}\"}}", "x".repeat(length));
    context.send("POST", BATCH, &key, &body(8 * 1024 * 1024 - 20)).await.is_error(400, "InvalidData");
    let refused = context.send("POST", BATCH, &key, &body(8 * 1024 * 1024)).await.is_error(413, "RequestTooLarge");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("8,388,608 bytes")), "{refused}");
    context.send("POST", BATCH, &[], &body(1)).await.is_error(401, "InvalidOperatorKey");
    context.send("PUT", &offer(1, 1), &key, &body(65_536)).await.is_error(413, "RequestTooLarge");
}
