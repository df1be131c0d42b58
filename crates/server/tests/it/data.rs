//! Putting offers into a store, and judging what is in one, while no server runs on it.

use crate::load::Acknowledged;
use lendpay_api::event_id;
use lendpay_domain::command::{AddKey, PutApplication, PutOffer, PutPartner, Stamp};
use lendpay_domain::decimal::Rate;
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::key::{Access, ApiKey, Area, KeyRecord};
use lendpay_domain::offer::{Details, FundingType, OfferType, Status, Terms};
use lendpay_domain::query::{FindEvents, Scope};
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use uuid::Uuid;

/// What a store was filled with.
pub struct Data {
    /// A key for both areas.
    pub key: String,
    pub application: ApplicationId,
    pub offers: Vec<OfferId>,
}

impl Data {
    /// The path that accepts an offer.
    pub fn accept_path(&self, offer: OfferId) -> String {
        format!("/lending/applications/{}/offers/{offer}/accept", self.application)
    }
}

/// Opens the store in a directory.
pub fn open(path: &Path) -> EmbeddedStore {
    EmbeddedStore::open(path, EmbeddedOptions::default()).expect("the store opens")
}

/// Fills the store in a directory with a partner, a key and so many offers.
pub fn fill(path: &Path, offers: u128) -> Data {
    fill_with(path, offers, "A test")
}

/// As [`fill`], with details of the offers.
pub fn fill_with(path: &Path, offers: u128, details: &str) -> Data {
    let store = open(path);
    let at = Timestamp::from_timestamp(1_700_000_000, 0).expect("in range");
    let (partner, application) = (PartnerId::new(Uuid::from_u128(1)), ApplicationId::new(Uuid::from_u128(2)));
    let key = ApiKey::from_random([7; 32]);
    let name = || Name::parse("Test").expect("a name");
    let record = KeyRecord {
        id: KeyId::new(Uuid::from_u128(3)),
        partner,
        hash: key.hash(),
        name: name(),
        areas: Area::ALL.into_iter().collect(),
        access: Access::Full,
        created_at: at,
        expires_at: None,
        revoked_at: None,
    };
    let terms = Terms {
        details: Details::parse(details).expect("short"),
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Underwritten,
        annual_percentage_rate: Rate::from_f64(0.09).expect("a rate"),
        interest_rate: None,
        expiry_at: None,
        redirect_url: None,
        amount: None,
        duration: None,
    };
    let offers: Vec<_> = (0..offers).map(|n| OfferId::new(Uuid::from_u128(1 << 64 | n))).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let operation = OperationId::from_bytes([1; 16]);
        let stamp = || Stamp { at, event: event_id(), actor: Actor::Operator, operation };
        let put = PutPartner { id: partner, name: name(), oauth_client_id: None, stamp: stamp() };
        store.run(put).await.expect("a partner");
        store.run(AddKey { key: record, stamp: stamp() }).await.expect("a key");
        let put = PutApplication { id: application, partner, stamp: stamp() };
        store.run(put).await.expect("an application");
        let store = std::sync::Arc::new(store);
        for some in offers.chunks(512) {
            let mut tasks = tokio::task::JoinSet::new();
            for &offer in some {
                let (store, terms) = (std::sync::Arc::clone(&store), terms.clone());
                let put = PutOffer { application, offer, terms, stamp: stamp() };
                tasks.spawn(async move { store.run(put).await });
            }
            for put in tasks.join_all().await {
                put.expect("an offer");
            }
        }
    });
    Data { key: key.reveal().to_owned(), application, offers }
}

/// Every event of a store.
async fn events(store: &EmbeddedStore) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.sequence);
        let more = store.find_events(FindEvents::all(after, 500)).await.expect("events").events;
        if more.is_empty() {
            return events;
        }
        events.extend(more);
    }
}

/// Checks that nothing is half there: an offer is accepted exactly when one event says so, at the same time; a buyer of
/// an event is there. Then checks that everything that was acknowledged is there. Reads the first `count` offers.
pub fn check(path: &Path, data: &Data, count: usize, acknowledged: &Acknowledged) {
    let accepted = acknowledged.offers.lock().expect("unpoisoned");
    let buyers = acknowledged.buyers.lock().expect("unpoisoned");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(check_store(&open(path), data, count, &accepted, &buyers));
}

async fn check_store(
    store: &EmbeddedStore,
    data: &Data,
    count: usize,
    accepted: &HashMap<OfferId, String>,
    buyers: &HashSet<BuyerId>,
) {
    let (mut accept_events, mut buyer_events) = (HashMap::new(), HashSet::new());
    for event in events(store).await {
        match event.subject {
            Subject::Offer { offer, status: Status::CustomerAccepted, .. } => {
                assert_eq!(accept_events.insert(offer, event.occurred_at), None, "{offer} was accepted twice");
            }
            Subject::Offer { .. }
            | Subject::Terms { .. }
            | Subject::PartnerCreated
            | Subject::PartnerUpdated
            | Subject::KeyCreated(_)
            | Subject::KeyExpirySet(_)
            | Subject::KeyRevoked(_)
            | Subject::ApplicationCreated(_)
            | Subject::BuyerRead(_)
            | Subject::Webhook(..) => {}
            Subject::Buyer(id) => assert!(buyer_events.insert(id), "{id} was created twice"),
        }
    }
    let now = Timestamp::from_timestamp(1_800_000_000, 0).expect("in range");
    for &id in data.offers.iter().take(count) {
        let offer = store.find_offer(data.application, id, now).await.expect("a read").expect("every offer is there");
        match accept_events.get(&id) {
            Some(at) => assert_eq!((offer.status, offer.status_changed_at), (Status::CustomerAccepted, *at), "{id}"),
            None => assert_eq!(offer.status, Status::Offered, "{id}"),
        }
        if let Some(at) = accepted.get(&id) {
            let told: Timestamp = at.parse().expect("a date-time");
            assert_eq!(accept_events.get(&id), Some(&told), "{id} was acknowledged");
        }
    }
    for &id in &buyer_events {
        let buyer = store.find_buyer(Scope::All, id).await.expect("a read").expect("the buyer of an event is there");
        assert!(buyer.description.name.is_some_and(|name| name.starts_with("Buyer ")));
    }
    assert!(buyers.is_subset(&buyer_events), "a buyer was acknowledged and is not there");
}
