//! Exports: everything, as it was at one moment.

use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::change::{Change, Record};
use lendpay_domain::command::DeleteEndpoint;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::store::Export;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Every record of a new export.
pub async fn everything<S: Store>(store: &S) -> Vec<Record> {
    rest(&mut store.export().await.expect("works")).await
}

async fn rest(export: &mut impl Export) -> Vec<Record> {
    let mut records = Vec::new();
    loop {
        let more = export.next().await.expect("works");
        if more.is_empty() {
            return records;
        }
        records.extend(more);
    }
}

/// One of every kind of change.
pub async fn one_of_everything<S: Store>(store: &S) {
    with_partner(store, 1).await;
    store.run(add_key(key(1, 1))).await.expect("works");
    store.run(add_key(key(1, 2))).await.expect("works");
    store.run(expire(1, 2, 9, 2)).await.expect("works");
    store.run(revoke(1, 2, 2)).await.expect("works");
    with_offer(store, 1, 1, bare_terms()).await;
    store.run(put_offer(1, 1, terms(), 2)).await.expect("works");
    done(store.run(accept(1, 1, 3)).await.expect("works"));
    store.run(creation(1, 1, Some("k"), description(), 3)).await.expect("works");
    store.run(creation(1, 2, None, description(), 3)).await.expect("works");
    store.run(add_endpoint(endpoint(1, 1))).await.expect("works");
    store.run(DeleteEndpoint { id: endpoint_id(1), stamp: operator(3) }).await.expect("works");
    store.note_use(key(1, 1).hash, at(4));
    store.check().await.expect("works");
}

/// What each kind of change is called here.
fn kind(record: &Record) -> &'static str {
    match record.change {
        Change::PartnerPut(_) => "partner",
        Change::KeyAdded(_) => "key",
        Change::KeyRevoked { .. } => "revocation",
        Change::KeyExpirySet { .. } => "expiry",
        Change::KeyUsed { .. } => "use",
        Change::ApplicationPut { .. } => "application",
        Change::OfferCreated { .. } => "offer",
        Change::TermsReplaced { .. } => "terms",
        Change::OfferMoved { .. } => "move",
        Change::BuyerCreated { .. } => "buyer",
        Change::BuyerRead { .. } => "read",
        Change::EndpointPut { .. } => "webhook",
        Change::DeliveriesNoted(_) => "deliveries",
    }
}

pub async fn an_export_holds_every_change_with_its_cause<S: Store>(store: &Arc<S>) {
    assert_eq!(everything(&**store).await, []);
    one_of_everything(&**store).await;
    let mut records = everything(&**store).await;
    // Nobody waits until the use of a key is kept.
    while !records.iter().any(|record| kind(record) == "use") {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        records = everything(&**store).await;
    }
    let mut kinds: Vec<_> = records.iter().map(kind).collect();
    kinds.sort_unstable();
    let wanted = [
        "application",
        "buyer",
        "buyer",
        "deliveries",
        "expiry",
        "key",
        "key",
        "move",
        "offer",
        "partner",
        "revocation",
        "terms",
        "use",
        "webhook",
        "webhook",
    ];
    assert_eq!(kinds, wanted);
    assert!(records.iter().all(|record| record.cause.is_none() == record.change.never_has_cause()), "{records:?}");
    let events: Vec<_> = records.iter().filter_map(Record::event).collect();
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
                    let id = 1_000_000 * (writer + 1) + n;
                    store.run(creation(1, id, None, description(), 3)).await.expect("works");
                    store.run(go(id % 50, Action::Accept, 4)).await.expect("works");
                    // A store that never waits would leave no thread to the reader.
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for _ in 0..5 {
        let before = all_events(&**store).await;
        let mut export = store.export().await.expect("works");
        let begun = all_events(&**store).await;
        let mut after = Vec::new();
        // The writers go on before it is read.
        while after.len() <= begun.len() {
            after = all_events(&**store).await;
        }
        let events: Vec<_> = rest(&mut export).await.iter().filter_map(Record::event).collect();
        assert!((before.len()..=begun.len()).contains(&events.len()));
        assert_eq!(events, after[..events.len()]);
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.expect("writes work");
    }
}
