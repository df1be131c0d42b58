//! Events: in order, complete, each once.

use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::event::Subject;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::query::FindEvents;
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
    assert_eq!(types, ["offer.created", "buyer.created", "offer.accepted", "offer.advanced", "offer.archived"]);
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

pub async fn a_reader_beside_64_writers_gets_each_event_once<S: Store>(store: &Arc<S>) {
    const WRITERS: u64 = 64;
    const EACH: u64 = 20;
    with_partner(&**store, 1).await;
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
        let after = seen.last().map_or(0, |event: &lendpay_domain::event::Event| event.sequence);
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
    for event in &seen {
        *counts.entry(event.subject.event_type()).or_default() += 1;
    }
    let each = (WRITERS * EACH) as usize;
    assert_eq!(counts, [("offer.created", each), ("offer.accepted", each), ("buyer.created", each)].into());
    assert_eq!(seen, all_events(&**store).await);
}
