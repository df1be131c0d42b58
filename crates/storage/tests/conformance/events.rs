//! Events: in order, complete, each once.

use super::samples::*;
use lendpay_domain::command::{AddKey, PutApplication, PutPartner, RevokeKey, Stamp};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::query::{EventFilter, EventTypes, FindEvents};
use lendpay_domain::{PartnerId, Store};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub async fn events_tell_everything_in_order<S: Store>(store: &Arc<S>) {
    assert_eq!(all_events(&**store).await, []);
    with_partner(&**store, 1).await;
    with_offer(&**store, 1, 1, terms()).await;
    store.run(creation(1, 1, None, description(), 3)).await.expect("works");
    for action in [Action::Accept, Action::Advance, Action::Archive] {
        done(store.run(go(1, action, 4)).await.expect("works"));
    }
    let all = all_events(&**store).await;
    let types: Vec<_> = all.iter().map(|event| event.subject.event_type()).collect();
    let wanted = [
        "partner.created",
        "application.created",
        "offer.created",
        "buyer.created",
        "offer.accepted",
        "offer.advanced",
        "offer.archived",
    ];
    assert_eq!(types, wanted);
    assert!(all.is_sorted_by(|a, b| a.sequence < b.sequence));
    // From anywhere, in pages of any size.
    for limit in 1..=all.len() + 1 {
        let (mut seen, mut after) = (Vec::new(), 0);
        loop {
            let page = store.find_events(FindEvents::all(after, limit)).await.expect("works").events;
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = last.sequence;
            seen.extend(page);
        }
        assert_eq!(seen, all);
    }
    for (after, limit) in [(0, 0), (u64::MAX, 10), (u64::MAX - 1, 10)] {
        assert_eq!(store.find_events(FindEvents::all(after, limit)).await.expect("works").events, []);
    }
}

/// Each change by an operator is told once, with who made it; what changes nothing is not told.
pub async fn what_operators_do_is_told_with_their_names<S: Store>(store: &Arc<S>) {
    let by = |actor, seconds| Stamp { actor, ..stamp(seconds) };
    let put = |text, stamp| PutPartner { stamp, ..put_partner(1, text, None, 0) };
    let own = |n, stamp| PutApplication { stamp, ..put_application(n, 1) };
    let (named, single) = (named_operator(), Actor::Operator);
    let stamps: Vec<_> = [named, named, single, named, named].into_iter().zip(0..).map(|(a, s)| by(a, s)).collect();
    store.run(put("a", stamps[0])).await.expect("works");
    store.run(put("b", stamps[1])).await.expect("works");
    store.run(own(7, stamps[2])).await.expect("works");
    store.run(AddKey { key: key(1, 1), stamp: stamps[3] }).await.expect("works");
    store.run(RevokeKey { stamp: stamps[4], ..revoke(1, 1, 0) }).await.expect("works");
    // The same again, and what is refused.
    store.run(put("b", by(named, 5))).await.expect("works");
    store.run(own(7, by(named, 5))).await.expect("works");
    store.run(AddKey { key: key(1, 1), stamp: by(named, 5) }).await.expect("works");
    store.run(revoke(1, 1, 5)).await.expect("works");
    store.run(put_application(7, 2)).await.expect("works");
    store.run(add_key(key(2, 2))).await.expect("works");
    store.run(revoke(1, 2, 5)).await.expect("works");
    let found = all_events(&**store).await;
    let subjects = [
        Subject::PartnerCreated,
        Subject::PartnerUpdated,
        Subject::ApplicationCreated(application(7)),
        Subject::KeyCreated(key_id(1)),
        Subject::KeyRevoked(key_id(1)),
    ];
    assert_eq!(found.len(), subjects.len(), "{found:?}");
    for ((event, stamp), subject) in found.iter().zip(stamps).zip(subjects) {
        let Stamp { at: occurred_at, event: id, actor, operation } = stamp;
        let (sequence, partner) = (event.sequence, Some(partner(1)));
        let (replaced, reason) = (None, None);
        let wanted = Event { sequence, id, occurred_at, partner, subject, actor, operation, replaced, reason };
        assert_eq!(*event, wanted);
        let types = EventTypes::named(subject.event_type()).expect("a type");
        let filter = EventFilter { types, ..EventFilter::default() };
        let page = store.find_events(FindEvents { after: 0, limit: 10, filter }).await.expect("works");
        assert_eq!(page.events, std::slice::from_ref(event));
    }
    let filter = EventFilter { application: Some(application(7)), ..EventFilter::default() };
    let page = store.find_events(FindEvents { after: 0, limit: 10, filter }).await.expect("works");
    assert_eq!(page.events, found[2..3]);
}

pub async fn a_reader_beside_64_writers_gets_each_event_once<S: Store>(store: &Arc<S>) {
    const WRITERS: u64 = 64;
    const EACH: u64 = 20;
    with_partner(&**store, 1).await;
    let set_up = all_events(&**store).await;
    let left = Arc::new(AtomicUsize::new(WRITERS as usize));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, left) = (Arc::clone(store), Arc::clone(&left));
            tokio::spawn(async move {
                for n in writer * EACH..(writer + 1) * EACH {
                    with_offer(&*store, 1, n, terms()).await;
                    done(store.run(accept(1, n, 5)).await.expect("works"));
                    store.run(creation(1, n, None, description(), 6)).await.expect("works");
                }
                left.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    let mut seen = Vec::new();
    loop {
        let finished = left.load(Ordering::SeqCst) == 0;
        let after = seen.last().map_or(0, |event: &Event| event.sequence);
        let page = store.find_events(FindEvents::all(after, 50)).await.expect("works").events;
        // What an event tells is there already.
        if let Some(Subject::Offer { application, offer, status }) = page.last().map(|event| event.subject) {
            let found = store.find_offer(application, offer, at(7)).await.expect("works").expect("there");
            assert!(found.status == status || status.successors().contains(&found.status));
        }
        if page.is_empty() && finished {
            break;
        }
        seen.extend(page);
    }
    for writer in writers {
        writer.await.expect("a writer's commands all work");
    }
    assert!(seen.is_sorted_by(|a, b| a.sequence < b.sequence));
    let mut counts: HashMap<_, usize> = HashMap::new();
    for event in &seen[set_up.len()..] {
        *counts.entry(event.subject.event_type()).or_default() += 1;
    }
    let each = (WRITERS * EACH) as usize;
    assert_eq!(counts, [("offer.created", each), ("offer.accepted", each), ("buyer.created", each)].into());
    assert_eq!(seen, all_events(&**store).await);
}

/// Many wait, each for what comes after another change; nobody is woken for what was there.
pub async fn whoever_waits_learns_of_each_change<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    for n in 0..20 {
        let seen = store.find_events(FindEvents::all(0, 1_000)).await.expect("works").seen;
        let waiters: Vec<_> = (0..50)
            .map(|_| {
                let store = Arc::clone(store);
                tokio::spawn(async move { store.wait_for_changes(seen).await })
            })
            .collect();
        store.wait_for_changes(seen - 1).await.expect("there is one");
        assert!(waiters.iter().all(|waiter| !waiter.is_finished()));
        with_offer(&**store, 1, n, terms()).await;
        for waiter in waiters {
            assert_eq!(waiter.await.expect("no panic"), Ok(()));
        }
        let page = store.find_events(FindEvents::all(seen, 10)).await.expect("works");
        assert_eq!((page.events.len(), page.seen, page.next), (1, page.last, None));
    }
    let page = store.find_events(FindEvents::all(0, 5)).await.expect("works");
    assert_eq!((page.next, Some(page.seen)), (Some(page.seen), page.events.last().map(|event| event.sequence)));
}

/// However much has been done that nobody has read yet.
pub async fn a_list_ends_only_when_it_holds_everything_that_was_done_before_it<S: Store>(store: &Arc<S>) {
    const WRITERS: u64 = 64;
    const EACH: u64 = 100;
    const END: u64 = i64::MAX.unsigned_abs();
    with_partner(&**store, 1).await;
    for round in 0..2 {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let store = Arc::clone(store);
                tokio::spawn(async move {
                    let first = (round * WRITERS + writer) * EACH;
                    for n in first..first + EACH {
                        store.run(creation(1, n, None, description(), 3)).await.expect("works");
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.expect("a writer's commands all work");
        }
        let (mut after, mut pages) = (END, Vec::new());
        loop {
            let page = store.find_events(FindEvents::all(after, 1)).await.expect("works");
            assert_eq!(page.events, []);
            pages.push(page.last);
            let Some(next) = page.next else { break };
            after = next;
        }
        let done = 2 + (round + 1) * WRITERS * EACH;
        assert!(pages.last() >= Some(&done), "{pages:?}, {done} were done");
    }
}

pub async fn a_reader_for_some_partners_gets_all_of_their_events<S: Store>(store: &Arc<S>) {
    for n in 1..4 {
        with_partner(&**store, n).await;
    }
    for n in 0..60 {
        store.run(creation(1 + n % 3, n, None, description(), 3)).await.expect("works");
    }
    let wanted: Arc<[PartnerId]> = [partner(1), partner(3)].into();
    let of_wanted = |event: &Event| event.partner.is_some_and(|partner| wanted.contains(&partner));
    let (mut after, mut found) = (0, Vec::new());
    loop {
        let page = store.find_events_for(after, 7, Arc::clone(&wanted)).await.expect("works");
        assert!(page.events.len() <= 7 && page.seen >= after);
        found.extend(page.events.into_iter().filter(of_wanted));
        let Some(next) = page.next else {
            assert_eq!(page.seen, page.last);
            break;
        };
        assert_eq!(page.seen, next);
        after = next;
    }
    let all = all_events(&**store).await;
    assert_eq!(found, all.into_iter().filter(of_wanted).collect::<Vec<_>>());
    assert!(found.len() > 40);
}
