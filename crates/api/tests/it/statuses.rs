//! Every status that the document declares is one that the service really gives. That it gives no other is part of the
//! check of every answer of every test.

use crate::context::samples::{buyer, start, terms, terms_until};
use crate::context::{Answer, BUYERS, Context, Fault, Placed, Step, document, offers_of, path};
use futures_util::stream;
use lendpay_api::{Limits, PartnerSettings};
use lendpay_domain::StoreError;
use serde_json::json;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::time::Duration;

/// A body that is too large.
fn large() -> Vec<u8> {
    vec![b'x'; 65_537]
}

/// Where a status is provoked.
async fn place_for(status: u16) -> Context {
    let limits = match status {
        408 => Limits { request_time: Duration::from_millis(20) },
        _ => Limits::default(),
    };
    let rate_limit = (status == 429).then(|| "1/3600s".parse().expect("a limit"));
    Context::with(PartnerSettings { limits, rate_limit, ..PartnerSettings::default() }).await
}

/// Brings an operation to a status; `None` if nobody knows how.
async fn provoke(context: &Context, operation: &str, status: u16) -> Option<Answer> {
    context.store().rig(None);
    let (a, nobody) = (context.partner_a(), context.anonymous());
    let placed = context.offer(terms()).await;
    let fault = match status {
        408 => Some(Fault::Never),
        500 => Some(Fault::Panic),
        503 => Some(Fault::Error(StoreError::Unavailable)),
        _ => None,
    };
    let location = context.buyer_of_b().await;
    let step = if operation.starts_with("List") || operation.starts_with("Get") { Step::Find } else { Step::Command };
    context.store().rig(fault.map(|fault| (step, fault)));
    Some(match (operation, status) {
        ("AcceptOffer", 200 | 408 | 500 | 503) => a.accept(placed).await,
        ("AcceptOffer", 400) => {
            let broken = stream::iter([Err(io::Error::other("connection reset by peer"))]);
            a.post(&placed.path()).stream(broken).send().await
        }
        ("AcceptOffer", 401) => nobody.accept(placed).await,
        ("AcceptOffer", 403) => context.payments_only().await.accept(placed).await,
        ("AcceptOffer", 404) => a.post(&path("x", "y")).send().await,
        ("AcceptOffer", 409) => a.accept(context.offer(terms_until(start())).await).await,
        ("AcceptOffer", 413) => a.post(&placed.path()).body(large()).send().await,
        ("AcceptOffer", 429) => {
            assert_eq!(a.accept(placed).await.status, 200);
            a.accept(placed).await
        }
        ("CreateBuyer", 201 | 408 | 500 | 503) => a.create(&buyer()).await,
        ("CreateBuyer", 400) => a.create(&json!({ "type": 1 })).await,
        ("CreateBuyer", 401) => nobody.create(&buyer()).await,
        ("CreateBuyer", 403) => context.lending_only().await.create(&buyer()).await,
        ("CreateBuyer", 413) => a.post(BUYERS).body(large()).send().await,
        ("CreateBuyer", 415) => a.post(BUYERS).header("content-type", "text/plain").body("x").send().await,
        ("CreateBuyer", 429) => {
            assert_eq!(a.create(&buyer()).await.status, 201);
            a.create(&buyer()).await
        }
        ("CreateBuyer", 422) => {
            assert_eq!(a.create_once("order-1", &buyer()).await.status, 201);
            a.create_once("order-1", &json!({})).await
        }
        ("DeclineOffer", 200 | 408 | 500 | 503) => a.decline(placed).await,
        ("DeclineOffer", 400) => {
            let broken = stream::iter([Err(io::Error::other("connection reset by peer"))]);
            a.post(&format!("{}/decline", placed.own_path())).stream(broken).send().await
        }
        ("DeclineOffer", 401) => nobody.decline(placed).await,
        ("DeclineOffer", 403) => context.payments_only().await.decline(placed).await,
        ("DeclineOffer", 404) => a.decline(context.offer_of_b(terms()).await).await,
        ("DeclineOffer", 409) => a.decline(context.offer(terms_until(start())).await).await,
        ("DeclineOffer", 413) => a.post(&format!("{}/decline", placed.own_path())).body(large()).send().await,
        ("DeclineOffer", 429) => {
            assert_eq!(a.decline(placed).await.status, 200);
            a.decline(placed).await
        }
        _ => return provoke_read(context, operation, status, placed, &location).await,
    })
}

/// The same for what reads. The buyer is B's.
async fn provoke_read(
    context: &Context,
    operation: &str,
    status: u16,
    placed: Placed,
    location: &str,
) -> Option<Answer> {
    let (offers, offer) = (offers_of(placed.application), placed.own_path());
    let (path, owner) = match operation {
        "ListApplications" => ("/lending/applications", context.partner_a()),
        "ListOffers" => (offers.as_str(), context.partner_a()),
        "GetOffer" => (offer.as_str(), context.partner_a()),
        "ListBuyers" => (BUYERS, context.partner_b()),
        "GetBuyer" => (location, context.partner_b()),
        "ListEvents" => ("/events", context.partner_a()),
        _ => return None,
    };
    let named = ["ListOffers", "GetOffer", "GetBuyer"].contains(&operation);
    Some(match status {
        200 | 408 | 500 | 503 => owner.get(path).send().await,
        304 => owner.get(path).header("if-none-match", "*").send().await,
        400 => owner.get(&format!("{path}?x=1")).send().await,
        401 => context.anonymous().get(path).send().await,
        403 => context.partner_a_for([]).await.get(path).send().await,
        404 if named => {
            let other = if operation == "GetBuyer" { context.partner_a() } else { context.partner_b() };
            other.get(path).send().await
        }
        409 if operation == "ListEvents" => owner.get("/events?after=999999").send().await,
        413 => owner.get(path).body(large()).send().await,
        429 => {
            let first = owner.get(path).send().await;
            if first.status == 429 { first } else { owner.get(path).send().await }
        }
        _ => return None,
    })
}

#[tokio::test]
async fn every_declared_status_of_every_operation_can_be_provoked_and_has_its_required_headers() {
    let (mut seen, mut places) = (0, HashMap::new());
    for (operation, status) in document().declared() {
        // A limit that an operation has used up is left for no other one.
        let place = (status, if status == 429 { operation } else { "" });
        let context = match places.entry(place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(place_for(status).await),
        };
        let answer = provoke(context, operation, status).await;
        let answer = answer.unwrap_or_else(|| panic!("{operation} declares {status}, and this test cannot provoke it"));
        assert_eq!(answer.status, status, "{operation} {answer:?}");
        let declared = &document().raw(operation)["responses"][status.to_string()]["headers"];
        for (name, header) in declared.as_object().expect("every response has headers") {
            let there = answer.headers.contains_key(name);
            assert!(there || header["required"] != true, "{operation} {status} {name}");
        }
        seen += 1;
    }
    assert!(seen > 80, "there are statuses to provoke: {seen}");
}
