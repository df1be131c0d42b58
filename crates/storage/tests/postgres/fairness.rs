//! A partner that has much to do delays another by a few groups, not by everything that it has.

use crate::Postgres;
use crate::conformance::Backend as _;
use crate::conformance::samples::*;
use lendpay_domain::event::Subject;
use lendpay_domain::query::FindEvents;
use lendpay_domain::store::{Commands as _, Queries as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// How many commands the busy partner has under way. In the order in which they come all of them would be carried out
/// before another's.
const BUSY: usize = 2_000;
/// So many were carried out at the most before another's, in groups of 256: those that did not wait any more, which are
/// half of all, and what its own group and the one beside that hold.
const FEW: u64 = BUSY as u64 / 2 + 2 * 256;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partner_with_2000_waiting_commands_delays_another_by_a_few_groups() {
    let backend = Postgres::fresh().await;
    for p in [1, 2] {
        with_partner(&**backend.store(), p).await;
    }
    let (next, done) = (Arc::new(AtomicU64::new(1_000)), Arc::new(AtomicU64::new(0)));
    let mut busy = JoinSet::new();
    for _ in 0..BUSY {
        let (store, next, done) = (Arc::clone(backend.store()), Arc::clone(&next), Arc::clone(&done));
        busy.spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                store.run(creation(1, n, None, description(), 3)).await.expect("works");
                done.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let store = backend.store();
    let mut before = Vec::new();
    for n in 0..20 {
        while store.stats().queued < BUSY / 2 {
            tokio::task::yield_now().await;
        }
        before.push(done.load(Ordering::Relaxed));
        store.run(creation(2, n, None, description(), 3)).await.expect("works");
    }
    busy.shutdown().await;

    let (mut delays, mut of_busy, mut after) = (Vec::new(), 0, Some(0));
    while let Some(from) = after {
        let page = store.find_events(FindEvents::all(from, 1_000)).await.expect("works");
        for event in page.events.iter().filter(|event| matches!(event.subject, Subject::Buyer { .. })) {
            match event.partner == Some(partner(1)) {
                true => of_busy += 1,
                false => delays.push(of_busy - before[delays.len()]),
            }
        }
        after = page.next;
    }
    assert_eq!(delays.len(), before.len());
    assert!(delays.iter().all(|&commands| commands <= FEW), "{delays:?}");
}
