//! Contract 2.2 and 2.13: a walk over every row of the document with every kind of caller. An operation that is added
//! to the document is walked over too, or fails here until it says how to ask it.

use crate::context::samples::{buyer, terms};
use crate::context::{Answer, BUYERS, Client, Context, Issuer, Placed, document, offers_of};
use lendpay_api::PartnerSettings;
use lendpay_domain::key::Area;
use poem::http::Method;
use serde_json::{Value, json};

/// Every scope of the document.
const SCOPES: [&str; 6] = [
    "lending.offers.accept",
    "lending.offers.decline",
    "lending.offers.read",
    "payments.buyers.create",
    "payments.buyers.read",
    "events.read",
];

/// What a partner has.
struct Things {
    placed: Placed,
    /// Where its buyer is read.
    buyer: String,
}

impl Things {
    async fn new(client: &Client, placed: Placed) -> Self {
        let created = client.create(&buyer()).await;
        Self { placed, buyer: created.header("location").expect("201").to_owned() }
    }
}

/// A row of contract 1 and 2.13.
struct Row {
    /// The status of success.
    status: u16,
    scope: &'static str,
    /// Any of these areas suffices.
    areas: &'static [Area],
    /// Whether a key that is narrowed to reading may do it.
    reads: bool,
    /// The `errorCode` of 404, if the address names something.
    hidden: Option<Option<&'static str>>,
}

const fn row(status: u16, scope: &'static str, areas: &'static [Area], hidden: Option<Option<&'static str>>) -> Row {
    Row { status, scope, areas, reads: scope.len() > 5 && ends_with_read(scope), hidden }
}

const fn ends_with_read(scope: &str) -> bool {
    matches!(scope.as_bytes().split_at(scope.len() - 5).1, b".read")
}

fn row_of(operation: &str) -> Row {
    const OFFER: Option<Option<&str>> = Some(Some("OfferNotFound"));
    const LENDING: &[Area] = &[Area::Lending];
    const PAYMENTS: &[Area] = &[Area::Payments];
    match operation {
        "AcceptOffer" => row(200, "lending.offers.accept", LENDING, OFFER),
        "DeclineOffer" => row(200, "lending.offers.decline", LENDING, OFFER),
        "ListApplications" => row(200, "lending.offers.read", LENDING, None),
        "ListOffers" => row(200, "lending.offers.read", LENDING, OFFER),
        "GetOffer" => row(200, "lending.offers.read", LENDING, OFFER),
        "CreateBuyer" => row(201, "payments.buyers.create", PAYMENTS, None),
        "ListBuyers" => row(200, "payments.buyers.read", PAYMENTS, None),
        "GetBuyer" => row(200, "payments.buyers.read", PAYMENTS, Some(None)),
        "ListEvents" => row(200, "events.read", &Area::ALL, None),
        other => panic!("say here who may do {other}"),
    }
}

/// Everything of the document: operationId, method and path.
fn operations() -> impl Iterator<Item = (&'static str, Method, &'static str)> {
    document().value["paths"].as_object().expect("paths").iter().flat_map(|(path, item)| {
        item.as_object().expect("a path item").iter().map(move |(method, operation)| {
            let method = method.to_uppercase().parse().expect("a method");
            (operation["operationId"].as_str().expect("an operationId"), method, path.as_str())
        })
    })
}

/// The path of an operation for what somebody has.
fn path(template: &str, things: &Things) -> String {
    let (application, offer) = (things.placed.application.to_string(), things.placed.offer.to_string());
    let buyer = things.buyer.rsplit('/').next().expect("an id");
    template.replace("{applicationId}", &application).replace("{offerId}", &offer).replace("{buyerId}", buyer)
}

async fn ask(client: &Client, method: &Method, path: &str) -> Answer {
    let call = client.call(method.clone(), path);
    if *method == Method::POST && path == BUYERS { call.json(&buyer()) } else { call }.send().await
}

/// Refused, and in the shape of the area.
#[track_caller]
fn is_refused(answer: &Answer, path: &str, status: u16, code: &str) {
    answer.is_error(status, path.starts_with("/lending/").then_some(code));
}

#[tokio::test]
async fn every_operation_is_for_the_right_key_and_for_no_other() {
    for (id, method, template) in operations() {
        let context = Context::new().await;
        let (a, row) = (context.partner_a(), row_of(id));
        let things = Things::new(&a, context.offer(terms()).await).await;
        let path = path(template, &things);
        let events = context.event_types().await;
        for wrong in [context.anonymous(), context.holder("wrong"), context.holder(&context.a().key[1..])] {
            is_refused(&ask(&wrong, &method, &path).await, &path, 401, "InvalidApiKey");
        }
        let others = Area::ALL.into_iter().filter(|area| !row.areas.contains(area));
        let elsewhere = context.partner_a_for(others).await;
        is_refused(&ask(&elsewhere, &method, &path).await, &path, 403, "InsufficientScope");
        let reader = context.reader_a_for(Area::ALL).await;
        let narrowed = ask(&reader, &method, &path).await;
        if row.reads {
            assert_eq!(narrowed.status, row.status, "{id} {narrowed:?}");
        } else {
            is_refused(&narrowed, &path, 403, "InsufficientScope");
        }
        assert_eq!(context.event_types().await, events, "{id}: nothing was done");
        for area in row.areas {
            let answer = ask(&context.partner_a_for([*area]).await, &method, &path).await;
            assert_eq!(answer.status, row.status, "{id} {answer:?}");
        }
        assert_eq!(ask(&a, &method, &path).await.status, row.status, "{id}");
    }
}

#[tokio::test]
async fn every_operation_hides_what_is_anothers_behind_the_404_of_what_does_not_exist() {
    for (id, method, template) in operations() {
        let context = Context::new().await;
        let things = Things::new(&context.partner_b(), context.offer_of_b(terms()).await).await;
        let names: Vec<_> = template.split('/').filter(|part| part.starts_with('{')).collect();
        let row = row_of(id);
        assert_eq!(row.hidden.is_some(), !names.is_empty(), "{id}: what its address names");
        let Some(code) = row.hidden else { continue };
        let events = context.event_types().await;
        let theirs = ask(&context.partner_a(), &method, &path(template, &things)).await;
        theirs.is_error(404, code);
        // Nothing at the end of an address is another address.
        let empty = (!template.ends_with('}')).then_some("");
        for unknown in ["3e7b118e-bb4c-4e4b-981d-a62526cbbdce", "x", "%FF", "%00"].into_iter().chain(empty) {
            let path = names.iter().fold(template.to_owned(), |path, name| path.replace(name, unknown));
            let answer = ask(&context.partner_a(), &method, &path).await;
            answer.is_error(404, code);
            assert_eq!(answer.timeless(), theirs.timeless(), "{id} {unknown}");
        }
        assert_eq!(context.event_types().await, events, "{id}: nothing was done");
        assert_eq!(ask(&context.partner_b(), &method, &path(template, &things)).await.status, row.status, "{id}");
    }
}

#[tokio::test]
async fn every_operation_is_for_tokens_with_its_scope_only() {
    for (id, method, template) in operations() {
        let issuer = Issuer::new();
        let settings = PartnerSettings { oauth: Some(issuer.oauth()), ..PartnerSettings::default() };
        let context = Context::with(settings).await;
        let now = lendpay_api::Clock::now(context.clock());
        context.a().has_client(context.store(), "client-a", now).await;
        let row = row_of(id);
        let things = Things::new(&context.partner_a(), context.offer(terms()).await).await;
        let (path, events) = (path(template, &things), context.event_types().await);
        let bearer = |client: &str, scope: &str| context.bearer(&issuer.token(client, scope, now));
        let others: Vec<_> = SCOPES.into_iter().filter(|scope| *scope != row.scope).collect();
        assert_eq!(others.len(), SCOPES.len() - 1, "{id}: its scope is one of the contract's");
        for without in [others.join(" ").as_str(), "", &row.scope.to_uppercase(), &format!("{}.x", row.scope)] {
            let answer = ask(&bearer("client-a", without), &method, &path).await;
            is_refused(&answer, &path, 403, "InsufficientScope");
            let challenge = answer.header("www-authenticate").expect("a challenge");
            assert!(challenge.contains("insufficient_scope") && challenge.contains(row.scope), "{id} {challenge}");
        }
        let stranger = ask(&bearer("client-x", row.scope), &method, &path).await;
        is_refused(&stranger, &path, 401, "InvalidToken");
        assert_eq!(context.event_types().await, events, "{id}: nothing was done");
        assert_eq!(ask(&bearer("client-a", row.scope), &method, &path).await.status, row.status, "{id}");
    }
}

#[test]
fn every_operation_says_which_scope_it_needs_and_that_a_key_suffices() {
    let mut scopes: Vec<_> = operations().map(|(id, ..)| row_of(id).scope).collect();
    for (id, ..) in operations() {
        let wanted = json!([{ "ApiKey": [] }, { "OAuth2": [row_of(id).scope] }]);
        assert_eq!(document().raw(id)["security"], wanted, "{id}");
    }
    scopes.sort_unstable();
    scopes.dedup();
    let flow = &document().value["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"]["scopes"];
    let mut described: Vec<_> = flow.as_object().expect("scopes").keys().map(String::as_str).collect();
    described.sort_unstable();
    assert_eq!(scopes, described);
}

/// A key that may only read gets no more by having a token beside it: the key decides.
#[tokio::test]
async fn a_narrowed_key_is_told_so() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let reader = context.reader_a_for([Area::Lending]).await;
    let answer = reader.accept(placed).await;
    answer.is_error(403, Some("InsufficientScope"));
    assert_eq!(answer.json()["message"], "Your API key is valid but may only read.");
    assert_eq!(answer.errors(), Vec::<String>::new());
    let elsewhere = reader.get(BUYERS).send().await;
    assert_eq!(elsewhere.errors(), ["The key's areas do not include payments."]);
    assert_eq!(reader.read(&offers_of(placed.application)).await["items"][0]["status"], Value::from("Offered"));
}
