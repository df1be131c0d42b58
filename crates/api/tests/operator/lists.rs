//! Lists and buyers.

use crate::context::{Context, application, id, offer, terms};
use serde_json::{Value, json};

/// Reads a list to its end in pages of `limit`.
async fn whole(context: &Context, path: &str, limit: usize) -> Vec<Value> {
    let (mut items, mut next) = (Vec::new(), String::new());
    let sign = if path.contains('?') { '&' } else { '?' };
    loop {
        let mut page = context.get(&format!("{path}{sign}limit={limit}{next}")).await.is(200);
        let Value::Array(some) = page["items"].take() else { panic!("a list") };
        assert!(some.len() <= limit);
        items.extend(some);
        match page["next"].as_str() {
            Some(cursor) => next = format!("&after={cursor}"),
            None => return items,
        }
    }
}

#[tokio::test]
async fn lists_come_in_pages_that_join_without_a_gap() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    for n in 1..8 {
        context.call("PUT", &offer(1, n), &terms()).await.is(201);
        let body = json!({ "name": format!("Buyer {n}"), "registrationNumber": format!("{}", n % 2) }).to_string();
        let created = context.as_partner("POST", "/payments/buyers", &[("x-service-apikey", &key)], &body).await;
        assert_eq!(created.status, 201);
        let key = json!({ "name": format!("{n}"), "areas": ["lending"] });
        context.call("POST", &format!("/operator/partners/{}/keys", id(1)), &key).await.is(201);
    }
    for (path, length) in [
        (format!("{}/offers", application(1)), 7),
        (format!("/operator/partners/{}/keys", id(1)), 8),
        ("/operator/buyers".to_owned(), 7),
        // A partner, its application and eight keys besides.
        ("/operator/events".to_owned(), 24),
        ("/operator/buyers?registrationNumber=1".to_owned(), 4),
        ("/operator/buyers?registrationNumber=2".to_owned(), 0),
        ("/operator/partners".to_owned(), 1),
        ("/operator/applications".to_owned(), 1),
        ("/operator/offers".to_owned(), 7),
    ] {
        let all = whole(&context, &path, 500).await;
        assert_eq!(all.len(), length, "{path}");
        for limit in 1..10 {
            assert_eq!(whole(&context, &path, limit).await, all, "{path} {limit}");
        }
    }
}

#[tokio::test]
async fn a_window_that_is_none_is_told_completely() {
    let context = Context::new().await;
    context.partner(1).await;
    for path in [
        format!("{}/offers", application(1)),
        format!("/operator/partners/{}/keys", id(1)),
        "/operator/partners".to_owned(),
        "/operator/applications".to_owned(),
        "/operator/offers".to_owned(),
        "/operator/buyers".to_owned(),
        "/operator/events".to_owned(),
    ] {
        for limit in ["0", "501", "-1", "x", "", "1.5"] {
            let body = context.get(&format!("{path}?limit={limit}&after=SECRET")).await.is_error(400, "InvalidData");
            let wanted =
                json!(["after: must be what an earlier answer gave", "limit: must be a whole number from 1 to 500"]);
            assert_eq!(body["errors"], wanted, "{path} {limit}");
        }
        context.get(&format!("{path}?limit=500")).await.is(200);
    }
}

#[tokio::test]
async fn a_buyer_is_read_with_its_bank_details_in_full() {
    let context = Context::new().await;
    let key = context.partner(1).await;
    let body = json!({
        "name": "Northwind", "registrationNumber": "1", "countryCode": "GB", "type": 0,
        "bankAccount": { "iban": "GB33 BUKB 2020 1555 5555 55", "sortCode": "20-20-15", "accountNumber": "55555555" },
    });
    let headers = [("x-service-apikey", key.as_str())];
    let created = context.as_partner("POST", "/payments/buyers", &headers, &body.to_string()).await.is(201);
    let path = format!("/operator/buyers/{}", created["id"].as_str().expect("an id"));
    let read = context.get(&path).await.is(200);
    let wanted = json!({
        "id": created["id"], "partnerId": id(1), "name": "Northwind", "registrationNumber": "1", "countryCode": "GB",
        "type": 0, "createdAt": created["createdAt"],
        "bankAccount": {
            "currencyCode": null, "accountName": null, "sortCode": "202015", "accountNumber": "55555555", "bic": null,
            "accountType": null, "iban": "GB33BUKB20201555555555",
        },
    });
    assert_eq!(read, wanted);
    assert_eq!(context.get("/operator/buyers").await.is(200)["items"], json!([wanted]));
    let empty = context.as_partner("POST", "/payments/buyers", &headers, "{}").await.is(201);
    let path = format!("/operator/buyers/{}", empty["id"].as_str().expect("an id"));
    assert!(context.get(&path).await.is(200)["bankAccount"].is_null());
    for unknown in [id(9), "x".to_owned(), "%FF".to_owned()] {
        context.get(&format!("/operator/buyers/{unknown}")).await.is_error(404, "BuyerNotFound");
    }
}
