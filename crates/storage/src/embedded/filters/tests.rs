//! Filters: what they pass over, and that they change no answer.

use super::*;
use crate::embedded::{EmbeddedOptions, EmbeddedStore};
use lendpay_domain::event::Event;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::query::{EventTypes, FindEvents, Scope};
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_domain::testing::samples::*;
use lendpay_domain::{OperationId, StoreError};
use std::path::Path;
use tempfile::TempDir;

fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, EmbeddedOptions::default()).expect("opens")
}

/// Offers and buyers of three partners, with numbers from `first` on.
async fn fill(store: &EmbeddedStore, first: u64) {
    for n in first..first + 60 {
        let p = n % 3 + 1;
        store.run(put_partner(p, "a partner", None, 0)).await.expect("works");
        store.run(put_application(p, p)).await.expect("works");
        store.run(put_offer(p, n, terms(), n as i64)).await.expect("works");
        store.run(accept(p, n, n as i64)).await.expect("works");
        if n % 10 == 0 {
            store.run(creation(p, n, None, description(), n as i64)).await.expect("works");
            store.run(go(n, Action::Archive, n as i64)).await.expect("works");
        }
    }
}

async fn found(store: &EmbeddedStore, filter: EventFilter, mut after: u64, limit: usize) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let page = store.find_events(FindEvents { after, limit, filter }).await.expect("works");
        events.extend(page.events);
        match page.next {
            None => return events,
            Some(next) => after = next,
        }
    }
}

/// Whether each filter finds, from all over the log on, what there is.
async fn finds_everything(store: &EmbeddedStore) {
    let (all, every) = (EventFilter::default(), found(store, EventFilter::default(), 0, 100).await);
    let mut filters = vec![
        EventFilter { operation: Some(stamp(0).operation), ..all },
        EventFilter { from: Some(at(20)), until: Some(at(30)), ..all },
        EventFilter { until: Some(at(0)), ..all },
        EventFilter { types: EventTypes::those(|name| name == "offer.archived"), ..all },
        EventFilter { types: EventTypes::those(|name| name.starts_with("buyer.")), ..all },
    ];
    for event in every.iter().step_by(5) {
        let (application, offer, buyer) = event.subject.ids();
        filters.extend([
            EventFilter { scope: event.partner.map_or(Scope::All, Scope::Partner), ..all },
            EventFilter { operation: Some(event.operation), ..all },
            EventFilter { application, offer, buyer, ..all },
        ]);
    }
    for filter in filters {
        for after in [0, every[every.len() / 2].sequence, u64::MAX] {
            let wanted = every.iter().filter(|event| event.sequence > after && filter.wants(event));
            let wanted: Vec<_> = wanted.cloned().collect();
            assert_eq!(found(store, filter, after, 3).await, wanted, "{filter:?} after {after}");
        }
    }
}

#[tokio::test]
async fn filters_change_no_answer() {
    let directory = TempDir::new().expect("a directory");
    let store = open(directory.path());
    let filters = |store: &EmbeddedStore| {
        let all = store.base.index.all(Table::Filters).map(|item| item.expect("works"));
        all.map(|(at, filter)| (at.to_vec(), filter.to_vec())).collect::<Vec<_>>()
    };
    fill(&store, 0).await;
    let first = filters(&store);
    assert!(first.len() > 10);
    finds_everything(&store).await;
    drop(store);
    let store = open(directory.path());
    assert_eq!(filters(&store), first);
    fill(&store, 1_000).await;
    let all = filters(&store);
    assert!(all.starts_with(&first) && all.len() > first.len());
    finds_everything(&store).await;
    drop(store);
    std::fs::remove_dir_all(directory.path().join("index")).expect("deletes");
    let store = open(directory.path());
    assert_eq!(filters(&store), all, "made from the log as they were made while it was written");
    finds_everything(&store).await;
}

/// A filter that cannot be read is told by who searches, and the last one is made again.
#[tokio::test]
async fn a_damaged_filter_is_told_or_made_again() {
    let directory = TempDir::new().expect("a directory");
    let store = open(directory.path());
    fill(&store, 0).await;
    let filters: Vec<_> = store.base.index.all(Table::Filters).map(|item| item.expect("works")).collect();
    let damage = |n: usize| store.base.index.insert(Table::Filters, &filters[n].0, b"?").expect("works");
    damage(filters.len() - 1);
    drop(store.base.make_filters().expect("works"));
    finds_everything(&store).await;
    damage(2);
    let filter = EventFilter { scope: Scope::Partner(partner(1)), ..EventFilter::default() };
    let page = store.find_events(FindEvents { after: 0, limit: 1_000, filter }).await;
    assert_eq!(page, Err(StoreError::Corrupt));
    assert!(store.problem().is_some_and(|problem| problem.contains("filters")));
    // Who wants everything needs no filter.
    assert!(!found(&store, EventFilter::default(), 0, 100).await.is_empty());
}

/// Of 100 blocks without an id about one is read although it has nothing, whether ids are random or count up.
#[test]
fn few_blocks_seem_to_hold_what_they_do_not() {
    let random = |n: u64| (u128::from(n) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes();
    for id in [random, bytes] {
        let mut block = Block { sequences: Some((1, 1_601)), ..Block::new(0) };
        block.ids = (0..1_600).map(|n| hash(id(n))).collect();
        let moment = Time::from(at(0));
        let mut ids = Vec::new();
        let (_, filter) = block.end_frame(BLOCK, &mut ids).expect("complete");
        let filter = Filter { times: Some((moment, moment)), types: u32::MAX, ..filter };
        assert_eq!(filter.ids.len(), 2_000);
        let holds = |n: &u64| {
            let operation = Some(OperationId::from_bytes(id(*n)));
            let wanted = EventFilter { operation, ..EventFilter::default() };
            filter.may_hold(&wanted).expect("whole")
        };
        assert!((0..1_600).all(|n| holds(&n)));
        let vain = (1_600..101_600).filter(holds).count();
        assert!(vain < 1_500, "{vain} of 100,000");
    }
}
