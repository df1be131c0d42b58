//! Closing, opening again, and what a crash in the middle of a group leaves.

use crate::conformance::samples::*;
use crate::{below, open};
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::{Event, Subject};
use lendpay_domain::key::KeyRecord;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Offer;
use lendpay_domain::store::{AddKey, CreateBuyerOutcome, PutApplication, PutApplicationOutcome, PutPartner, RevokeKey};
use lendpay_domain::{KeyId, Store, StoreError};
use lendpay_storage::{SledOptions, SledStore};
use sled::IVec;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tempfile::TempDir;

const MANY: u64 = 60;

/// Everything that can be seen of a store.
#[derive(Debug, PartialEq)]
struct Seen {
    events: Vec<Event>,
    offers: Vec<Option<Offer>>,
    buyers: Vec<Buyer>,
    key: Option<KeyRecord>,
    owned: PutApplicationOutcome,
}

async fn look(store: &SledStore) -> Seen {
    let events = all_events(store).await;
    let (mut offers, mut buyers) = (Vec::new(), Vec::new());
    for n in 0..MANY {
        offers.push(store.find_offer(application(1), offer(n), at(2)).await.expect("works"));
    }
    for event in &events {
        if let Subject::Buyer(id) = event.subject {
            buyers.push(store.find_buyer(id).await.expect("works").expect("an event has its buyer"));
        }
    }
    let key = store.find_key(key(1, 1).hash).await.expect("works");
    let put = PutApplication { id: application(1), partner: partner(1) };
    Seen { events, offers, buyers, key, owned: store.put_application(put).await.expect("works") }
}

/// A little of everything, in few groups: all of it fits into what is redone.
async fn fill(store: &SledStore) {
    with_partner(store, 1).await;
    store.add_key(AddKey { key: key(1, 1) }).await.expect("works");
    let revoke = RevokeKey { partner: partner(1), key: KeyId::from_bytes(bytes(1)), at: at(4) };
    store.revoke_key(revoke).await.expect("works");
    together(MANY, async |n| drop(with_offer(store, 1, n, terms()).await)).await;
    together(MANY, async |n| {
        let command = creation(1, n, Some(&n.to_string()), description(), 3);
        store.create_buyer(command).await.expect("works");
    })
    .await;
    together(MANY, async |n| {
        let action = Action::ALL[n as usize % 4];
        store.move_offer(go(n, action, 900 + 10 * n as i64)).await.expect("works");
    })
    .await;
}

/// Polls every future before it waits for the first, so that the commands queue up and share groups.
async fn together(count: u64, run: impl AsyncFn(u64)) {
    let mut waiting: Vec<_> = (0..count).map(|n| Box::pin(run(n))).collect();
    let mut context = Context::from_waker(Waker::noop());
    waiting.retain_mut(|future| future.as_mut().poll(&mut context).is_pending());
    for future in waiting {
        future.await;
    }
}

#[tokio::test]
async fn everything_is_there_after_closing_and_dropping() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    fill(&store).await;
    let before = look(&store).await;
    assert_eq!(store.close().await, Ok(()));
    assert_eq!(store.accept_offer(accept(1, 1, 5)).await, Err(StoreError::Unavailable));
    assert_eq!(all_events(&store).await, before.events, "reads go on");
    drop(store);
    let store = open(&directory);
    assert_eq!(look(&store).await, before);
    // The order goes on where it ended.
    let last = before.events.last().expect("many").sequence;
    store.create_buyer(creation(1, 999, None, description(), 5)).await.expect("works");
    assert_eq!(types_after(&store, last).await, ["buyer.created"]);
    assert_eq!(store.failure_reason(), None);
    let stats = store.stats();
    assert_eq!((stats.queued, stats.commands, stats.groups), (0, 2, 1), "an application unchanged, a buyer");
}

#[tokio::test]
async fn clients_are_known_after_opening() {
    let directory = TempDir::new().expect("a temporary directory");
    let put = |n, client: Option<&str>| PutPartner {
        id: partner(n),
        name: name("a partner"),
        oauth_client_id: client.map(str::to_owned),
        at: at(0),
    };
    let store = open(&directory);
    for command in [put(1, Some("a")), put(2, Some("b")), put(1, Some("c"))] {
        store.put_partner(command).await.expect("works");
    }
    drop(store);
    let store = open(&directory);
    for (client, found) in [("a", None), ("b", Some(partner(2))), ("c", Some(partner(1)))] {
        assert_eq!(store.find_client(client).await, Ok(found), "{client}");
    }
}

#[tokio::test]
async fn what_waits_is_done_when_the_store_is_dropped() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    for n in 0..200 {
        let mut future = pin!(store.create_buyer(creation(1, n, None, description(), 3)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending() || store.stats().commands > 0);
    }
    drop(store);
    assert_eq!(types_after(&open(&directory), 0).await.len(), 200);
}

/// Lets the next opening begin where the log has no more than this many bytes, as after a crash before the next checkpoint.
fn mark(directory: &TempDir, next: u64, end: u64) {
    std::fs::write(directory.path().join("lendpay"), format!("{next} {end}\n")).expect("works");
}

fn log_length(directory: &TempDir) -> u64 {
    std::fs::metadata(directory.path().join("log")).expect("there").len()
}

#[tokio::test]
async fn what_the_trees_lack_is_made_from_the_log() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    together(MANY, async |_| with_partner(&store, 1).await).await;
    drop(store);
    let empty = below(&directory, states);
    let checkpoint = std::fs::read(directory.path().join("lendpay")).expect("there");
    let store = open(&directory);
    fill(&store).await;
    let before = look(&store).await;
    drop(store);
    let full = below(&directory, states);
    assert!(empty.len() < full.len());

    // None, every second or every third of the states reached the disk.
    for keep in [usize::MAX, 2, 3] {
        below(&directory, |db| {
            for (i, (tree, key, _)) in full.iter().enumerate() {
                if i % keep != 1 || keep == usize::MAX {
                    db.open_tree(tree).expect("opens").remove(key).expect("works");
                }
            }
            for (tree, key, value) in &empty {
                db.open_tree(tree).expect("opens").insert(key, value).expect("works");
            }
        });
        std::fs::write(directory.path().join("lendpay"), &checkpoint).expect("works");
        let store = open(&directory);
        assert_eq!(look(&store).await, before, "{keep}");
        drop(store);
        assert!(below(&directory, states) == full, "{keep}");
    }
}

/// A crash while the last group was written: wherever the file ends, or whatever of it did not reach the disk, the groups before
/// it are there, and of it whole commands or nothing. The store goes on from there.
#[tokio::test]
async fn a_torn_group_is_cut_off() {
    let original = TempDir::new().expect("a temporary directory");
    let store = open(&original);
    with_partner(&store, 1).await;
    with_offer(&store, 1, 1, terms()).await;
    let (next, begin) = (all_events(&store).await.last().expect("one").sequence + 1, log_length(&original));
    together(3, async |n| {
        store.create_buyer(creation(1, n, None, description(), 3)).await.expect("works");
    })
    .await;
    drop(store);
    let (log, length) = (std::fs::read(original.path().join("log")).expect("there"), log_length(&original));
    let whole = all_events(&open(&original)).await;
    let mut held = std::collections::BTreeSet::new();
    for kept in (begin..length).step_by(23) {
        for zeros in [false, true] {
            let directory = TempDir::new().expect("a temporary directory");
            let mut torn = log[..usize::try_from(kept).expect("short")].to_vec();
            if zeros {
                torn.resize(log.len(), 0);
            }
            std::fs::write(directory.path().join("log"), torn).expect("works");
            mark(&directory, next, begin);
            let store = open(&directory);
            let events = all_events(&store).await;
            assert!(events.len() < whole.len() && events[..] == whole[..events.len()], "{kept}");
            held.insert(events.len());
            for event in &events {
                if let Subject::Buyer(id) = event.subject {
                    assert!(store.find_buyer(id).await.expect("works").is_some(), "{kept}");
                }
            }
            store.create_buyer(creation(1, 9, None, description(), 3)).await.expect("works");
            drop(store);
            let store = open(&directory);
            assert_eq!(all_events(&store).await.len(), events.len() + 1, "{kept}");
        }
    }
    assert!(held.contains(&1), "{held:?}");
}

/// What cannot be read although a later group follows was durable once: the store does not open with less.
#[tokio::test]
async fn damage_before_a_later_group_is_no_torn_group() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    with_partner(&store, 1).await;
    let begin = log_length(&directory);
    for n in 0..5 {
        store.create_buyer(creation(1, n, None, description(), 3)).await.expect("works");
    }
    drop(store);
    let log = directory.path().join("log");
    let whole = std::fs::read(&log).expect("there");
    let checkpoint = std::fs::read(directory.path().join("lendpay")).expect("there");
    for place in [begin, begin + 5, begin + 40, begin + (whole.len() as u64 - begin) / 2] {
        let mut damaged = whole.clone();
        damaged[usize::try_from(place).expect("short")] ^= 1;
        std::fs::write(&log, damaged).expect("works");
        mark(&directory, 2, begin);
        let error = SledStore::open(directory.path(), SledOptions::default()).map(drop).expect_err("damaged");
        assert!(error.to_string().contains("the log is damaged before its end"), "{error}");
    }
    std::fs::write(&log, whole).expect("works");
    std::fs::write(directory.path().join("lendpay"), checkpoint).expect("works");
    assert_eq!(all_events(&open(&directory)).await.len(), 5);
}

/// All states: tree, key, value.
fn states(db: &sled::Db) -> Vec<(String, IVec, IVec)> {
    let mut states = Vec::new();
    for tree in ["applications", "buyers", "keys", "offers", "partners"] {
        for item in &db.open_tree(tree).expect("opens") {
            let (key, value) = item.expect("works");
            states.push((tree.to_owned(), key, value));
        }
    }
    states
}

#[tokio::test]
async fn an_older_state_beside_a_newer_entry_is_brought_up_to_date() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    with_partner(&store, 1).await;
    with_offer(&store, 1, 1, terms()).await;
    drop(store);
    let old = below(&directory, states);
    let checkpoint = std::fs::read(directory.path().join("lendpay")).expect("there");
    let store = open(&directory);
    accepted(store.accept_offer(accept(1, 1, 5)).await.expect("works"));
    let archived = done(store.move_offer(go(1, Action::Archive, 6)).await.expect("works"));
    drop(store);
    below(&directory, |db| {
        for (tree, key, value) in old {
            db.open_tree(tree).expect("opens").insert(key, value).expect("works");
        }
    });
    std::fs::write(directory.path().join("lendpay"), checkpoint).expect("works");
    let store = open(&directory);
    assert_eq!(store.find_offer(application(1), offer(1), at(9)).await, Ok(Some(archived)));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_database_syncs_for_real() {
    let before = lendpay_real_sync::syncs();
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    fill(&store).await;
    drop(store);
    assert!(lendpay_real_sync::syncs() > before);
}

#[tokio::test]
async fn long_values_go_into_no_file_of_their_own() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    for round in 0..4 {
        together(MANY, async |n| {
            let mut long = description();
            long.name = Some("x".repeat(65_000));
            let answer = store.create_buyer(creation(1, round * MANY + n, None, long, 3)).await;
            assert!(matches!(answer, Ok(CreateBuyerOutcome::Created(_))));
        })
        .await;
    }
    let blobs = std::fs::read_dir(directory.path().join("blobs")).expect("there").count();
    assert_eq!(blobs, 0, "sled does not sync those");
}

#[tokio::test]
async fn what_is_too_long_is_refused_and_nothing_is_done() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    let mut long = description();
    long.name = Some("x".repeat(200_000));
    let command = creation(1, 1, None, long, 3);
    assert_eq!(store.create_buyer(command).await, Err(StoreError::Unavailable));
    assert_eq!(store.find_buyer(buyer_id(1)).await, Ok(None));
    assert_eq!(all_events(&store).await, []);
    assert_eq!(store.failure_reason(), None);
}

#[tokio::test]
async fn more_than_the_queue_holds_is_refused_and_the_rest_is_done() {
    let directory = TempDir::new().expect("a temporary directory");
    let mut options = SledOptions::default();
    options.queue = 8;
    let store = SledStore::open(directory.path(), options).expect("opens");
    let mut waiting = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    // Handing over takes a microsecond and a group takes a sync: the queue fills up.
    for n in 0.. {
        let mut future = Box::pin(store.create_buyer(creation(1, n, None, description(), 3)));
        match future.as_mut().poll(&mut context) {
            Poll::Ready(answer) => {
                assert_eq!(answer, Err(StoreError::Overloaded));
                break;
            }
            Poll::Pending => waiting.push(future),
        }
    }
    let done = waiting.len();
    for future in waiting {
        assert!(matches!(future.await, Ok(CreateBuyerOutcome::Created(_))));
    }
    assert_eq!(all_events(&store).await.len(), done);
}
