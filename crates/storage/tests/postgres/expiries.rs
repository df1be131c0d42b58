//! Processes that share a database share its expiries.

use crate::Postgres;
use crate::conformance::Backend as _;
use crate::conformance::expiries::{expire_all, until};
use crate::conformance::samples::*;
use crate::open;
use futures_util::future::join_all;
use lendpay_cluster::Cluster;
use lendpay_domain::event::Subject;
use lendpay_domain::offer::Status;
use lendpay_domain::{OfferId, Store};
use std::sync::Arc;
use tokio_postgres::NoTls;

/// Offers of a partner that expire at the same moment, numbered from 0.
async fn with_due_offers(store: &impl Store, count: u64) {
    with_partner(store, 1).await;
    join_all((0..count).map(|n| with_offer(store, 1, n, until(100)))).await;
}

async fn expired(store: &impl Store) -> Vec<OfferId> {
    let reached = |subject| match subject {
        Subject::Offer { offer, status: Status::Expired, .. } => Some(offer),
        _ => None,
    };
    let mut found: Vec<_> = all_events(store).await.iter().filter_map(|event| reached(event.subject)).collect();
    found.sort_unstable();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_record_each_expiry_once() {
    let backend = Postgres::fresh().await;
    let (one, other) = (backend.store(), Arc::new(open(&backend.address).await));
    with_due_offers(&**one, 1_000).await;
    tokio::join!(expire_all(&**one, at(200)), expire_all(&*other, at(200)));
    // Whoever finds nothing left may end while the other still works.
    assert!(expired(&**one).await.into_iter().eq((0..1_000).map(offer)));
    assert_eq!(expired(&*other).await.len(), 1_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offer_that_is_held_delays_no_other_and_expires_later() {
    let url = Cluster::shared().database();
    let backend = Postgres::at(&url).await;
    let store = backend.store();
    with_due_offers(&**store, 50).await;
    let (holder, connection) = tokio_postgres::connect(&url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    let hold = format!("BEGIN; SELECT FROM offers WHERE offer_id = '{}' FOR UPDATE", offer(7));
    holder.batch_execute(&hold).await.expect("works");
    expire_all(&**store, at(200)).await;
    let others: Vec<_> = (0..50).filter(|n| *n != 7).map(offer).collect();
    assert_eq!(expired(&**store).await, others);
    holder.batch_execute("ROLLBACK").await.expect("works");
    expire_all(&**store, at(200)).await;
    assert_eq!(expired(&**store).await.len(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offer_that_cannot_be_read_stops_no_other() {
    let url = Cluster::shared().database();
    let backend = Postgres::at(&url).await;
    let store = backend.store();
    with_due_offers(&**store, 20).await;
    let sql = format!("UPDATE offers SET terms = set_byte(terms, 3, 0) WHERE offer_id = '{}'", offer(7));
    Cluster::shared().sql(url.rsplit('/').next().expect("a name"), &sql);
    expire_all(&**store, at(200)).await;
    assert!(expired(&**store).await.into_iter().eq((0..20).filter(|n| *n != 7).map(offer)));
}
