//! A partner that has much to do delays another by a few groups, not by everything that it has.

use crate::Postgres;
use crate::conformance::Backend as _;
use crate::conformance::samples::*;
use lendpay_domain::store::Commands as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// How many commands the busy partner has under way.
const BUSY: usize = 2_000;
/// Two groups are under way at once: those, the one that the command is in, and what finishes beside that. In the
/// order in which they came it would be 8.
const FEW: u64 = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partner_with_2000_waiting_commands_delays_another_by_a_few_groups() {
    let backend = Postgres::fresh().await;
    for p in [1, 2] {
        with_partner(&**backend.store(), p).await;
    }
    let next = Arc::new(AtomicU64::new(1_000));
    let mut busy = JoinSet::new();
    for _ in 0..BUSY {
        let (store, next) = (Arc::clone(backend.store()), Arc::clone(&next));
        busy.spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                store.run(creation(1, n, None, description(), 3)).await.expect("works");
            }
        });
    }
    let store = backend.store();
    let mut delays = Vec::new();
    for n in 0..20 {
        while store.stats().queued < BUSY / 2 {
            tokio::task::yield_now().await;
        }
        let before = store.stats().groups;
        store.run(creation(2, n, None, description(), 3)).await.expect("works");
        delays.push(store.stats().groups - before);
    }
    assert!(delays.iter().all(|&groups| groups <= FEW), "{delays:?}");
}
