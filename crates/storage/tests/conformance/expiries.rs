//! Expiries are recorded when they are due.

use super::Backend;
use super::exports::everything;
use super::samples::*;
use chrono::TimeDelta;
use lendpay_domain::command::Stamp;
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Status, Terms};
use lendpay_domain::{Store, Timestamp};
use std::collections::HashSet;
use std::sync::Arc;

/// Records everything that is due at a moment, a few offers at a time.
pub async fn expire_all(store: &impl Store, now: Timestamp) {
    expire_by(store, now, 3).await;
}

/// As [`expire_all`], about so many offers at a time.
async fn expire_by(store: &impl Store, now: Timestamp, most: usize) {
    let mut after = None;
    loop {
        after = store.expire(after, now, most, || Stamp { actor: Actor::Clock, ..stamp(0) }).await.expect("works");
        if after.is_none() {
            return;
        }
    }
}

/// Terms that hold until a moment.
pub fn until(seconds: i64) -> Terms {
    Terms { expiry_at: Some(at(seconds)), ..terms() }
}

/// The expiries among the events: the offers' numbers, in order.
async fn expired(store: &impl Store) -> Vec<u64> {
    let number = |event: &Event| match event.subject {
        Subject::Offer { offer: id, status: Status::Expired, .. } => {
            assert_eq!((event.actor, event.partner), (Actor::Clock, Some(partner(1))));
            (0..5_000).find(|n| offer(*n) == id)
        }
        _ => None,
    };
    let mut found: Vec<_> = all_events(store).await.iter().filter_map(number).collect();
    found.sort_unstable();
    found
}

pub async fn what_is_due_expires_once_and_nothing_else_does<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    for (n, terms) in [(1, until(100)), (2, until(200)), (3, bare_terms()), (4, until(100)), (5, until(100))] {
        with_offer(&**store, 1, n, terms).await;
    }
    for (n, terms) in [(6, until(500)), (7, until(100)), (8, until(100)), (9, until(-100))] {
        with_offer(&**store, 1, n, terms).await;
    }
    done(store.run(accept(1, 4, 5)).await.expect("works"));
    done(store.run(go(8, Action::Decline, 5)).await.expect("works"));
    // Later, earlier, and later and back again.
    for (n, seconds) in [(5, 500), (6, 100), (7, 500), (7, 100)] {
        store.run(put_offer(1, n, until(seconds), 6)).await.expect("works");
    }
    expire_all(&**store, at(99)).await;
    assert_eq!(expired(&**store).await, [9], "it had expired when it was created");
    for _ in 0..2 {
        expire_all(&**store, at(150)).await;
        assert_eq!(expired(&**store).await, [1, 6, 7, 9]);
    }
    let found = all_events(&**store).await;
    for event in found.iter().filter(|event| event.actor == Actor::Clock) {
        let expiry = if event.subject.ids().1 == Some(offer(9)) { at(-100) } else { at(100) };
        assert_eq!(event.occurred_at, expiry);
    }
    let ids: HashSet<_> = found.iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), found.len(), "each has an id of its own");
    // Stored: whoever's clock is behind sees it too.
    let seen = store.find_offer(application(1), offer(6), at(0)).await.expect("works").expect("there");
    assert_eq!((seen.status, seen.status_changed_at), (Status::Expired, at(100)));
    expire_all(&**store, at(10_000)).await;
    assert_eq!(expired(&**store).await, [1, 2, 5, 6, 7, 9]);
}

pub async fn an_accept_that_finds_an_expiry_leaves_nothing_to_record<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_offer(&**store, 1, 1, until(100)).await;
    store.run(accept(1, 1, 200)).await.expect("works");
    expire_all(&**store, at(300)).await;
    assert_eq!(expired(&**store).await, [1]);
}

/// Many at one moment, beside accepts: each has one end.
pub async fn expiries_beside_accepts_of_the_same_offers<S: Store>(store: &Arc<S>) {
    const OFFERS: u64 = 300;
    with_partner(&**store, 1).await;
    for n in 0..OFFERS {
        with_offer(&**store, 1, n, until(100)).await;
    }
    let accepts = async {
        for n in 0..OFFERS {
            // Half of them see the offer before its expiry: they come too late, or in time.
            store.run(accept(1, n, if n % 2 == 0 { 99 } else { 100 })).await.expect("works");
        }
    };
    tokio::join!(expire_all(&**store, at(200)), expire_by(&**store, at(200), OFFERS as usize), accepts);
    let mut ends: Vec<_> = all_events(&**store)
        .await
        .into_iter()
        .filter(|event| !matches!(event.subject.event_type(), "offer.created"))
        .filter_map(|event| event.subject.ids().1)
        .collect();
    ends.sort_unstable();
    assert!(ends.iter().copied().eq((0..OFFERS).map(offer)), "{}", ends.len());
}

pub async fn what_is_due_is_found_after_a_restart_a_crash_and_an_import<B: Backend>() {
    let backend = B::fresh().await;
    with_partner(&**backend.store(), 1).await;
    for n in 0..100 {
        with_offer(&**backend.store(), 1, n, until(100 + n as i64 % 7)).await;
    }
    let backend = backend.reopen().await;
    // A tenth of a second after those of 101 at the latest.
    expire_all(&**backend.store(), at(101) + TimeDelta::milliseconds(500)).await;
    let records = everything(&**backend.store()).await;
    let (imported, done) = B::fresh().await.import(records, false, at(0)).await;
    done.expect("an export can be imported");
    for backend in [backend.crash().await, imported] {
        let first: Vec<_> = (0..100).filter(|n| n % 7 < 2).collect();
        assert_eq!(expired(&**backend.store()).await, first);
        expire_all(&**backend.store(), at(200)).await;
        let backend = backend.crash().await;
        assert_eq!(expired(&**backend.store()).await, (0..100).collect::<Vec<_>>());
        expire_all(&**backend.store(), at(10_000)).await;
        assert_eq!(expired(&**backend.store()).await.len(), 100);
    }
}
