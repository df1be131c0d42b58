//! The console: what its pages show and do. `console_security` has what they must not.

use crate::browser::{Browser, HOME, form, links, token};
use crate::context::{Context, application, holds_no_bank_detail, id, offer, terms};
use lendpay_domain::operator::Role;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A partner with a key, an application, three offers and a buyer; the keys' and the buyer's ids.
pub async fn filled(context: &Context) -> (String, String, String) {
    let key = context.partner(1).await;
    for n in [1, 2, 3] {
        context.call("PUT", &offer(1, n), &terms()).await.is(201);
    }
    let headers = [("x-service-apikey", key.as_str())];
    let buyer = json!({
        "name": "Northwind Bicycles Ltd", "registrationNumber": "09876543", "countryCode": "GB",
        "bankAccount": { "iban": "GB33BUKB20201555555555", "accountNumber": "55779911", "sortCode": "200415",
                         "accountName": "Northwind", "accountType": "current" },
    });
    let buyer = context.as_partner("POST", "/payments/buyers", &headers, &buyer.to_string()).await.is(201);
    let keys = context.get(&format!("/operator/partners/{}/keys", id(1))).await.is(200);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (key, text(&keys["items"][0]["keyId"]), text(&buyer["id"]))
}

#[tokio::test]
async fn every_page_that_a_page_leads_to_is_there() {
    let context = Context::new().await;
    let (_, _, buyer) = filled(&context).await;
    let browser = Browser::of(&context, Role::Support).await;
    let mut waiting = vec![HOME.to_owned(), format!("{HOME}/buyers/{buyer}"), format!("{HOME}/partners")];
    let mut seen = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        let path = path.split('#').next().expect("a part").to_owned();
        if seen.insert(path.clone()) {
            let page = browser.get(&path).await.page(200);
            assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
            waiting.extend(links(&page));
        }
    }
    for kind in ["/partners/", "/applications/", "/offers/", "/decline", "/buyers/", "/operations/", "/events?"] {
        assert!(seen.iter().any(|path| path.contains(kind)), "{kind} {seen:?}");
    }
}

#[tokio::test]
async fn the_search_leads_to_the_thing_itself() {
    let context = Context::new().await;
    let (_, key, buyer) = filled(&context).await;
    // An id that is of nothing else.
    context.call("PUT", &offer(1, 7), &terms()).await.is(201);
    let other = format!("/operator/applications/{}", id(5));
    context.call("PUT", &other, &json!({ "partnerId": id(1) })).await.is(201);
    let browser = Browser::of(&context, Role::Support).await;
    let search = async |text: &str| browser.get(&format!("{HOME}/search?{}", form(&[("q", text)]))).await;
    let operation = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (text, path) in [
        (String::new(), HOME.to_owned()),
        (id(1), format!("{HOME}/partners/{}", id(1))),
        (format!(" {} ", id(5)), format!("{HOME}/applications/{}", id(5))),
        (id(7), format!("{HOME}/applications/{}/offers/{}", id(1), id(7))),
        (buyer.clone(), format!("{HOME}/buyers/{buyer}")),
        (buyer.to_uppercase(), format!("{HOME}/buyers/{buyer}")),
        (key.clone(), format!("{HOME}/partners/{}#key-{key}", id(1))),
        (operation.to_owned(), format!("{HOME}/operations/{operation}")),
        ("partner 1".to_owned(), format!("{HOME}/partners/{}", id(1))),
        ("09876543".to_owned(), format!("{HOME}/buyers/{buyer}")),
    ] {
        search(&text).await.leads_to(&path);
    }
    let none = search("nobody").await.page(200);
    assert_eq!(none.matches("None.").count(), 2, "{none}");
    search(&id(99)).await.page(200);
    context.partner(2).await;
    let two = search("PARTNER").await.page(200);
    assert!(two.contains("Partner 1") && two.contains("Partner 2"), "{two}");
    assert!(browser.get(&format!("{HOME}/partners/{}", id(1))).await.page(200).contains(&key));
}

#[tokio::test]
async fn an_offer_is_shown_with_its_life_and_declined_after_two_questions() {
    let context = Context::new().await;
    let (key, ..) = filled(&context).await;
    let browser = Browser::of(&context, Role::Support).await;
    let path = format!("{HOME}/applications/{}/offers/{}", id(1), id(1));
    let page = browser.get(&path).await.page(200);
    for text in ["Fixed rate", "9.05 %", "3 %", "25000.55", "TwoYears", "Partner 1", "offer.created", "class=\"now\""] {
        assert!(page.contains(text), "{text} {page}");
    }
    let decline = format!("{path}/decline");
    let asked = browser.get(&decline).await.page(200);
    let token = token(&asked);
    // A reason that cannot be is told, and what was typed is still there.
    for (reason, problem) in [(" ", "must have 1 to 256"), ("two\u{202e}faced", "bidirectional")] {
        let again = browser.post(&decline, &form(&[("token", &token), ("reason", reason)])).await.page(200);
        assert!(again.contains(problem) && again.contains(reason.trim()), "{again}");
    }
    let reason = "The customer said “no” & hung up";
    let sure = browser.post(&decline, &form(&[("token", &token), ("reason", reason)])).await.page(200);
    assert!(sure.contains("Yes, decline it") && sure.contains("said “no” &amp; hung up"), "{sure}");
    assert_eq!(context.get(&offer(1, 1)).await.is(200)["status"], "Offered", "it was only asked");
    let yes = form(&[("token", &token), ("reason", reason), ("sure", "yes")]);
    browser.post(&decline, &yes).await.leads_to(&path);
    let page = browser.get(&path).await.page(200);
    assert!(page.contains("CustomerDeclined") && page.contains("said “no” &amp; hung up"), "{page}");
    assert!(!page.contains("Decline this offer"), "{page}");

    let events = context.get(&format!("/operator/events?offerId={}&type=offer.declined", id(1))).await.is(200);
    let event = &events["items"][0];
    assert_eq!((&event["reason"], &event["actor"]), (&json!(reason), &json!("operator:support")));
    let own = context.as_partner("GET", "/events", &[("x-service-apikey", &key)], "").await.is(200);
    assert!(own.to_string().contains("offer.declined") && !own.to_string().contains("hung up"), "{own}");
    // The second time the life cycle refuses, as it does everywhere.
    let refused = browser.post(&decline, &yes).await.page(409);
    assert!(refused.contains("An offer that is CustomerDeclined cannot become CustomerDeclined."), "{refused}");
    browser.get(&decline).await.page(409);
}

#[tokio::test]
async fn a_partners_page_shows_its_webhooks_and_what_fails_there() {
    let context = Context::new().await;
    filled(&context).await;
    let browser = Browser::of(&context, Role::Read).await;
    let partner = format!("{HOME}/partners/{}", id(1));
    assert!(!browser.get(&partner).await.page(200).contains("platform.example"));
    for (url, owner) in [("https://platform.example/hooks", json!(id(1))), ("https://core.example/hooks", Value::Null)] {
        let new = json!({ "url": url, "partnerId": owner, "after": 0 });
        let made = context.call("POST", "/operator/webhooks", &new).await.is(201);
        let test = format!("/operator/webhooks/{}/test", made["endpointId"].as_str().expect("an id"));
        context.call("POST", &test, &Value::Null).await.is(200);
    }
    let page = browser.get(&partner).await.page(200);
    assert!(page.contains("https://platform.example/hooks") && page.contains("active"), "{page}");
    assert!(!page.contains("core.example"), "the lender's is no partner's");
    assert!(page.contains("0 minutes ago") && page.contains(": status<"), "since when it waits, and what failed: {page}");
}

#[tokio::test]
async fn a_buyer_is_masked_until_somebody_asks_and_that_is_an_event() {
    let context = Context::new().await;
    let (_, _, buyer) = filled(&context).await;
    let browser = Browser::of(&context, Role::Read).await;
    let path = format!("{HOME}/buyers/{buyer}");
    let before = context.get("/operator/events").await.is(200);
    for page in [browser.get(&path).await.page(200), browser.get(&format!("{HOME}/buyers")).await.page(200)] {
        assert!(page.contains("Northwind Bicycles Ltd") && !page.contains("20201555"), "{page}");
        assert!(!page.contains("55779911"), "{page}");
    }
    assert_eq!(context.get("/operator/events").await.is(200), before);
    let page = browser.get(&path).await.page(200);
    assert!(page.contains("******************5555") && page.contains("****9911"), "{page}");
    let full = browser.post(&path, &form(&[("token", &token(&page))])).await.page(200);
    assert!(full.contains("GB33BUKB20201555555555") && full.contains("55779911"), "{full}");
    let events = context.get(&format!("/operator/events?buyerId={buyer}")).await.is(200);
    let read = &events["items"][1];
    assert_eq!((&read["type"], &read["actor"]), (&json!("buyer.read_in_full"), &json!("operator:read")));
    holds_no_bank_detail(&events);
}

#[tokio::test]
async fn what_became_of_a_call_is_told() {
    let context = Context::new().await;
    let (key, ..) = filled(&context).await;
    context.call("POST", &format!("{}/archive", offer(1, 1)), &Value::Null).await.is(200);
    let accept = |n| format!("/lending/applications/{}/offers/{}/accept", id(1), id(n));
    let headers = [("x-service-apikey", key.as_str())];
    let refused = context.as_partner("POST", &accept(1), &headers, "").await.json();
    let browser = Browser::of(&context, Role::Support).await;
    let operation = |id: &Value| format!("{HOME}/operations/{}", id.as_str().expect("an id"));
    let page = browser.get(&operation(&refused["operationId"])).await.page(200);
    let why = "An offer that is Archived cannot become CustomerAccepted.";
    assert!(page.contains("409 OfferArchived") && page.contains(why), "{page}");
    let accepted = context.as_partner("POST", &accept(2), &headers, "").await;
    let id = json!(accepted.headers["x-request-id"].to_str().expect("ASCII"));
    let page = browser.get(&operation(&id)).await.page(200);
    assert!(page.contains("offer.accepted"), "{page}");
    let unknown = browser.get(&format!("{HOME}/operations/{}", "0".repeat(32))).await.page(200);
    assert!(unknown.contains("Nothing is known of it."), "{unknown}");
    // A page that was refused is a refused call, too.
    let missing = browser.get(&format!("{HOME}/buyers/{}", crate::context::id(99))).await;
    assert!(missing.page(404).contains("There is no buyer with this identifier."));
    let id = json!(missing.headers["x-request-id"].to_str().expect("ASCII"));
    let page = browser.get(&operation(&id)).await.page(200);
    assert!(page.contains("404 BuyerNotFound") && page.contains("/operator/console/buyers/{buyerId}"), "{page}");
}

#[tokio::test]
async fn events_are_narrowed_and_the_audit_is_what_only_operators_see() {
    let context = Context::new().await;
    filled(&context).await;
    let changed = json!({ "partnerId": id(1) });
    context.call("PUT", &application(4), &changed).await.is(201);
    let browser = Browser::of(&context, Role::Read).await;
    let all = browser.get(&format!("{HOME}/events")).await.page(200);
    let audit = crate::browser::after(&all, "<option value=\"offer.terms_replaced,").expect("an audit");
    let audit = format!("offer.terms_replaced,{audit}");
    let page = browser.get(&format!("{HOME}/events?{}", form(&[("type", &audit), ("offerId", "")]))).await.page(200);
    let cells = page.split("<tbody>").nth(1).expect("events");
    assert!(cells.contains("key.created") && !cells.contains("offer.created"), "{cells}");
    for (filter, rows) in [
        (form(&[("offerId", &id(2))]), 1),
        (form(&[("from", "2023-11-14"), ("until", "2023-11-15"), ("type", "offer.created")]), 3),
        (form(&[("until", "2023-11-14")]), 0),
    ] {
        let page = browser.get(&format!("{HOME}/events?{filter}")).await.page(200);
        assert_eq!(page.matches("<tr>").count().saturating_sub(1), rows, "{filter} {page}");
    }
    let bad = browser.get(&format!("{HOME}/events?offerId=x&from=y")).await.page(400);
    assert!(bad.contains("offerId: must be a UUID") && bad.contains("from: must be an RFC 3339"), "{bad}");
    // Pages of lists.
    let partners = browser.get(&format!("{HOME}/events?after=2&type=offer.created")).await.page(200);
    assert!(partners.contains("offer.created"));
}
