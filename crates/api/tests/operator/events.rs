//! Events (contract 2.10).

use crate::context::{Context, id, offer, terms};
use serde_json::{Value, json};

#[tokio::test]
async fn every_change_is_an_event_with_who_and_what() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    context.set_time(1);
    let accept = format!("/lending/applications/{}/offers/{}/accept", id(1), id(1));
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers = [("x-service-apikey", key.as_str()), ("traceparent", trace)];
    context.as_partner("POST", &accept, &headers, "").await.is(200);
    for action in ["advance", "archive"] {
        context.call("POST", &format!("{}/{action}", offer(1, 1)), &Value::Null).await.is(200);
    }
    let buyer = context.as_partner("POST", "/payments/buyers", &[("x-service-apikey", &key)], "{}").await.is(201);
    context.call("PUT", &offer(1, 2), &terms()).await.is(201);
    context.call("POST", &format!("{}/decline", offer(1, 2)), &Value::Null).await.is(200);
    context.call("PUT", &offer(1, 3), &terms()).await.is(201);
    context.set_time(5_000);
    context.call("POST", &format!("{}/decline", offer(1, 3)), &Value::Null).await.is_error(409, "IllegalTransition");

    let list = context.get("/operator/events").await.is(200);
    let (set_up, items) = list["items"].as_array().expect("a list").split_at(3);
    assert_eq!([0, 1, 2].map(|n| &set_up[n]["type"]), ["partner.created", "key.created", "application.created"]);
    let types: Vec<_> = items.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    let wanted = [
        "offer.created",
        "offer.accepted",
        "offer.advanced",
        "offer.archived",
        "buyer.created",
        "offer.created",
        "offer.declined",
        "offer.created",
        "offer.expired",
    ];
    assert_eq!(types, wanted);
    let key_id = context.get(&format!("/operator/partners/{}/keys", id(1))).await.is(200)["items"][0]["keyId"].clone();
    let accepted = json!({
        "sequence": items[1]["sequence"], "id": items[1]["id"], "type": "offer.accepted",
        "occurredAt": "2023-11-14T22:13:21.123456Z", "partnerId": id(1), "applicationId": id(1), "offerId": id(1),
        "buyerId": null, "keyId": null, "endpointId": null, "actor": format!("key:{}", key_id.as_str().expect("an id")),
        "operationId": "4bf92f3577b34da6a3ce929d0e0e4736", "replaced": [],
    });
    assert_eq!(items[1], accepted);
    assert_eq!((&items[0]["actor"], &items[8]["actor"]), (&json!("operator"), &json!("clock")));
    assert_eq!(items[8]["occurredAt"], terms()["expiryAt"]);
    assert_eq!((&items[4]["buyerId"], &items[4]["offerId"]), (&buyer["id"], &Value::Null));
    let sequences: Vec<_> = items.iter().map(|event| event["sequence"].as_i64().expect("a number")).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b));
    let last = sequences.last().expect("many");
    let after = context.get(&format!("/operator/events?after={last}")).await.is(200);
    assert_eq!(after, json!({ "history": list["history"], "items": [], "next": null }));
}

/// The operator learns which terms had which values; the partner's events stay as they were.
#[tokio::test]
async fn replaced_terms_are_an_event_that_names_them() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    context.call("PUT", &offer(1, 1), &terms()).await.is(200);
    context.set_time(1);
    let mut other = terms();
    (other["details"], other["amount"], other["expiryAt"]) = (json!("Other"), json!(null), json!("2023-11-15T00:00:00Z"));
    context.call("PUT", &offer(1, 1), &other).await.is(200);
    context.call("PUT", &offer(1, 1), &other).await.is(200);
    let list = context.get(&format!("/operator/events?offerId={}", id(1))).await.is(200);
    let [created, replaced] = &list["items"].as_array().expect("a list")[..] else { panic!("{list}") };
    assert_eq!((&created["type"], &created["replaced"]), (&json!("offer.created"), &json!([])));
    let wanted = json!([
        { "field": "details", "before": "Fixed rate", "after": "Other" },
        { "field": "expiryAt", "before": "2023-11-14T23:00:00Z", "after": "2023-11-15T00:00:00Z" },
        { "field": "amount", "before": 25_000.55, "after": null },
    ]);
    assert_eq!((&replaced["type"], &replaced["replaced"]), (&json!("offer.terms_replaced"), &wanted));
    assert_eq!((&replaced["offerId"], &replaced["buyerId"]), (&json!(id(1)), &Value::Null));
    assert_eq!(replaced["occurredAt"], "2023-11-14T22:13:21.123456Z");
    for filter in [format!("offerId={}", id(1)), format!("applicationId={}", id(1)), format!("partnerId={}", id(1))] {
        let found = context.get(&format!("/operator/events?type=offer.terms_replaced&{filter}")).await.is(200);
        assert_eq!(found["items"], json!([replaced]), "{filter}");
    }
    let of_partner = context.as_partner("GET", "/events", &[("x-service-apikey", &key)], "").await.is(200);
    let types: Vec<_> = of_partner["items"].as_array().expect("a list").iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["offer.created"]);
}

#[tokio::test]
async fn a_cursor_names_the_history_and_what_the_store_has_not_given_is_unknown() {
    let context = Context::new().await;
    context.partner(1).await;
    for n in 1..=3 {
        context.call("PUT", &offer(1, n), &terms()).await.is(201);
    }
    // Three of them are about the partner, its key and its application.
    let first = context.get("/operator/events?limit=5").await.is(200);
    let history = first["history"].as_str().expect("an id");
    let sequence = |event: &Value| event["sequence"].as_u64().expect("a number");
    assert_eq!(first["next"], format!("{history}:{}", sequence(&first["items"][4])));
    let next = first["next"].as_str().expect("a cursor");
    let second = context.get(&format!("/operator/events?after={next}")).await.is(200);
    assert_eq!((&second["history"], second["items"].as_array().map(Vec::len)), (&first["history"], Some(1)));
    let last = sequence(&second["items"][0]);

    // At the end a reader is known, with its history or without, and gets what comes.
    for cursor in [last.to_string(), format!("{history}:{last}"), format!("{history}:0"), "0".to_owned()] {
        context.get(&format!("/operator/events?after={cursor}")).await.is(200);
    }
    let other = id(7);
    for cursor in [
        (last + 1).to_string(),
        format!("{history}:{}", last + 1),
        format!("{other}:{last}"),
        format!("{other}:0"),
        u64::MAX.to_string(),
    ] {
        let answer = context.get(&format!("/operator/events?after={cursor}")).await;
        let body = answer.is_error(409, "CursorUnknown");
        assert!(body["message"].as_str().is_some_and(|text| text.contains("from the beginning")), "{body}");
    }
    for bad in ["x", ":1", "1:1", &format!("{history}:"), &format!("{history}:x")] {
        context.get(&format!("/operator/events?after={bad}")).await.is_error(400, "InvalidData");
    }
    context.call("PUT", &offer(1, 4), &terms()).await.is(201);
    let more = context.get(&format!("/operator/events?after={history}:{last}")).await.is(200);
    assert_eq!(more["items"].as_array().map(Vec::len), Some(1));
}
