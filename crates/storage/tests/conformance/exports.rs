//! Exports: everything, as it was at one moment.

use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::event::Event;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::record::Record;
use lendpay_domain::store::{AddKey, PutOffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Every record of a new export.
pub async fn everything<S: Store>(store: &S) -> Vec<Record> {
    rest(&mut store.export().await.expect("works")).await
}

async fn rest(export: &mut impl lendpay_domain::record::Export) -> Vec<Record> {
    let mut records = Vec::new();
    loop {
        let more = export.next().await.expect("works");
        if more.is_empty() {
            return records;
        }
        records.extend(more);
    }
}

fn event(record: &Record) -> Option<Event> {
    match record {
        Record::OfferCreated { event, .. } | Record::OfferMoved { event } | Record::BuyerCreated { event, .. } => {
            Some(event.clone())
        }
        Record::Partner { .. }
        | Record::Key { .. }
        | Record::Application { .. }
        | Record::OfferTerms { .. }
        | Record::KeyUsed { .. } => None,
    }
}

/// One of every kind of record.
pub async fn one_of_everything<S: Store>(store: &S) {
    with_partner(store, 1).await;
    store.add_key(AddKey { key: key(1, 1) }).await.expect("works");
    with_offer(store, 1, 1, bare_terms()).await;
    let put = PutOffer { application: application(1), offer: offer(1), terms: terms(), stamp: operator(2) };
    store.put_offer(put).await.expect("works");
    accepted(store.accept_offer(accept(1, 1, 3)).await.expect("works"));
    store.create_buyer(creation(1, 1, Some("k"), description(), 3)).await.expect("works");
    store.create_buyer(creation(1, 2, None, description(), 3)).await.expect("works");
    store.note_use(key(1, 1).hash, at(4));
    store.check().await.expect("works");
}

pub async fn an_export_holds_everything<S: Store>(store: &Arc<S>) {
    assert_eq!(everything(&**store).await, []);
    one_of_everything(&**store).await;
    let records = everything(&**store).await;
    let kinds: Vec<_> = records
        .iter()
        .map(|record| match record {
            Record::Partner { .. } => "partner",
            Record::Key { .. } => "key",
            Record::Application { .. } => "application",
            Record::OfferCreated { .. } => "offer",
            Record::OfferTerms { .. } => "terms",
            Record::OfferMoved { .. } => "move",
            Record::BuyerCreated { .. } => "buyer",
            Record::KeyUsed { .. } => "use",
        })
        .collect();
    for kind in ["partner", "key", "application", "offer", "move", "buyer", "use"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let events: Vec<_> = records.iter().filter_map(event).collect();
    assert_eq!(events, all_events(&**store).await);
}

pub async fn an_export_is_one_moment_beside_writers<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    for n in 0..50 {
        with_offer(&**store, 1, n, bare_terms()).await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (store, stop) = (Arc::clone(store), Arc::clone(&stop));
            tokio::spawn(async move {
                for n in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let id = 1_000 * (writer + 1) + n;
                    store.create_buyer(creation(1, id, None, description(), 3)).await.expect("works");
                    store.move_offer(go(id % 50, Action::Accept, 4)).await.expect("works");
                }
            })
        })
        .collect();
    for _ in 0..5 {
        let before = all_events(&**store).await;
        let mut export = store.export().await.expect("works");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let events: Vec<_> = rest(&mut export).await.iter().filter_map(event).collect();
        let after = all_events(&**store).await;
        assert!(before.len() <= events.len() && events.len() < after.len());
        assert_eq!(events, after[..events.len()]);
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.expect("writes work");
    }
}
