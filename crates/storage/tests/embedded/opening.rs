//! Closing, opening again, and what a kill leaves.

use crate::child::{self, Child, numbers};
use crate::conformance::samples::*;
use crate::seen::{fill, records, seen, together};
use crate::{copy, empty, open};
use lendpay_domain::offer::Status;
use lendpay_domain::page::Window;
use lendpay_domain::query::Scope;
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_domain::{KeyId, StoreError};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Waker};

#[tokio::test]
async fn everything_is_there_after_closing_and_dropping() {
    let directory = empty();
    let store = open(directory.path());
    fill(&store).await;
    let before = seen(&store).await;
    assert!(before.iter().all(Result::is_ok), "{before:?}");
    assert_eq!(store.close().await, Ok(()));
    assert_eq!(store.run(accept(1, 1, 5)).await, Err(StoreError::Unavailable));
    let closed = seen(&store).await;
    assert_eq!(closed[..closed.len() - 1], before[..before.len() - 1], "reads go on");
    drop(store);
    let store = open(directory.path());
    assert!(!store.open_report().rebuilt);
    assert_eq!(seen(&store).await, before);
    // Sequences go on where they ended.
    let last = records(&store).await.expect("works").last().and_then(|record| record.sequence).expect("many");
    store.run(creation(1, 999, None, description(), 5)).await.expect("works");
    assert_eq!(all_events(&store).await.last().expect("many").sequence, last + 1);
    assert_eq!(store.failure_reason(), None);
    let stats = store.stats();
    assert_eq!((stats.queued, stats.commands, stats.groups), (0, 2, 1), "a creation repeated, a buyer");
}

#[tokio::test]
async fn what_waits_is_done_when_the_store_is_dropped() {
    let directory = empty();
    let store = open(directory.path());
    with_partner(&store, 1).await;
    let before = store.stats().commands;
    for n in 0..200 {
        let mut future = pin!(store.run(creation(1, n, None, description(), 3)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending() || store.stats().commands > before);
    }
    drop(store);
    assert_eq!(types_after(&open(directory.path()), 0).await.len(), 200);
}

/// What is done to a directory.
type Harm = fn(&Path);

/// Whatever becomes of the index and the mark, of a store that was closed or one whose files were copied while it was
/// open.
#[tokio::test]
async fn index_and_mark_can_be_lost_at_any_moment() {
    let original = empty();
    let store = open(original.path());
    fill(&store).await;
    let before = seen(&store).await;
    let live = copy(original.path());
    drop(store);
    let harm: [(&str, Harm); 5] = [
        ("nothing", |_| ()),
        ("the index", |path| std::fs::remove_dir_all(path.join("index")).expect("deletes")),
        ("the mark", |path| std::fs::remove_file(path.join("mark")).expect("deletes")),
        ("the index and the mark", |path| {
            std::fs::remove_dir_all(path.join("index")).expect("deletes");
            std::fs::remove_file(path.join("mark")).expect("deletes");
        }),
        ("everything in the index", |path| {
            std::fs::remove_dir_all(path.join("index")).expect("deletes");
            std::fs::create_dir(path.join("index")).expect("creates");
        }),
    ];
    for (directory, closed) in [(&original, true), (&live, false)] {
        for (name, harm) in harm {
            let copy = copy(directory.path());
            harm(copy.path());
            let store = open(copy.path());
            assert_eq!(store.open_report().rebuilt, name != "nothing" || !closed, "{name}, closed: {closed}");
            assert_eq!(seen(&store).await, before, "{name}, closed: {closed}");
            drop(store);
            let store = open(copy.path());
            assert!(!store.open_report().rebuilt, "once is enough: {name}, closed: {closed}");
            assert_eq!(seen(&store).await, before, "{name}, closed: {closed}");
        }
    }
    let options = {
        let mut options = EmbeddedOptions::default();
        options.rebuild_index = true;
        options
    };
    let store = EmbeddedStore::open(original.path(), options).expect("opens");
    assert!(store.open_report().rebuilt);
    assert_eq!(seen(&store).await, before);
}

/// Any byte of the mark, its end, or all of it: the index is rebuilt and nothing is lost.
#[tokio::test]
async fn a_damaged_mark_neither_refuses_nor_loses() {
    let original = empty();
    let store = open(original.path());
    one_offer(&store).await;
    let live = copy(original.path());
    let before = records(&store).await.expect("works");
    drop(store);
    for directory in [original, live] {
        let mark = directory.path().join("mark");
        let whole = std::fs::read(&mark).expect("there");
        let mut damaged: Vec<Vec<u8>> = (0..whole.len())
            .map(|at| {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << (at % 8);
                bytes
            })
            .collect();
        damaged.extend([Vec::new(), whole[..whole.len() / 2].to_vec(), [&whole[..], &[0]].concat(), vec![0xff; 4_096]]);
        for (n, bytes) in damaged.into_iter().enumerate() {
            std::fs::write(&mark, bytes).expect("writes");
            let store = open(directory.path());
            assert!(store.open_report().rebuilt, "{n}");
            assert_eq!(records(&store).await.as_ref(), Ok(&before), "{n}");
            let found = store.find_offer(application(1), offer(1), at(2)).await.expect("works").expect("there");
            assert_eq!(found.status, Status::CustomerAccepted, "{n}");
        }
    }
}

/// The mark, and the index with it, belong to one log.
#[tokio::test]
async fn a_mark_of_another_log_is_not_believed() {
    let (one, other) = (empty(), empty());
    for directory in [&one, &other] {
        let store = open(directory.path());
        one_offer(&store).await;
        if std::ptr::eq(directory, &one) {
            store.run(creation(1, 7, None, description(), 3)).await.expect("works");
        }
    }
    std::fs::copy(other.path().join("mark"), one.path().join("mark")).expect("copies");
    let store = open(one.path());
    assert!(store.open_report().rebuilt);
    assert!(store.find_buyer(Scope::All, buyer_id(7)).await.expect("works").is_some());
}

async fn one_offer(store: &EmbeddedStore) {
    with_partner(store, 1).await;
    with_offer(store, 1, 1, terms()).await;
    done(store.run(accept(1, 1, 3)).await.expect("works"));
}

/// A copy of the files while the last group was being written: wherever the log ends, or whatever of it is zeros, the
/// groups before it are there, and of it whole commands or nothing. The store goes on from there.
#[tokio::test]
async fn a_torn_group_is_cut_off() {
    let original = empty();
    let store = open(original.path());
    one_offer(&store).await;
    let log = original.path().join("log");
    let begin = std::fs::metadata(&log).expect("there").len() as usize;
    together(3, async |n| {
        store.run(creation(1, n, None, description(), 3)).await.expect("works");
    })
    .await;
    let whole = records(&store).await.expect("works");
    let (bytes, mark) =
        (std::fs::read(&log).expect("there"), std::fs::read(original.path().join("mark")).expect("there"));
    let mut held = std::collections::BTreeSet::new();
    for kept in (begin..bytes.len()).step_by(41) {
        for zeros in [false, true] {
            let directory = empty();
            let mut torn = bytes[..kept].to_vec();
            if zeros {
                torn.resize(bytes.len(), 0);
            }
            let length = torn.len();
            std::fs::write(directory.path().join("log"), torn).expect("writes");
            std::fs::write(directory.path().join("mark"), &mark).expect("writes");
            let store = open(directory.path());
            let found = records(&store).await.expect("works");
            assert!(found.len() < whole.len() && found == whole[..found.len()], "{kept}");
            let cut = length as u64 - std::fs::metadata(directory.path().join("log")).expect("there").len();
            assert_eq!(store.open_report().cut_bytes, cut, "{kept}");
            held.insert(found.len());
            store.run(creation(1, 9, None, description(), 3)).await.expect("works");
            drop(store);
            let again = records(&open(directory.path())).await.expect("works");
            assert_eq!((again.len(), &again[..found.len()]), (found.len() + 1, &found[..]), "{kept}");
        }
    }
    assert!(held.contains(&(whole.len() - 3)), "{held:?}");
}

/// Whether the page cache of the file system is known to outlive a process, so that an index is trusted after a kill.
fn trusted_after_a_kill(directory: &Path) -> bool {
    let kind = rustix::fs::statfs(directory).expect("is a file system").f_type;
    [0xEF53, 0x5846_5342].contains(&kind)
}

const ALL: Window<KeyId> = Window { after: None, limit: 9 };

#[tokio::test]
async fn nothing_acknowledged_is_lost_by_a_kill() {
    let directory = empty();
    let path = directory.path();
    let mut acknowledged = Vec::new();
    let rounds: [(usize, Option<Harm>); 4] = [
        (1, None),
        (150, None),
        (20, Some(|path| std::fs::remove_dir_all(path.join("index")).expect("deletes"))),
        (60, Some(|path| std::fs::remove_file(path.join("mark")).expect("deletes"))),
    ];
    for (round, (times, harm)) in rounds.into_iter().enumerate() {
        let said = Child::start("child::writes", path).kill_after("acknowledged", times);
        acknowledged.extend(numbers(&said, "acknowledged "));
        let trusted = harm.is_none() && trusted_after_a_kill(path);
        if let Some(harm) = harm {
            harm(path);
        }
        let store = open(path);
        assert_eq!(store.open_report().rebuilt, !trusted, "round {round}");
        for &n in &acknowledged {
            assert!(store.find_buyer(Scope::All, buyer_id(n)).await.expect("works").is_some(), "{n}");
            let found = store.find_offer(application(1), offer(n), at(5)).await.expect("works");
            assert_eq!(found.map(|offer| offer.status), Some(Status::CustomerAccepted), "{n}");
        }
        // The index says what the log says, the uses of keys included.
        let records = records(&store).await;
        let used = store.keys_of(partner(1), ALL).await.expect("works");
        // A kill may lose the note of a use that nobody waited for.
        assert!(times == 1 || used.as_ref().is_some_and(|used| used.items[0].last_used_at.is_some()), "{used:?}");
        drop(store);
        std::fs::remove_dir_all(path.join("index")).expect("deletes");
        let store = open(path);
        assert_eq!(self::records(&store).await, records);
        assert_eq!(store.keys_of(partner(1), ALL).await, Ok(used), "round {round}");
    }
    assert!(acknowledged.len() >= 231, "{}", acknowledged.len());
}

#[test]
fn the_files_are_for_their_owner_alone() {
    for umask in ["022", "000"] {
        let parent = empty();
        let path = parent.path().join("data");
        let status = child::command("child::opens_and_closes", &path, &format!("umask {umask}"))
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.expect("sh runs").success());
        let mut seen = 0;
        let mut directories = vec![path];
        while let Some(directory) = directories.pop() {
            let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
            assert_eq!(mode(&directory), 0o700, "{}", directory.display());
            for entry in std::fs::read_dir(directory).expect("readable") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    assert_eq!(mode(&path), 0o600, "{} with umask {umask}", path.display());
                    seen += 1;
                }
            }
        }
        assert!(seen >= 4, "log, mark, and the index's");
    }
}

/// A process that is being started has every open file of its parent for a moment, and with it its locks.
#[test]
fn a_store_can_be_opened_again_at_once_by_a_process_that_starts_others() {
    let directory = empty();
    let opened = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            while opened.load(Relaxed) < 50 {
                Command::new("true").status().expect("runs");
            }
        });
        while !others.is_finished() {
            let store = EmbeddedStore::open(directory.path(), EmbeddedOptions::default());
            opened.fetch_add(if store.is_ok() { 1 } else { 50 }, Relaxed);
            drop(store.expect("nobody has it"));
        }
    });
}
