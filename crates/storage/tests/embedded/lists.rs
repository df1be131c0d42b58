//! What a page costs.

use crate::conformance::samples::*;
use crate::{empty, open};
use futures_util::future::try_join_all;
use lendpay_domain::event::Event;
use lendpay_domain::offer::Offer;
use lendpay_domain::page::Window;
use lendpay_domain::query::{
    EventFilter, EventTypes, FindApplications, FindBuyers, FindEvents, FindOffers, OfferCursor, OffersOf, Scope,
};
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_storage::EmbeddedStore;

/// More records than a page looks at.
const MANY: u64 = 20_500;

/// Partner 1 has an application, a buyer and nothing else; partner 2 has many applications, with an offer in the last
/// one.
async fn filled(store: &EmbeddedStore) {
    for p in [1, 2] {
        with_partner(store, p).await;
    }
    for n in (1_000..1_000 + MANY).collect::<Vec<_>>().chunks(200) {
        try_join_all(n.iter().map(|n| store.run(put_application(*n, 2)))).await.expect("works");
    }
    store.run(put_offer(999 + MANY, 1, bare_terms(), 2)).await.expect("works");
    store.run(creation(1, 7, None, description(), 3)).await.expect("works");
}

/// The pages of the events about a partner's buyers.
async fn events(store: &EmbeddedStore, p: u64) -> Vec<Vec<Event>> {
    let types = EventTypes::those(|name| name.starts_with("buyer."));
    let filter = EventFilter { scope: Scope::Partner(partner(p)), types, ..EventFilter::default() };
    let (mut pages, mut after) = (Vec::new(), 0);
    loop {
        let page = store.find_events(FindEvents { after, limit: 10, filter }).await.expect("works");
        pages.push(page.events);
        match page.next {
            None => return pages,
            Some(next) => after = next,
        }
    }
}

/// The pages of a partner's offers.
async fn offers(store: &EmbeddedStore, p: u64) -> Vec<Vec<Offer>> {
    let (mut pages, mut after) = (Vec::new(), None::<OfferCursor>);
    loop {
        let window = Window { after, limit: 10 };
        let of = OffersOf::Partner(partner(p));
        let query = FindOffers { of, status: None, expires_before: None, now: at(3), window };
        let page = store.find_offers(query).await.expect("works");
        pages.push(page.items);
        match page.next {
            None => return pages,
            next => after = next,
        }
    }
}

#[tokio::test]
async fn a_page_looks_at_so_much_and_a_partners_lists_at_its_own_only() {
    let directory = empty();
    let store = open(directory.path());
    filled(&store).await;
    assert_eq!(events(&store, 1).await.concat().len(), 1);
    // Applications without offers are passed over in several pages.
    let found = offers(&store, 2).await;
    assert!(found.len() > 1 && found[0].is_empty(), "{}", found.len());
    assert_eq!(found.concat().len(), 1);
    // A partner's own are found beside any number of others.
    assert_eq!(offers(&store, 1).await, [vec![]]);
    let (scope, window) = (Scope::Partner(partner(1)), Window { after: None, limit: 10 });
    let page = store.find_applications(FindApplications { scope, window }).await.expect("works");
    assert_eq!((page.items.len(), page.next), (1, None));
    let query = FindBuyers { scope, registration_number: None, window: Window { after: None, limit: 10 } };
    let page = store.find_buyers(query).await.expect("works");
    assert_eq!((page.items.len(), page.next), (1, None));
    // Once the log has filters, what holds no event that is wanted is passed over at once.
    drop(store);
    let found = events(&open(directory.path()), 1).await;
    assert_eq!((found.len(), found.concat().len()), (1, 1));
}
