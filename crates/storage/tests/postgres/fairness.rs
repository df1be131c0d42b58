//! A partner that has much to do delays another by a few groups, not by everything that it has.

use crate::Postgres;
use crate::conformance::Backend as _;
use crate::conformance::samples::*;
use lendpay_domain::event::Subject;
use lendpay_domain::query::FindEvents;
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_storage::{PostgresOptions, PostgresStore};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use tokio::task::JoinSet;

/// How many commands the busy partner has under way, and how many of them wait at least when another's comes. In the
/// order in which they come all of these would be carried out before it.
const BUSY: usize = 4_000;
const WAITING: usize = 3_000;
/// So many are carried out at the most before another's: the two groups of 256 that are under way, and its own. Beside
/// a group that the machine lets wait, the other task may carry out some more.
const FEW: u64 = 6 * 256;

/// How many buyers of all partners are stored.
fn stored(store: &PostgresStore) -> u64 {
    let created = Subject::TYPES.iter().position(|&event| event == "buyer.created").expect("a type");
    store.stats().events[created]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partner_with_thousands_of_waiting_commands_delays_another_by_a_few_groups() {
    let address = Postgres::fresh().await.address;
    let options = PostgresOptions { queue: 2 * BUSY, ..PostgresOptions::default() };
    let store = Arc::new(PostgresStore::open(&address, options).await.expect("opens"));
    for p in [1, 2] {
        with_partner(&*store, p).await;
    }
    let next = Arc::new(AtomicU64::new(1_000));
    let mut busy = JoinSet::new();
    for _ in 0..BUSY {
        let (store, next) = (Arc::clone(&store), Arc::clone(&next));
        busy.spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                store.run(creation(1, n, None, description(), 3)).await.expect("works");
            }
        });
    }
    let mut before = Vec::new();
    for n in 0..20 {
        while store.stats().queued < WAITING {
            tokio::task::yield_now().await;
        }
        let mut command = pin!(store.run(creation(2, n, None, description(), 3)));
        // It waits from its first poll on.
        let answer = poll_fn(|context| Poll::Ready(command.as_mut().poll(context))).await;
        assert!(answer.is_pending(), "{answer:?}");
        before.push(stored(&store));
        command.await.expect("works");
    }
    busy.shutdown().await;

    let (mut delays, mut seen, mut after) = (Vec::new(), 0_u64, Some(0));
    while let Some(from) = after {
        let page = store.find_events(FindEvents::all(from, 1_000)).await.expect("works");
        for event in page.events.iter().filter(|event| matches!(event.subject, Subject::Buyer { .. })) {
            if event.partner == Some(partner(2)) {
                // This thread may have waited before it looked.
                delays.push(seen.saturating_sub(before[delays.len()]));
            }
            seen += 1;
        }
        after = page.next;
    }
    assert_eq!(delays.len(), before.len());
    assert!(delays.iter().all(|&commands| commands <= FEW), "{delays:?}");
}
