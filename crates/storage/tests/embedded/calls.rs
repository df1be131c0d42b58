//! Calls that changed nothing, in files beside the log: who may read them, and what becomes of damage.

use crate::conformance::Backend as _;
use crate::conformance::calls::KeepsCalls;
use crate::conformance::samples::{at, call};
use crate::{Embedded, empty, files, open};
use lendpay_domain::calls::{Call, Keeping};
use lendpay_domain::store::{Calls as _, Commands as _};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Opens a store that keeps calls like this.
fn open_keeping(directory: &Path, keeping: Keeping) -> EmbeddedStore {
    let mut options = EmbeddedOptions::default();
    options.calls = keeping;
    EmbeddedStore::open(directory, options).expect("opens")
}

impl KeepsCalls for Embedded {
    async fn keeping(keeping: Keeping) -> Self {
        let directory = empty();
        Self { store: open_keeping(directory.path(), keeping).into(), directory }
    }
}

async fn found(store: &EmbeddedStore, n: u64) -> Vec<Call> {
    store.calls_of(call(n, 0).operation, at(100)).await.expect("works")
}

/// The files with calls.
fn segments(directory: &Path) -> Vec<PathBuf> {
    let below = |path: &PathBuf| path.starts_with("calls");
    files(directory).into_iter().filter(below).map(|path| directory.join(path)).collect()
}

#[tokio::test]
async fn only_the_owner_of_the_directory_can_read_the_files() {
    let backend = Embedded::fresh().await;
    backend.store().note_call(call(1, 0));
    backend.store().note_call(Call { partner: None, actor: None, ..call(1, 0) });
    assert_eq!(found(backend.store(), 1).await.len(), 2);
    let directory = backend.directory.path();
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&directory.join("calls")), 0o700);
    let segments = segments(directory);
    assert_eq!(segments.len(), 2, "one of the partner, one of nobody");
    assert!(segments.iter().all(|path| mode(path) == 0o600), "{segments:?}");
}

#[tokio::test]
async fn damage_is_passed_over_and_what_is_whole_is_found() {
    let backend = Embedded::fresh().await;
    for n in 1..=20 {
        backend.store().note_call(call(n, 0));
    }
    assert_eq!(found(backend.store(), 1).await.len(), 1);
    let directory = backend.close();
    let segment = segments(directory.path()).remove(0);
    let whole = std::fs::read(&segment).expect("readable");
    for at in (0..whole.len()).step_by(397) {
        let (mut flipped, mut torn) = (whole.clone(), whole.clone());
        flipped[at] ^= 0x55;
        torn.splice(at..at + (whole.len() - at) / 3, std::iter::empty());
        for bytes in [&flipped[..], &torn, &whole[..at], &[&whole[..at], &[0; 64], &whole[at..]].concat()] {
            std::fs::write(&segment, bytes).expect("writable");
            let store = open(directory.path());
            let mut count = 0;
            for n in 1..=20 {
                let found = found(&store, n).await;
                count += found.len();
                assert!(found.iter().all(|found| *found == call(n, 0)), "{at}");
            }
            assert!(bytes.len() < whole.len() || count >= 19, "{at}: {count}");
            // It goes on behind the damage.
            store.note_call(call(21, 1));
            assert_eq!(self::found(&store, 21).await, [call(21, 1)]);
        }
    }
}

#[tokio::test]
async fn what_is_no_file_of_ours_stops_nothing() {
    let directory = empty();
    let calls = directory.path().join("calls");
    std::fs::write(&calls, "a file").expect("writable");
    let store = open(directory.path());
    store.note_call(call(1, 0));
    assert_eq!(found(&store, 1).await, []);
    assert_eq!((store.stats().calls_lost, store.check().await), (1, Ok(())));
    drop(store);
    std::fs::remove_file(&calls).expect("removable");
    std::fs::create_dir(&calls).expect("a directory");
    for name in ["notes.txt", "nobody.x", "nobody", "operator.1", "operator.-9223372036854775808"] {
        std::fs::write(calls.join(name), [7; 1_000]).expect("writable");
    }
    std::fs::create_dir(calls.join("nobody.1")).expect("a directory");
    let store = open(directory.path());
    store.note_call(Call { partner: None, actor: None, ..call(1, 0) });
    assert_eq!(found(&store, 1).await.len(), 1);
    assert_eq!(store.stats().calls_lost, 0);
    assert!(calls.join("notes.txt").exists());
}

#[tokio::test]
async fn old_files_go() {
    let keeping = Keeping { time: Duration::from_secs(80), ..Keeping::DEFAULT };
    let backend = Embedded::keeping(keeping).await;
    for seconds in (0..1_000).step_by(5) {
        backend.store().note_call(call(1, seconds));
        found(backend.store(), 1).await;
        let count = segments(backend.directory.path()).len();
        assert!(count <= 11, "{count}");
    }
    let directory = backend.close();
    let store = open_keeping(directory.path(), keeping);
    store.note_call(Call { partner: None, actor: None, ..call(2, 2_000) });
    found(&store, 1).await;
    assert_eq!(segments(directory.path()).len(), 1, "those of before the start go as well");
}
