//! Values for the cases, and the steps that many of them begin with.

use lendpay_domain::command::{MoveOutcome, PutOfferOutcome};
use lendpay_domain::event::Event;
use lendpay_domain::offer::{Offer, Terms};
use lendpay_domain::query::{EventFilter, EventTypes, FindEvents};
use lendpay_domain::store::Export as _;
use lendpay_domain::{HistoryId, Store};

pub use lendpay_domain::testing::samples::*;

/// The history of a store, as its events and its exports say.
pub async fn history(store: &impl Store) -> HistoryId {
    let history = store.find_events(FindEvents::all(0, 0)).await.expect("works").history;
    assert_eq!(store.export().await.expect("works").history(), history);
    history
}

/// Partner `p` with the application of the same number.
pub async fn with_partner(store: &impl Store, p: u64) {
    store.run(put_partner(p, "a partner", None, 0)).await.expect("works");
    store.run(put_application(p, p)).await.expect("works");
}

/// Offer `n` of application `p`.
pub async fn with_offer(store: &impl Store, p: u64, n: u64, terms: Terms) -> Offer {
    match store.run(put_offer(p, n, terms, 1)).await.expect("works") {
        PutOfferOutcome::Created(offer) => offer,
        other => panic!("{other:?}"),
    }
}

pub fn done(outcome: MoveOutcome) -> Offer {
    match outcome {
        MoveOutcome::Done(offer) => offer,
        other => panic!("{other:?}"),
    }
}

/// Every event.
pub async fn all_events(store: &impl Store) -> Vec<Event> {
    store.find_events(FindEvents::all(0, usize::MAX)).await.expect("works").events
}

/// The types of every event about offers and buyers after a sequence.
pub async fn types_after(store: &impl Store, after: u64) -> Vec<&'static str> {
    let types = EventTypes::those(|name| name.starts_with("offer.") || name.starts_with("buyer."));
    let filter = EventFilter { types, ..EventFilter::default() };
    let page = store.find_events(FindEvents { after, limit: usize::MAX, filter }).await.expect("works");
    page.events.iter().map(|event| event.subject.event_type()).collect()
}
