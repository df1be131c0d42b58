//! A store with something of everything, and all that it answers, so that stores can be compared.

use crate::conformance::exports::one_of_everything;
use crate::conformance::samples::*;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::change::Record;
use lendpay_domain::command::CreateBuyerOutcome;
use lendpay_domain::event::EventPage;
use lendpay_domain::key::{KeyInUse, KeyRecord};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::query::{
    Application, BuyerCursor, FindApplications, FindBuyers, FindEvents, FindOffers, OfferCursor, OffersOf, Scope,
};
use lendpay_domain::store::{Answer, Commands as _, Export as _, Exports as _, Queries as _};
use lendpay_domain::{ApplicationId, KeyId, PartnerId};
use lendpay_storage::EmbeddedStore;
use std::pin::Pin;
use std::task::{Context, Waker};

/// How many offers, and how many buyers, are in a store that is filled.
pub const MANY: u64 = 40;

/// One answer.
#[derive(Debug, PartialEq)]
pub enum Seen {
    Records(Vec<Record>),
    Events(EventPage),
    Key(Option<KeyRecord>),
    Keys(Option<Page<KeyInUse, KeyId>>),
    Client(Option<PartnerId>),
    Offer(Option<Offer>),
    Offers(Page<Offer, OfferCursor>),
    Applications(Page<Application, ApplicationId>),
    Buyer(Option<Buyer>),
    Buyers(Page<Buyer, BuyerCursor>),
    Again(CreateBuyerOutcome),
}

/// Everything that a filled store answers. Changes nothing in a store that holds what it should.
pub async fn seen(store: &EmbeddedStore) -> Vec<Answer<Seen>> {
    const ALL: usize = 10_000;
    let mut seen = vec![
        records(store).await.map(Seen::Records),
        store.find_events(FindEvents::all(0, ALL)).await.map(Seen::Events),
        store.find_events(FindEvents::all(MANY, 5)).await.map(Seen::Events),
        store.keys_of(partner(1), Window { after: None, limit: ALL }).await.map(Seen::Keys),
    ];
    for n in [1, 2] {
        let window = Window { after: None, limit: ALL };
        let of = OffersOf::Application(application(n));
        let query = FindOffers { of, status: None, expires_before: None, now: at(2), window };
        seen.push(store.find_offers(query).await.map(Seen::Offers));
    }
    let window = Window { after: None, limit: ALL };
    let everybodys = FindApplications { scope: Scope::All, window: Window { after: None, limit: ALL } };
    seen.push(store.find_applications(everybodys).await.map(Seen::Applications));
    seen.push(
        store.find_buyers(FindBuyers { scope: Scope::All, registration_number: None, window }).await.map(Seen::Buyers),
    );
    for n in 1..4 {
        seen.push(store.find_key(key(1, n).hash).await.map(Seen::Key));
    }
    for client in ["a", "b", "c"] {
        seen.push(store.find_client(client).await.map(Seen::Client));
    }
    for n in 0..MANY {
        seen.push(store.find_offer(application(1), offer(n), at(2)).await.map(Seen::Offer));
        seen.push(store.find_buyer(Scope::All, buyer_id(100 + n)).await.map(Seen::Buyer));
    }
    seen.push(store.run(creation(1, 99_999, Some("k"), description(), 9)).await.map(Seen::Again));
    seen
}

/// Every record of an export.
pub async fn records(store: &EmbeddedStore) -> Answer<Vec<Record>> {
    let mut export = store.export().await?;
    let mut records = Vec::new();
    loop {
        let more = export.next().await?;
        if more.is_empty() {
            return Ok(records);
        }
        records.extend(more);
    }
}

/// Something of everything, in few groups.
pub async fn fill(store: &EmbeddedStore) {
    one_of_everything(store).await;
    for (p, client) in [(3, "a"), (4, "b"), (3, "c")] {
        store.run(put_partner(p, "another partner", Some(client), 0)).await.expect("works");
    }
    with_partner(store, 2).await;
    together(MANY, async |n| {
        store.run(put_offer(1, n, terms(), 2)).await.expect("works");
    })
    .await;
    together(MANY, async |n| {
        store.run(creation(1, 100 + n, None, description(), 3)).await.expect("works");
    })
    .await;
    together(MANY, async |n| {
        store.run(go(n, Action::ALL[n as usize % 4], 900 + 10 * n as i64)).await.expect("works");
    })
    .await;
}

/// Polls every future before it waits for the first, so that the commands queue up and share groups.
pub async fn together(count: u64, run: impl AsyncFn(u64)) {
    let mut waiting: Vec<Pin<Box<_>>> = (0..count).map(|n| Box::pin(run(n))).collect();
    let mut context = Context::from_waker(Waker::noop());
    waiting.retain_mut(|future| future.as_mut().poll(&mut context).is_pending());
    for future in waiting {
        future.await;
    }
}
