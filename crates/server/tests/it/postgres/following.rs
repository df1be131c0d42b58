//! A reader of events beside two processes that write at full speed.

use super::{Service, database};
use crate::process::{client, run};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many writes are acknowledged before it ends.
const WRITES: usize = 4_000;

#[test]
fn a_reader_gets_each_event_once_in_order_and_never_late() {
    let store = database();
    let (one, other) = (Service::start(&store, &[]), Service::start(&store, &[]));
    let key = one.partner().text;
    let acknowledged = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let (mut seen, mut last, mut polls) = (HashSet::new(), 0, 0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..32)
            .map(|n| {
                let (service, key, acknowledged, next) =
                    (if n % 2 == 0 { &one } else { &other }, &key, &acknowledged, &next);
                scope.spawn(move || {
                    let agent = client();
                    loop {
                        let n = next.fetch_add(1, Ordering::SeqCst);
                        if n >= WRITES {
                            return;
                        }
                        let reply = service.create(&agent, key, &format!("key-{n}")).expect("an answer");
                        assert_eq!(reply.status, 201, "{}", reply.body);
                        let id = reply.body["id"].as_str().expect("an id").to_owned();
                        acknowledged.lock().expect("unpoisoned").push(id);
                    }
                })
            })
            .collect();
        loop {
            let ended = writers.iter().all(std::thread::ScopedJoinHandle::is_finished);
            // Whatever was acknowledged before the poll must be in it: it is never late at all.
            let before = acknowledged.lock().expect("unpoisoned").len();
            let reader = if polls % 2 == 0 { &one } else { &other };
            for event in reader.events(last) {
                let sequence = event["sequence"].as_u64().expect("a number");
                assert!(sequence > last, "{sequence} after {last}");
                last = sequence;
                let buyer = event["buyerId"].as_str().expect("a buyer").to_owned();
                assert!(seen.insert(buyer), "twice: {event}");
            }
            let missing =
                acknowledged.lock().expect("unpoisoned")[..before].iter().find(|id| !seen.contains(*id)).cloned();
            assert_eq!(missing, None, "acknowledged before the poll, and not in it");
            polls += 1;
            if ended {
                break;
            }
        }
    });
    assert_eq!(seen.len(), WRITES);
    // No second reader sees another order.
    let again: Vec<_> = other.events(0).iter().map(|event| event["sequence"].as_u64()).collect();
    assert_eq!((again.len(), again.last().copied().flatten()), (WRITES, Some(last)));
}

/// A database that was restored, under processes that are told nothing.
#[test]
fn a_reader_of_a_database_with_a_new_history_is_told_to_begin_again() {
    let store = database();
    let service = Service::start(&store, &[]);
    service.partner();
    service.offers(3);
    let (_, page) = service.operate("GET", "/operator/events", None);
    let cursor = |page: &Value| {
        let last = page["items"].as_array().and_then(|items| items.last()).expect("many");
        format!("{}:{}", page["history"].as_str().expect("an id"), last["sequence"])
    };
    let after = |cursor: &str| service.operate("GET", &format!("/operator/events?after={cursor}"), None);
    assert_eq!(after(&cursor(&page)).0, 200);
    let begun = run(&["history", "new", "--store", &store]);
    assert!(begun.status.success(), "{}", begun.stderr);
    let (status, refused) = after(&cursor(&page));
    assert_eq!((status, &refused["errorCode"]), (409, &"CursorUnknown".into()), "{refused}");
    let (status, again) = after("0");
    assert_eq!((status, &again["items"]), (200, &page["items"]), "nothing else has changed");
    assert_eq!(after(&cursor(&again)).0, 200);
    assert_eq!(after("1000").0, 409);
}
