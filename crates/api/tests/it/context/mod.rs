//! The partner side over a store of its own, with partners, keys, a clock, and clients that differ in who they are.

pub mod check;
mod clock;
pub mod document;
mod exchange;
mod issuer;
pub mod logs;
mod party;
mod rigged;
pub mod samples;
#[path = "../../common/schema.rs"]
mod schema;

pub use clock::SetClock;
pub use document::document;
pub use exchange::{Answer, Call};
pub use issuer::Issuer;
pub use party::Party;
pub use rigged::{Fault, PANIC, Step};

use crate::backend::{self, Backend, Remains};
use lendpay_api::{Clock as _, PartnerSettings, partner_side};
use lendpay_domain::query::{EventFilter, EventTypes, FindEvents};
use lendpay_domain::buyer::Description;
use lendpay_domain::buyer_checks::{self, BuyerChecks};
use lendpay_domain::command::{CreateBuyer, MoveOffer, MoveOutcome, PutOffer, PutOfferOutcome, Stamp};
use lendpay_domain::event::Event;
use lendpay_domain::key::{Area, Areas};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Offer, Terms};
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_domain::{ApplicationId, BuyerId, OfferId};
use poem::endpoint::BoxEndpoint;
use poem::http::Method;
use poem::{EndpointExt as _, Response};
use rigged::Rigged;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The address of CreateBuyer.
pub const BUYERS: &str = "/payments/buyers";

/// Everything that a test needs. Clones are the same.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    endpoint: BoxEndpoint<'static, Response>,
    store: Arc<Rigged<Backend>>,
    clock: Arc<SetClock>,
    a: Party,
    b: Party,
    // The last field: what the store leaves behind goes after the store.
    _remains: Remains,
}

/// An offer's whole address.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub application: ApplicationId,
    pub offer: OfferId,
}

impl Placed {
    /// Where it is accepted.
    pub fn path(&self) -> String {
        path(self.application, self.offer)
    }

    /// Where it is read.
    pub fn own_path(&self) -> String {
        format!("{}/{}", offers_of(self.application), self.offer)
    }
}

/// Where an offer with ids written like this is accepted.
pub fn path(application: impl ToString, offer: impl ToString) -> String {
    format!("/lending/applications/{}/offers/{}/accept", application.to_string(), offer.to_string())
}

/// Where an application's offers are listed.
pub fn offers_of(application: impl ToString) -> String {
    format!("/lending/applications/{}/offers", application.to_string())
}

impl Context {
    pub async fn new() -> Self {
        Self::with(PartnerSettings::default()).await
    }

    pub async fn with(settings: PartnerSettings) -> Self {
        logs::keep();
        let (store, remains) = backend::fresh().await;
        let store = Arc::new(Rigged::new(store));
        let clock = Arc::new(SetClock::new(samples::start()));
        let endpoint = partner_side(Arc::clone(&store), clock.clone(), settings).boxed();
        let now = clock.now();
        let (a, b) = (Party::settle(&*store, "A", now).await, Party::settle(&*store, "B", now).await);
        Self(Arc::new(Inner { endpoint, store, clock, a, b, _remains: remains }))
    }

    pub fn endpoint(&self) -> &BoxEndpoint<'static, Response> {
        &self.0.endpoint
    }

    pub fn clock(&self) -> &SetClock {
        &self.0.clock
    }

    /// Moves the clock on.
    pub fn pass(&self, time: Duration) {
        self.0.clock.set(self.0.clock.now() + time);
    }

    pub fn store(&self) -> &Rigged<Backend> {
        &self.0.store
    }

    pub fn a(&self) -> &Party {
        &self.0.a
    }

    pub fn b(&self) -> &Party {
        &self.0.b
    }

    /// Nobody.
    pub fn anonymous(&self) -> Client {
        Client { context: self.clone(), shows: None }
    }

    /// Whoever has this key.
    pub fn holder(&self, key: &str) -> Client {
        Client { context: self.clone(), shows: Some(("x-service-apikey", key.to_owned())) }
    }

    /// Whoever has this access token.
    pub fn bearer(&self, token: &str) -> Client {
        Client { context: self.clone(), shows: Some(("authorization", format!("Bearer {token}"))) }
    }

    /// Partner A, for everything.
    pub fn partner_a(&self) -> Client {
        self.holder(&self.0.a.key)
    }

    /// Partner B, for everything.
    pub fn partner_b(&self) -> Client {
        self.holder(&self.0.b.key)
    }

    /// Partner A with another key, for these areas.
    pub async fn partner_a_for(&self, areas: impl IntoIterator<Item = Area>) -> Client {
        let key = self.0.a.new_key(self.store(), areas.into_iter().collect::<Areas>(), None, self.0.clock.now()).await;
        self.holder(&key.secret)
    }

    /// Partner A with another key, which may only read in these areas.
    pub async fn reader_a_for(&self, areas: impl IntoIterator<Item = Area>) -> Client {
        let key = self.0.a.narrowed_key(self.store(), areas.into_iter().collect(), self.0.clock.now()).await;
        self.holder(&key.secret)
    }

    /// Partner A, for lending only.
    pub async fn lending_only(&self) -> Client {
        self.partner_a_for([Area::Lending]).await
    }

    /// Partner A, for payments only.
    pub async fn payments_only(&self) -> Client {
        self.partner_a_for([Area::Payments]).await
    }

    fn by_operator(&self) -> Stamp {
        party::by_operator(self.0.clock.now())
    }

    /// An offer of partner A.
    pub async fn offer(&self, terms: Terms) -> Placed {
        self.put_offer(Placed { application: self.0.a.application, offer: OfferId::new(lendpay_api::uuid()) }, terms)
            .await
    }

    /// An offer of partner B.
    pub async fn offer_of_b(&self, terms: Terms) -> Placed {
        self.put_offer(Placed { application: self.0.b.application, offer: OfferId::new(lendpay_api::uuid()) }, terms)
            .await
    }

    /// A buyer of partner B, of whom nothing is known; where it is read.
    pub async fn buyer_of_b(&self) -> String {
        let nothing = buyer_checks::check(Description::default(), BuyerChecks::Full).expect("acceptable");
        let id = BuyerId::new(lendpay_api::uuid());
        let create = CreateBuyer::new(self.0.b.id, id, None, nothing, self.by_operator());
        self.store().run(create).await.expect("the store works");
        format!("{BUYERS}/{id}")
    }

    /// An offer at this address.
    pub async fn put_offer(&self, placed: Placed, terms: Terms) -> Placed {
        let Placed { application, offer } = placed;
        let put = PutOffer { application, offer, terms, stamp: self.by_operator() };
        let outcome = self.store().run(put).await.expect("the store works");
        assert!(matches!(outcome, PutOfferOutcome::Created(_)), "{outcome:?}");
        placed
    }

    /// What the operator's side does.
    pub async fn try_move(&self, placed: Placed, action: Action) -> MoveOutcome {
        let Placed { application, offer } = placed;
        let command = MoveOffer { partner: None, application, offer, action, reason: None, stamp: self.by_operator() };
        self.store().run(command).await.expect("the store works")
    }

    /// What the operator's side does, and must be able to do.
    pub async fn move_to(&self, placed: Placed, actions: &[Action]) {
        for action in actions {
            let outcome = self.try_move(placed, *action).await;
            assert!(matches!(outcome, MoveOutcome::Done(_)), "{outcome:?}");
        }
    }

    /// An offer as it is now.
    pub async fn seen(&self, placed: Placed) -> Offer {
        let found = self.store().find_offer(placed.application, placed.offer, self.0.clock.now()).await;
        found.expect("the store works").expect("the offer is there")
    }

    /// Every event about offers and buyers: what the partners are told.
    pub async fn events(&self) -> Vec<Event> {
        let types = EventTypes::those(|name| name.starts_with("offer.") || name.starts_with("buyer."));
        let filter = EventFilter { types, ..EventFilter::default() };
        let query = FindEvents { after: 0, limit: usize::MAX, filter };
        self.store().find_events(query).await.expect("the store works").events
    }

    /// Their types.
    pub async fn event_types(&self) -> Vec<&'static str> {
        self.events().await.iter().map(|event| event.subject.event_type()).collect()
    }
}

/// Somebody who calls.
#[derive(Clone)]
pub struct Client {
    context: Context,
    /// The header that it shows.
    shows: Option<(&'static str, String)>,
}

impl Client {
    pub fn call(&self, method: Method, path: &str) -> Call {
        let call = Call::new(self.context.clone(), method, path);
        match &self.shows {
            Some((name, value)) => call.header(name, value),
            None => call,
        }
    }

    pub fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> Call {
        self.call(Method::POST, path)
    }

    /// Accepts an offer without a body.
    pub async fn accept(&self, placed: Placed) -> Answer {
        self.post(&placed.path()).send().await
    }

    /// Declines an offer without a body.
    pub async fn decline(&self, placed: Placed) -> Answer {
        self.post(&format!("{}/decline", placed.own_path())).send().await
    }

    /// Reads what must be there.
    pub async fn read(&self, path: &str) -> Value {
        let answer = self.get(path).send().await;
        assert_eq!(answer.status, 200, "{path} {answer:?}");
        answer.json()
    }

    /// Reads a list to its end, so many items at a time.
    pub async fn read_all(&self, path: &str, limit: usize) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let separator = if path.contains('?') { '&' } else { '?' };
            let mut page = self.read(&format!("{path}{separator}limit={limit}{after}")).await;
            let of_page = page["items"].as_array_mut().expect("a list");
            assert!(of_page.len() <= limit, "{path}");
            items.append(of_page);
            let Some(next) = page["next"].as_str() else { return items };
            after = format!("&after={next}");
        }
    }

    /// Creates a buyer.
    pub async fn create(&self, payload: &Value) -> Answer {
        self.post(BUYERS).json(payload).send().await
    }

    /// Creates a buyer with an `Idempotency-Key`.
    pub async fn create_once(&self, key: &str, payload: &Value) -> Answer {
        self.post(BUYERS).header("idempotency-key", key).json(payload).send().await
    }
}
