//! Imports that do not end.

use crate::conformance::samples::*;
use crate::seen::{fill, records};
use crate::{begin, copy, empty, import, open};
use lendpay_domain::change::{Change, Record};
use lendpay_domain::query::Scope;
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore, OpenError};
use tempfile::TempDir;

/// Records of a store with something of everything, and more of them than are written in two groups.
async fn exported() -> Vec<Record> {
    let directory = empty();
    let store = open(directory.path());
    fill(&store).await;
    // At once a partner may have half as many as the queue holds.
    for part in 1..3 {
        crate::seen::together(1_100, async |n| {
            store.run(creation(1, 10_000 * part + n, None, description(), 3)).await.expect("works");
        })
        .await;
    }
    records(&store).await.expect("works")
}

#[tokio::test]
async fn an_import_that_does_not_end_leaves_nothing() {
    let imported = exported().await;
    for merge in [false, true] {
        for killed in [false, true] {
            let directory = empty();
            let store = open(directory.path());
            if merge {
                with_partner(&store, 7).await;
                store.run(add_key(key(7, 77))).await.expect("works");
            }
            let (before, old) = (records(&store).await.expect("works"), history(&store).await);
            drop(store);
            let mut import = begin(directory.path(), merge, at(5)).expect("begins");
            for record in &imported {
                import.add(record.clone()).expect("fits");
            }
            let left: TempDir = if killed { copy(directory.path()) } else { empty() };
            drop(import);
            let path = if killed { left.path() } else { directory.path() };
            let store = open(path);
            let report = store.open_report();
            assert!(report.cut_frames > 0 && report.cut_bytes > 0, "{report:?}");
            assert_eq!(records(&store).await.expect("works"), before, "merge {merge}, killed {killed}");
            assert_eq!(store.find_buyer(Scope::All, buyer_id(10_001)).await, Ok(None));
            assert_eq!(store.find_key(key(1, 1).hash).await, Ok(None));
            assert_eq!(store.find_client("a").await, Ok(None));
            assert_eq!(history(&store).await, old);
            drop(store);
            let done = crate::import(path, imported.clone(), merge, at(5)).expect("works");
            // Deliveries of endpoints that are merged begin when these are resumed.
            let left_out = |record: &&Record| merge && matches!(record.change, Change::DeliveriesNoted(_));
            let kept = imported.iter().filter(left_out).count();
            let added = imported.len() - kept;
            assert_eq!((done.added, done.kept), (added as u64, kept as u64), "merge {merge}, killed {killed}");
            assert_eq!(records(&open(path)).await.expect("works").len(), before.len() + added);
        }
    }
}

#[tokio::test]
async fn a_store_into_which_nothing_was_imported_is_still_empty() {
    let imported = exported().await;
    let directory = empty();
    for merge in [false, true] {
        assert_eq!(import(directory.path(), Vec::new(), merge, at(5)).expect("works").added, 0);
    }
    let done = import(directory.path(), imported.clone(), false, at(5)).expect("is empty");
    assert_eq!(done.added, imported.len() as u64);
}

/// An import is synced once, at its end: a power cut before that can lose any sector of it and keep later ones.
#[tokio::test]
async fn an_import_that_lost_a_sector_to_a_power_cut_is_rolled_back() {
    let imported = exported().await;
    let directory = empty();
    let store = open(directory.path());
    with_partner(&store, 7).await;
    let before = records(&store).await.expect("works");
    drop(store);
    let log = directory.path().join("log");
    let from = std::fs::metadata(&log).expect("there").len() as usize + 1_000;
    let mut import = begin(directory.path(), true, at(5)).expect("begins");
    for record in &imported {
        import.add(record.clone()).expect("fits");
    }
    drop(import);
    let mut torn = std::fs::read(&log).expect("there");
    torn[from..][..512].fill(0);
    std::fs::write(&log, torn).expect("writes");
    assert_eq!(records(&open(directory.path())).await.expect("works"), before);
    // Once it has ended, the same is damage.
    crate::import(directory.path(), imported, true, at(5)).expect("works");
    let mut damaged = std::fs::read(&log).expect("there");
    damaged[from..][..512].fill(0);
    std::fs::write(&log, damaged).expect("writes");
    std::fs::remove_file(directory.path().join("mark")).expect("deletes");
    let opened = EmbeddedStore::open(directory.path(), EmbeddedOptions::default());
    assert!(matches!(opened, Err(OpenError::Damaged { .. })));
}

/// What recovery rebuilds has the history that the log says.
#[tokio::test]
async fn a_new_history_is_in_the_log() {
    let directory = empty();
    let path = directory.path();
    let store = open(path);
    with_partner(&store, 7).await;
    let before = records(&store).await.expect("works");
    drop(store);
    import(path, Vec::new(), true, at(5)).expect("works");
    let new = history(&open(path)).await;
    std::fs::remove_dir_all(path.join("index")).expect("deletes");
    let store = open(path);
    assert_eq!(history(&store).await, new);
    assert_eq!(records(&store).await.expect("works"), before);
}
