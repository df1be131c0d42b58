//! What a page costs does not grow with the store.

use super::*;
use crate::embedded::{EmbeddedImport, EmbeddedOptions};
use lendpay_domain::change::{Change, OfferKey};
use lendpay_domain::event::EventPage;
use lendpay_domain::offer::Status;
use lendpay_domain::page::{ENTRIES, RECORDS};
use lendpay_domain::query::{BuyerCursor, EventFilter, EventTypes, FindEvents};
use lendpay_domain::testing::imports::{buyer, numbered_from};
use lendpay_domain::testing::samples::*;
use lendpay_domain::{OperationId, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// How many applications, with five offers each, and buyers partner 2 has: of all that the store has, every hundredth.
const FEW: u64 = 100;

/// A store.
struct Filled {
    store: EmbeddedStore,
    _directory: TempDir,
    /// How many applications it has.
    many: u64,
}

impl Filled {
    fn new(many: u64) -> Self {
        let mut changes = vec![partner_put(1, None), partner_put(2, None)];
        for n in 0..many {
            let p = if n % (many / FEW) == 0 { 2 } else { 1 };
            changes.push(Change::ApplicationPut { application: application(n), partner: partner(p) });
            for of in 0..5 {
                let offer = OfferKey { partner: partner(p), application: application(n), offer: offer(of) };
                changes.push(Change::OfferCreated { offer, terms: terms(), at: at(1) });
            }
            changes.push(buyer(p, n, description()));
        }
        let directory = TempDir::new().expect("a directory");
        let options = EmbeddedOptions::default();
        let mut import = EmbeddedImport::begin(directory.path(), options, false, at(2)).expect("begins");
        for record in numbered_from(1, changes) {
            import.add(record).expect("fits");
        }
        import.finish().expect("works");
        let store = EmbeddedStore::open(directory.path(), options).expect("opens");
        Self { store, _directory: directory, many }
    }

    async fn offers(&self, of: OffersOf, narrowed: bool, after: u64, limit: usize) -> (usize, Work) {
        let (status, expires_before) = if narrowed { (Some(Status::Expired), Some(at(900))) } else { (None, None) };
        let after = Some(OfferCursor { application: application(after), offer: offer(1) });
        let query = FindOffers { of, status, expires_before, now: at(3), window: Window { after, limit } };
        let mut work = Work::default();
        let page = self.store.offers(&query, &mut work).await.expect("works");
        (page.items.len(), work)
    }

    async fn buyers(&self, scope: Scope, number: Option<&str>, after: u64) -> (usize, Work) {
        let of = match scope {
            Scope::All => partner(1),
            Scope::Partner(partner) => partner,
        };
        let window = Window { after: Some(BuyerCursor { partner: of, buyer: buyer_id(after) }), limit: 500 };
        let registration_number = number.map(str::to_owned);
        let mut work = Work::default();
        let query = FindBuyers { scope, registration_number, window };
        let page = self.store.buyers(&query, &mut work).await.expect("works");
        (page.items.len(), work)
    }

    async fn events(&self, filter: EventFilter) -> (EventPage, Work) {
        let mut work = Work::default();
        let query = FindEvents { after: 0, limit: 100, filter };
        (self.store.events(&query, None, &mut work).await.expect("works"), work)
    }
}

/// What no event is, although every block has an event of the offer and one of the type.
fn nowhere() -> EventFilter {
    let types = EventTypes::named("buyer.created").expect("a type");
    EventFilter { offer: Some(offer(1)), types, ..EventFilter::default() }
}

fn bounded(work: &Work) {
    // The last block of the log that is begun is read to its end.
    assert!(work.entries <= ENTRIES + 1_000 && work.records <= RECORDS, "{} {}", work.entries, work.records);
}

#[tokio::test]
async fn a_page_costs_what_it_returns() {
    let (small, large) = (Filled::new(300), Filled::new(6_000));
    for store in [&small, &large] {
        for after in [0, store.many / 2, store.many - 1] {
            // 500 are asked for, and 200 are read.
            for of in [OffersOf::All, OffersOf::Partner(partner(2))] {
                let (found, work) = store.offers(of, false, after, 500).await;
                bounded(&work);
                assert_eq!(work.records, found);
                assert!(work.entries <= 2 * RECORDS, "{}", work.entries);
            }
            let (found, work) = store.offers(OffersOf::Application(application(after)), false, after, 500).await;
            assert_eq!((found, work.entries, work.records), (3, 3, 3));
            let (found, work) = store.buyers(Scope::All, None, after).await;
            bounded(&work);
            assert_eq!((work.entries, work.records), (found, found));
            let (found, work) = store.buyers(Scope::Partner(partner(2)), None, after).await;
            assert!(work.entries == found && found < FEW as usize);
            // One of the partner's is looked for among the partner's own.
            let (found, work) = store.buyers(Scope::Partner(partner(2)), Some("no such number"), after).await;
            assert!(found == 0 && work.entries < FEW as usize && work.records == 0);
        }
        // What a filter leaves out is not read.
        let (found, work) = store.offers(OffersOf::Partner(partner(2)), true, 0, 500).await;
        assert!(found == 0 && work.records == 0 && work.entries < 6 * FEW as usize, "{}", work.entries);
    }
    // And no more than so much is looked at.
    let (found, work) = large.offers(OffersOf::All, true, 0, 500).await;
    assert_eq!((found, work.entries, work.records), (0, ENTRIES, 0));
}

#[tokio::test]
async fn a_search_of_events_reads_the_blocks_that_can_hold_them() {
    let store = Filled::new(6_000);
    let (all, n) = (EventFilter::default(), 5_000);
    let about = |event: &EventPage| event.events.iter().map(|event| event.subject.ids()).collect::<Vec<_>>();
    let operation = Some(numbered(30_000, 0).operation);
    let wanted = [
        (EventFilter { operation, ..all }, 1),
        // It was created, and has five offers.
        (EventFilter { application: Some(application(n)), ..all }, 6),
        (EventFilter { application: Some(application(n)), offer: Some(offer(1)), ..all }, 1),
        (EventFilter { buyer: Some(buyer_id(n)), ..all }, 1),
        (EventFilter { operation: Some(OperationId::from_bytes([9; 16])), ..all }, 0),
    ];
    for (filter, count) in wanted {
        let (page, work) = store.events(filter).await;
        assert_eq!((page.events.len(), page.next), (count, None), "{:?}", about(&page));
        // Of 36,000 events, and some hundred blocks.
        assert!((50..2_000).contains(&work.entries), "{filter:?}: {}", work.entries);
    }
    let nothing = [
        EventFilter { types: EventTypes::those(|name| name == "offer.declined"), ..all },
        EventFilter { from: Some(at(2)), ..all },
        EventFilter { until: Some(Timestamp::UNIX_EPOCH), ..all },
        EventFilter { scope: Scope::Partner(partner(77_777)), ..all },
    ];
    for filter in nothing {
        let (page, work) = store.events(filter).await;
        assert_eq!((page.events.len(), page.next), (0, None));
        assert!(work.entries < 2_000, "{filter:?}: {}", work.entries);
    }
    // Where every block can hold it, so much is looked at, and the page says where to go on.
    let (page, work) = store.events(nowhere()).await;
    bounded(&work);
    assert!(page.events.is_empty() && page.next.is_some() && work.entries >= ENTRIES);
}

/// What a page does while it looks at many entries does not keep others from their turn, on one thread.
#[tokio::test]
async fn a_long_page_gives_others_their_turn() {
    let store = Filled::new(6_000);
    let turns = Arc::new(AtomicUsize::new(0));
    let others = Arc::clone(&turns);
    let other = tokio::spawn(async move {
        loop {
            others.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    let (_, offers) = store.offers(OffersOf::All, true, 0, 500).await;
    let (_, events) = store.events(nowhere()).await;
    other.abort();
    let turns = turns.load(Ordering::Relaxed);
    // A frame of an import has some hundred entries, and is read at once.
    assert!(turns >= offers.entries / 64 + events.entries / 640, "{turns}");
}
