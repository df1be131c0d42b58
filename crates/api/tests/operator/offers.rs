//! Offers: put, read, moved.

use crate::context::{Context, OPERATOR_KEY, application, id, offer, terms};
use serde_json::{Value, json};

#[tokio::test]
async fn an_offer_is_made_and_its_terms_replaced_while_it_is_offered() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let made = context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    let mut wanted = terms();
    for (field, value) in [
        ("applicationId", json!(id(1))),
        ("id", json!(id(1))),
        ("status", json!("Offered")),
        ("statusChangedAt", json!("2023-11-14T22:13:20.123456Z")),
    ] {
        wanted[field] = value;
    }
    assert_eq!(made, wanted);
    assert_eq!(context.get(&offer(1, 1)).await.is(200), wanted);
    context.set_time(5);
    let least = json!({
        "details": "-", "fundingType": "TermLoan", "offerType": "Indicative", "annualPercentageRate": 0,
        "interestRate": null,
    });
    let replaced = context.call("PUT", &offer(1, 1), &least).await.is(200);
    assert_eq!(replaced["annualPercentageRate"], 0.0);
    for absent in ["interestRate", "expiryAt", "redirectUrl", "amount", "duration"] {
        assert!(replaced[absent].is_null() && replaced.as_object().expect("an offer").contains_key(absent));
    }
    assert_eq!(replaced["statusChangedAt"], wanted["statusChangedAt"]);
    let accept = format!("/lending/applications/{}/offers/{}/accept", id(1), id(1));
    let accepted = context.as_partner("POST", &accept, &[("x-service-apikey", &key)], "").await;
    assert_eq!(accepted.status, 200, "the partner accepts it");
    let fixed = context.call("PUT", &offer(1, 1), &terms()).await.is_error(409, "TermsFixed");
    assert_eq!(fixed["errors"], json!(["The offer is CustomerAccepted."]));
}

#[tokio::test]
async fn every_move_is_made_or_refused_with_from_and_to() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let moves = ["decline", "advance", "archive"];
    // How to come to each status, and what the moves lead to from there.
    let cases: [(&[&str], [&str; 3]); 5] = [
        (&[], ["CustomerDeclined", "", "Archived"]),
        (&["accept"], ["", "Advanced", "Archived"]),
        (&["decline"], ["", "", "Archived"]),
        (&["accept", "advance"], ["", "", "Archived"]),
        (&["archive"], ["", "", ""]),
    ];
    let mut n = 0;
    for (way, leads_to) in cases {
        for (action, to) in moves.iter().zip(leads_to) {
            n += 1;
            let path = offer(1, n);
            context.call("PUT", &path, &terms()).await.is(201);
            for step in way {
                if *step == "accept" {
                    let accept = format!("/lending/applications/{}/offers/{}/accept", id(1), id(n));
                    let headers = [("x-service-apikey", key.as_str())];
                    assert_eq!(context.as_partner("POST", &accept, &headers, "").await.status, 200);
                } else {
                    context.call("POST", &format!("{path}/{step}"), &Value::Null).await.is(200);
                }
            }
            let from = context.get(&path).await.is(200)["status"].as_str().expect("a status").to_owned();
            let answer = context.call("POST", &format!("{path}/{action}"), &Value::Null).await;
            if to.is_empty() {
                let target =
                    ["CustomerDeclined", "Advanced", "Archived"][moves.iter().position(|m| m == action).expect("one")];
                let wanted = json!([format!("An offer that is {from} cannot become {target}.")]);
                assert_eq!(answer.is_error(409, "IllegalTransition")["errors"], wanted);
                assert_eq!(context.get(&path).await.is(200)["status"], *from);
            } else {
                let moved = answer.is(200);
                assert_eq!((&moved["status"], &moved["applicationId"]), (&json!(to), &json!(id(1))));
                assert_eq!(context.get(&path).await.is(200), moved);
            }
        }
    }
}

#[tokio::test]
async fn an_indicative_offer_cannot_be_advanced() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let mut indicative = terms();
    indicative["offerType"] = json!("Indicative");
    context.call("PUT", &offer(1, 1), &indicative).await.is(201);
    let accept = format!("/lending/applications/{}/offers/{}/accept", id(1), id(1));
    assert_eq!(context.as_partner("POST", &accept, &[("x-service-apikey", &key)], "").await.status, 200);
    let answer = context.call("POST", &format!("{}/advance", offer(1, 1)), &Value::Null).await;
    let wanted = json!(["An indicative offer that is CustomerAccepted cannot become Advanced."]);
    assert_eq!(answer.is_error(409, "IllegalTransition")["errors"], wanted);
}

#[tokio::test]
async fn an_offer_whose_time_has_come_is_seen_and_moved_as_expired() {
    let context = Context::new().await;
    context.partner(1).await;
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    context.set_time(5_000);
    let seen = context.get(&offer(1, 1)).await.is(200);
    assert_eq!((&seen["status"], &seen["statusChangedAt"]), (&json!("Expired"), &terms()["expiryAt"]));
    let answer = context.call("POST", &format!("{}/decline", offer(1, 1)), &Value::Null).await;
    let wanted = json!(["An offer that is Expired cannot become CustomerDeclined."]);
    assert_eq!(answer.is_error(409, "IllegalTransition")["errors"], wanted);
    let fixed = context.call("PUT", &offer(1, 1), &terms()).await.is_error(409, "TermsFixed");
    assert_eq!(fixed["errors"], json!(["The offer is Expired."]));
    context.call("POST", &format!("{}/archive", offer(1, 1)), &Value::Null).await.is(200);
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    context.call("PUT", &offer(9, 1), &terms()).await.is_error(404, "ApplicationNotFound");
    context.get(&format!("{}/offers", application(9))).await.is_error(404, "ApplicationNotFound");
    for path in [
        offer(1, 9),
        offer(2, 1),
        offer(9, 1),
        format!("{}/offers/x", application(1)),
        format!("{}/offers/%FF", application(1)),
    ] {
        context.get(&path).await.is_error(404, "OfferNotFound");
        for action in ["decline", "advance", "archive"] {
            context.call("POST", &format!("{path}/{action}"), &Value::Null).await.is_error(404, "OfferNotFound");
        }
    }
}

/// `statusChangedAt` never becomes earlier, and an offer that was Expired stays so.
#[tokio::test]
async fn a_clock_that_goes_back_changes_nothing_of_what_has_happened() {
    let context = Context::new().await;
    context.partner(1).await;
    context.set_time(500);
    let mut expired = terms();
    expired["expiryAt"] = json!("2023-11-14T22:20:00Z");
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    let created = context.get(&offer(1, 1)).await.is(200)["statusChangedAt"].clone();
    context.call("PUT", &offer(1, 2), &expired).await.is(201);
    assert_eq!(context.get(&offer(1, 2)).await.is(200)["status"], "Expired");
    context.set_time(100);
    assert_eq!(context.get(&offer(1, 2)).await.is(200)["status"], "Expired");
    context.call("POST", &format!("{}/decline", offer(1, 2)), &Value::Null).await.is_error(409, "IllegalTransition");
    let declined = context.call("POST", &format!("{}/decline", offer(1, 1)), &Value::Null).await.is(200);
    assert_eq!((&declined["status"], &declined["statusChangedAt"]), (&json!("CustomerDeclined"), &created));
}

#[tokio::test]
async fn a_decline_may_say_why_and_operators_read_it_in_the_event() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    for n in 1..=4 {
        context.call("PUT", &offer(1, n), &terms()).await.is(201);
    }
    let decline = |n| format!("{}/decline", offer(1, n));
    for (body, problem) in [
        (json!({ "reason": "" }), "reason: must have 1 to 256 characters"),
        (json!({ "reason": "x".repeat(257) }), "reason: must have 1 to 256 characters"),
        (json!({ "reason": "a\nb" }), "reason: must not hold control characters"),
        (json!({ "reason": 1 }), "reason: must be a string"),
        (json!({ "raeson": "x" }), "raeson: is not a known field"),
    ] {
        let told = context.call("POST", &decline(1), &body).await.is_error(400, "InvalidData");
        assert_eq!(told["errors"], json!([problem]));
    }
    let odd = [("x-operator-key", OPERATOR_KEY), ("content-type", "text/plain")];
    context.send("POST", &decline(1), &odd, "because").await.is_error(415, "UnsupportedMediaType");
    context.call("POST", &decline(1), &json!([])).await.is_error(400, "BadRequest");
    assert_eq!(context.get(&offer(1, 1)).await.is(200)["status"], "Offered");

    let longest = "é".repeat(256);
    let bodies = [Value::Null, json!({}), json!({ "reason": null }), json!({ "reason": longest })];
    for (n, body) in (1..).zip(bodies) {
        context.call("POST", &decline(n), &body).await.is(200);
    }
    let events = context.get("/operator/events?type=offer.declined").await.is(200);
    let reasons: Vec<_> = events["items"].as_array().expect("a list").iter().map(|event| &event["reason"]).collect();
    assert_eq!(reasons, [&Value::Null, &Value::Null, &Value::Null, &json!(longest)]);
    let own = context.as_partner("GET", "/events", &[("x-service-apikey", &key)], "").await.is(200);
    assert!(own.to_string().contains("offer.declined") && !own.to_string().contains('é'), "{own}");
}
