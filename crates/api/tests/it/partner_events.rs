//! Contract 2.13: a partner reads its own events, in order.

use crate::context::samples::{buyer, start, terms, terms_until};
use crate::context::{Answer, Context};
use lendpay_domain::key::Area;
use lendpay_domain::life_cycle::Action;
use serde_json::{Value, json};
use std::time::Duration;

const EVENTS: &str = "/events";
const HOUR: Duration = Duration::from_secs(3_600);

fn types(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["type"].as_str().expect("a type")).collect()
}

/// Things happen to both partners in turn.
async fn lives(context: &Context) {
    for _ in 0..3 {
        let (of_a, of_b) = (context.offer(terms()).await, context.offer_of_b(terms()).await);
        context.partner_a().accept(of_a).await;
        context.partner_b().create(&buyer()).await;
        context.partner_b().decline(of_b).await;
        context.partner_a().create(&buyer()).await;
        context.move_to(of_a, &[Action::Advance, Action::Archive]).await;
    }
}

#[tokio::test]
async fn events_of_two_partners_do_not_mix() {
    let context = Context::new().await;
    lives(&context).await;
    let stored = context.events().await;
    for (client, party) in [(context.partner_a(), context.a()), (context.partner_b(), context.b())] {
        let wanted: Vec<_> = stored.iter().filter(|event| event.partner == Some(party.id)).collect();
        for limit in [1, 4, 500] {
            let items = client.read_all(EVENTS, limit).await;
            let ids: Vec<_> = items.iter().map(|item| item["id"].clone()).collect();
            assert_eq!(ids, wanted.iter().map(|event| json!(event.id.uuid())).collect::<Vec<_>>(), "{limit}");
            let text = json!(items).to_string();
            for other in stored.iter().filter(|event| event.partner != Some(party.id)) {
                assert!(!text.contains(&other.operation.to_string()), "{text}");
            }
        }
        assert!(wanted.len() >= 6);
    }
}

#[tokio::test]
async fn an_event_has_the_fields_of_the_operators_without_the_partner() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    let created = context.partner_a().create(&buyer()).await;
    context.pass(HOUR);
    let refused = context.partner_a().accept(placed).await;
    refused.is_error(409, Some("OfferExpired"));
    let page = context.partner_a().read(EVENTS).await;
    let members: Vec<_> = page.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["history", "items", "next"]);
    let items = page["items"].as_array().expect("a list");
    let stored = context.events().await;
    let (application, offer) = (placed.application.to_string(), placed.offer.to_string());
    let event = |n: usize, kind: &str, at: &str, buyer: Value, actor: &str, operation: &str| {
        let of_offer = |id: &str| if buyer.is_null() { json!(id) } else { Value::Null };
        json!({
            "sequence": stored[n].sequence, "id": stored[n].id.uuid(), "type": kind, "occurredAt": at,
            "applicationId": of_offer(&application), "offerId": of_offer(&offer), "buyerId": buyer,
            "actor": actor, "operationId": operation,
        })
    };
    let (early, late) = ("2026-03-01T12:00:00.123456Z", "2026-03-01T13:00:00.123456Z");
    let key = format!("key:{}", context.a().key_id);
    let by_operator = stored[0].operation.to_string();
    let wanted = [
        event(0, "offer.created", early, Value::Null, "operator", &by_operator),
        event(1, "buyer.created", early, created.json()["id"].clone(), &key, created.operation()),
        event(2, "offer.expired", late, Value::Null, "clock", refused.operation()),
    ];
    assert_eq!(*items, wanted);
    let names: Vec<_> = items[0].as_object().expect("an object").keys().collect();
    let order = [
        "sequence", "id", "type", "occurredAt", "applicationId", "offerId", "buyerId", "actor", "operationId",
    ];
    assert_eq!(names, order);
}

#[tokio::test]
async fn a_key_sees_events_of_its_areas_and_a_narrowed_one_too() {
    let context = Context::new().await;
    lives(&context).await;
    let all = context.partner_a().read_all(EVENTS, 500).await;
    for (area, prefix) in [(Area::Lending, "offer."), (Area::Payments, "buyer.")] {
        let wanted: Vec<_> = all.iter().filter(|event| types(&[(*event).clone()])[0].starts_with(prefix)).collect();
        assert!(wanted.len() >= 3);
        for client in [context.partner_a_for([area]).await, context.reader_a_for([area]).await] {
            let seen = client.read_all(EVENTS, 2).await;
            assert_eq!(seen.iter().collect::<Vec<_>>(), wanted, "{prefix}");
            // A filter shows nothing of the other area.
            for kind in ["offer.accepted", "buyer.created"] {
                let found = client.read_all(&format!("{EVENTS}?type={kind}"), 2).await;
                assert_eq!(found.is_empty(), !kind.starts_with(prefix), "{prefix} {kind}");
            }
        }
    }
    assert_eq!(context.reader_a_for(Area::ALL).await.read_all(EVENTS, 500).await, all);
}

#[tokio::test]
async fn events_are_found_by_their_type() {
    let context = Context::new().await;
    lives(&context).await;
    let a = context.partner_a();
    for (filter, count) in [
        ("offer.created", 3),
        ("offer.accepted", 3),
        ("offer.declined", 0),
        ("buyer.created", 3),
        ("offer.archived", 3),
    ] {
        let found = a.read_all(&format!("{EVENTS}?type={filter}"), 2).await;
        assert_eq!(found.len(), count, "{filter}");
        assert!(types(&found).iter().all(|kind| *kind == filter), "{filter}");
    }
    for bad in ["", "offer", "offer.", "offer.created,offer.accepted", "OFFER.CREATED", "key.created", "offer.terms_replaced", "%FF"] {
        let answer = a.get(&format!("{EVENTS}?type={bad}")).send().await;
        answer.is_error(400, None);
        assert!(answer.errors()[0].starts_with("type: must be one of offer.created, "), "{answer:?}");
    }
}

async fn after(context: &Context, cursor: &str) -> Answer {
    context.partner_a().get(&format!("{EVENTS}?after={cursor}")).send().await
}

#[tokio::test]
async fn whoever_passes_the_last_event_that_it_saw_misses_none() {
    let context = Context::new().await;
    lives(&context).await;
    let page = context.partner_a().read(EVENTS).await;
    let (history, items) = (page["history"].as_str().expect("an id"), page["items"].as_array().expect("a list"));
    for (n, event) in items.iter().enumerate() {
        let sequence = &event["sequence"];
        for cursor in [sequence.to_string(), format!("{history}:{sequence}")] {
            let rest = after(&context, &cursor).await.json();
            assert_eq!(rest["items"].as_array().map(Vec::as_slice), Some(&items[n + 1..]), "{cursor}");
            assert_eq!(rest["next"], Value::Null);
        }
    }
    let last = items.last().expect("events")["sequence"].to_string();
    context.offer_of_b(terms()).await;
    let placed = context.offer(terms()).await;
    let news = after(&context, &last).await.json();
    assert_eq!(types(news["items"].as_array().expect("a list")), ["offer.created"]);
    assert_eq!(news["items"][0]["offerId"], placed.offer.to_string());
}

#[tokio::test]
async fn a_cursor_past_the_end_or_of_another_history_is_409_without_an_error_code() {
    let context = Context::new().await;
    lives(&context).await;
    let history = context.partner_a().read(EVENTS).await["history"].as_str().expect("an id").to_owned();
    let end = context.store().inner_end().await;
    for known in ["0".to_owned(), end.to_string(), format!("{history}:0"), format!("{history}:{end}")] {
        assert_eq!(after(&context, &known).await.status, 200, "{known}");
    }
    let past = end + 1;
    let strange = "3e7b118e-bb4c-4e4b-981d-a62526cbbdce";
    for unknown in
        [past.to_string(), format!("{history}:{past}"), format!("{strange}:0"), format!("{strange}:1"), u64::MAX.to_string()]
    {
        let answer = after(&context, &unknown).await;
        answer.is_error(409, None);
        assert_eq!(answer.json()["title"], "Cursor unknown", "{unknown}");
    }
}

#[tokio::test]
async fn who_has_nothing_sees_nothing() {
    let context = Context::new().await;
    context.offer_of_b(terms()).await;
    let page = context.partner_a().read(EVENTS).await;
    assert_eq!((&page["items"], &page["next"]), (&json!([]), &Value::Null));
}
