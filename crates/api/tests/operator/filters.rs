//! What lists are narrowed by: partners, applications, offers, buyers and events by what is known of them.

use crate::context::{Context, OPERATOR_KEY, application, id, moment, offer, terms};
use chrono::SecondsFormat;
use serde_json::{Value, json};

/// The values of a field of the items of a list, read to its end in pages of two.
async fn found(context: &Context, path: &str, field: &str) -> Vec<String> {
    let (mut values, mut next) = (Vec::new(), String::new());
    let sign = if path.contains('?') { '&' } else { '?' };
    loop {
        let page = context.get(&format!("{path}{sign}limit=2{next}")).await.is(200);
        let items = page["items"].as_array().expect("a list").iter();
        values.extend(items.map(|item| item[field].as_str().expect("a text").to_owned()));
        match page["next"].as_str() {
            Some(cursor) => next = format!("&after={cursor}"),
            None => return values,
        }
    }
}

fn ids(some: impl IntoIterator<Item = u128>) -> Vec<String> {
    some.into_iter().map(id).collect()
}

/// A moment as a parameter.
fn time(seconds: i64) -> String {
    moment(seconds).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[tokio::test]
async fn partners_are_found_by_a_part_of_their_name_and_by_their_client() {
    let context = Context::new().await;
    for (n, name, client) in
        [(1, "Northwind", Some("north")), (2, "Südwind", None), (3, "Southwind Ltd", Some("south")), (4, "Breeze", None)]
    {
        let body = json!({ "name": name, "oauthClientId": client });
        context.call("PUT", &format!("/operator/partners/{}", id(n)), &body).await.is(201);
    }
    for (query, wanted) in [
        ("", ids(1..=4)),
        ("?name=WIND", ids(1..=3)),
        ("?name=S%C3%9CD", ids([2])),
        ("?name=wind%20ltd", ids([3])),
        ("?name=nobody", ids([])),
        ("?oauthClientId=south", ids([3])),
        ("?oauthClientId=sout", ids([])),
        ("?name=wind&oauthClientId=north", ids([1])),
        ("?name=breeze&oauthClientId=north", ids([])),
    ] {
        assert_eq!(found(&context, &format!("/operator/partners{query}"), "id").await, wanted, "{query}");
    }
}

#[tokio::test]
async fn applications_are_found_by_their_partner() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    for n in [3, 4, 5] {
        context.call("PUT", &application(n), &json!({ "partnerId": id(1) })).await.is(201);
    }
    for (query, wanted) in [
        (String::new(), ids(1..=5)),
        (format!("?partnerId={}", id(1)), ids([1, 3, 4, 5])),
        (format!("?partnerId={}", id(2)), ids([2])),
        (format!("?partnerId={}", id(9)), ids([])),
    ] {
        assert_eq!(found(&context, &format!("/operator/applications{query}"), "id").await, wanted, "{query}");
    }
}

#[tokio::test]
async fn offers_are_found_by_partner_status_and_expiry() {
    let context = Context::new().await;
    context.partner(1).await;
    context.partner(2).await;
    let (mut soon, mut never) = (terms(), terms());
    (soon["expiryAt"], never["expiryAt"]) = (json!(time(100)), Value::Null);
    let late = json!(time(1_000));
    for (a, n, mut terms) in
        [(1, 1, soon.clone()), (1, 2, terms()), (1, 3, never.clone()), (2, 4, soon), (2, 5, terms()), (2, 6, never)]
    {
        if n == 2 || n == 5 {
            terms["expiryAt"] = late.clone();
        }
        context.call("PUT", &offer(a, n), &terms).await.is(201);
    }
    context.call("POST", &format!("{}/decline", offer(1, 3)), &Value::Null).await.is(200);
    context.set_time(100);
    let everywhere = [
        (String::new(), ids(1..=6)),
        (format!("?partnerId={}", id(2)), ids([4, 5, 6])),
        (format!("?partnerId={}", id(9)), ids([])),
        ("?status=Offered".to_owned(), ids([2, 5, 6])),
        // Nobody has asked for these since they expired.
        ("?status=Expired".to_owned(), ids([1, 4])),
        (format!("?status=CustomerDeclined&partnerId={}", id(1)), ids([3])),
        (format!("?status=CustomerDeclined&partnerId={}", id(2)), ids([])),
        (format!("?expiresBefore={}", time(100)), ids([])),
        (format!("?expiresBefore={}", time(101)), ids([1, 4])),
        ("?expiresBefore=2100-01-01T00:00:00%2B02:00".to_owned(), ids([1, 2, 4, 5])),
        (format!("?expiresBefore={}&status=Offered&partnerId={}", time(1_001), id(2)), ids([5])),
    ];
    for (query, wanted) in everywhere {
        assert_eq!(found(&context, &format!("/operator/offers{query}"), "id").await, wanted, "{query}");
    }
    let of_one = [
        (String::new(), ids(1..=3)),
        ("?status=Offered".to_owned(), ids([2])),
        (format!("?expiresBefore={}", time(101)), ids([1])),
        (format!("?expiresBefore={}&status=Offered", time(1_001)), ids([2])),
        ("?status=Advanced".to_owned(), ids([])),
    ];
    for (query, wanted) in of_one {
        assert_eq!(found(&context, &format!("{}/offers{query}", application(1)), "id").await, wanted, "{query}");
    }
    let read = context.get(&format!("/operator/offers?partnerId={}&limit=1", id(2))).await.is(200);
    assert_eq!(read["items"][0], context.get(&offer(2, 4)).await.is(200), "the same offer as it is read alone");
}

#[tokio::test]
async fn buyers_are_found_by_partner_and_registration_number() {
    let context = Context::new().await;
    let keys = [context.partner(1).await, context.partner(2).await];
    for (key, number) in [(&keys[0], "1"), (&keys[0], "2"), (&keys[1], "1"), (&keys[0], "1")] {
        let body = json!({ "registrationNumber": number }).to_string();
        context.as_partner("POST", "/payments/buyers", &[("x-service-apikey", key)], &body).await.is(201);
    }
    for (query, wanted) in [
        (format!("?partnerId={}", id(1)), 3),
        (format!("?partnerId={}&registrationNumber=1", id(1)), 2),
        (format!("?partnerId={}&registrationNumber=2", id(2)), 0),
        (format!("?partnerId={}", id(9)), 0),
    ] {
        let partners = found(&context, &format!("/operator/buyers{query}"), "partnerId").await;
        assert_eq!(partners.len(), wanted, "{query}");
        assert!(partners.iter().all(|partner| query.contains(partner.as_str())), "{query}");
    }
}

#[tokio::test]
async fn events_are_found_by_what_they_are_about_what_caused_them_and_when() {
    let context = Context::new().await;
    let keys = [context.partner(1).await, context.partner(2).await];
    for (a, n) in [(1, 1), (1, 2), (2, 3)] {
        context.call("PUT", &offer(a, n), &terms()).await.is(201);
    }
    context.set_time(10);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traceparent = format!("00-{trace}-00f067aa0ba902b7-01");
    let headers = [("x-service-apikey", keys[0].as_str()), ("traceparent", traceparent.as_str())];
    for n in [1, 2] {
        let path = format!("/lending/applications/{}/offers/{}/accept", id(1), id(n));
        context.as_partner("POST", &path, &headers, "").await.is(200);
    }
    context.set_time(20);
    let buyer =
        context.as_partner("POST", "/payments/buyers", &[("x-service-apikey", &keys[1])], "{}").await.is(201);
    let buyer = buyer["id"].as_str().expect("an id");

    let (created, accepted, bought) = ("offer.created", "offer.accepted", "buyer.created");
    let [partner, key, owned] = ["partner.created", "key.created", "application.created"];
    let all = [
        partner, key, owned, partner, key, owned, created, created, created, accepted, accepted, bought,
    ];
    for (query, wanted) in [
        (String::new(), &all[..]),
        ("?type=offer.accepted".to_owned(), &all[9..11]),
        ("?type=buyer.created,offer.accepted".to_owned(), &all[9..]),
        ("?type=offer.archived".to_owned(), &[]),
        ("?type=key.created,application.created".to_owned(), &[key, owned, key, owned]),
        ("?type=partner.updated,key.revoked".to_owned(), &[]),
        (format!("?partnerId={}", id(2)), &[partner, key, owned, created, bought]),
        (format!("?applicationId={}", id(1)), &[owned, created, created, accepted, accepted]),
        (format!("?offerId={}", id(1)), &[created, accepted]),
        (format!("?buyerId={buyer}"), &[bought]),
        (format!("?operationId={trace}"), &[accepted, accepted]),
        (format!("?operationId={}", trace.to_uppercase()), &[accepted, accepted]),
        (format!("?operationId={}", "0".repeat(32)), &[]),
        (format!("?from={}", time(10)), &all[9..]),
        (format!("?until={}", time(10)), &all[..9]),
        (format!("?from={}&until={}", time(1), time(20)), &all[9..11]),
        (format!("?offerId={}&type=offer.accepted&partnerId={}&from={}", id(2), id(1), time(5)), &[accepted]),
        (format!("?offerId={}&partnerId={}", id(2), id(2)), &[]),
    ] {
        assert_eq!(found(&context, &format!("/operator/events{query}"), "type").await, wanted, "{query}");
    }
    let unknown = format!("/operator/events?after=99999&type=offer.accepted&partnerId={}", id(1));
    context.get(&unknown).await.is_error(409, "CursorUnknown");
}

#[tokio::test]
async fn a_filter_that_is_none_is_named_and_everything_wrong_is_told_at_once() {
    let context = Context::new().await;
    context.partner(1).await;
    let uuid = "must be a UUID of 36 characters";
    let date = "must be an RFC 3339 date-time";
    let status =
        "must be one of Offered, Expired, CustomerAccepted, CustomerDeclined, Advanced, Archived";
    let types = "must be one of offer.created, offer.accepted, offer.declined, offer.expired, offer.advanced, \
                 offer.archived, buyer.created, offer.terms_replaced, partner.created, partner.updated, key.created, \
                 key.expiry_set, key.revoked, application.created, buyer.read_in_full, webhook.created, webhook.updated, \
                 webhook.paused, webhook.resumed, webhook.secret_rotated, webhook.disabled, webhook.deleted, or several \
                 with commas between them";
    let offers = format!("{}/offers", application(1));
    for (path, name, value, problem) in [
        ("/operator/partners", "name", "", "must have 1 to 256 characters"),
        ("/operator/partners", "oauthClientId", "", "must have 1 to 256 characters"),
        ("/operator/applications", "partnerId", "SECRET", uuid),
        ("/operator/offers", "partnerId", "", uuid),
        ("/operator/offers", "status", "offered", status),
        ("/operator/offers", "expiresBefore", "2026-01-01", date),
        // A plus sign that is not escaped is a space.
        ("/operator/offers", "expiresBefore", "2026-01-01T00:00:00+02:00", date),
        (&offers, "status", "SECRET", status),
        (&offers, "expiresBefore", "SECRET", date),
        ("/operator/buyers", "partnerId", "SECRET", uuid),
        ("/operator/events", "type", "offer.accepted,SECRET", types),
        ("/operator/events", "type", "", types),
        ("/operator/events", "partnerId", "SECRET", uuid),
        ("/operator/events", "applicationId", "SECRET", uuid),
        ("/operator/events", "offerId", "SECRET", uuid),
        ("/operator/events", "buyerId", "SECRET", uuid),
        ("/operator/events", "operationId", "SECRET", "must be 32 hexadecimal digits"),
        ("/operator/events", "from", "SECRET", date),
        ("/operator/events", "until", "SECRET", date),
    ] {
        let answer = context.get(&format!("{path}?{name}={value}&limit=0")).await;
        let errors = answer.is_error(400, "InvalidData")["errors"].clone();
        let wanted = json!([format!("{name}: {problem}"), "limit: must be a whole number from 1 to 500"]);
        assert_eq!(errors, wanted, "{path} {name}={value}");
        assert!(!answer.text().contains("SECRET"));
        let twice = context.get(&format!("{path}?{name}={value}&{name}={value}")).await.is_error(400, "InvalidData");
        assert_eq!(twice["errors"], json!([format!("{name}: is there twice")]), "{path} {name}");
        let wrong = [("x-operator-key", &OPERATOR_KEY[1..])];
        let answer = context.send("GET", &format!("{path}?{name}={value}"), &wrong, "").await;
        answer.is_error(401, "InvalidOperatorKey");
    }
}

#[tokio::test]
async fn a_list_of_offers_is_of_an_application_that_exists() {
    let context = Context::new().await;
    context.partner(1).await;
    for unknown in [id(9), "x".to_owned()] {
        let path = format!("/operator/applications/{unknown}/offers?status=Offered");
        context.get(&path).await.is_error(404, "ApplicationNotFound");
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_leads_to_nothing_that_is_not_wanted() {
    let context = Context::new().await;
    for n in 1..=3 {
        context.partner(n).await;
        context.call("PUT", &offer(n, n), &terms()).await.is(201);
    }
    let after = |n| format!("after={}:{}", id(n), id(n));
    for (path, n, wanted) in [
        (format!("{}/offers", application(2)), 1, ids([2])),
        (format!("{}/offers", application(2)), 2, ids([])),
        (format!("{}/offers", application(2)), 3, ids([])),
        ("/operator/offers".to_owned(), 2, ids([3])),
    ] {
        assert_eq!(found(&context, &format!("{path}?{}", after(n)), "id").await, wanted, "{path} {n}");
    }
    for n in 1..=3 {
        let some = found(&context, &format!("/operator/offers?partnerId={}&{}", id(2), after(n)), "id").await;
        assert!(some.iter().all(|offer| *offer == id(2)), "{n} {some:?}");
    }
    for bad in [id(1), format!("{}:", id(1)), format!("{}:x", id(1)), "1".to_owned()] {
        let answer = context.get(&format!("/operator/offers?after={bad}")).await;
        let wanted = json!(["after: must be what an earlier answer gave"]);
        assert_eq!(answer.is_error(400, "InvalidData")["errors"], wanted, "{bad}");
    }
}
