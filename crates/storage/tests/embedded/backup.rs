//! Backups: copies of a log that break off anywhere, and what they refuse.

use crate::conformance::samples::*;
use crate::seen::{fill, records};
use crate::{copy, empty, import, open};
use lendpay_domain::log::{CopyKind, Log};
use lendpay_domain::store::Commands as _;
use lendpay_storage::{BackupError, EmbeddedBackup, EmbeddedStore, verify_embedded};
use std::path::Path;
use std::sync::Arc;

/// The bytes of a log from a place to its end.
fn bytes(log: &Arc<dyn Log>, from: u64) -> Vec<u8> {
    let (mut bytes, end) = (Vec::new(), log.end());
    loop {
        match log.read(from + bytes.len() as u64, end).expect("can be read") {
            piece if piece.is_empty() => return bytes,
            piece => bytes.extend(piece),
        }
    }
}

/// Makes a backup longer, in pieces of so many bytes.
fn run(to: &Path, store: &EmbeddedStore, piece: usize) -> Result<(), BackupError> {
    let (log, mut backup) = (store.log(), EmbeddedBackup::open(to)?);
    let end = log.end();
    for piece in bytes(&log, backup.from()).chunks(piece) {
        backup.add(piece)?;
    }
    backup.finish(end)
}

async fn more(store: &EmbeddedStore, from: u64) {
    for n in from..from + 30 {
        store.run(creation(1, 50_000 + n, None, description(), 3)).await.expect("works");
    }
}

#[tokio::test]
async fn a_backup_that_breaks_off_anywhere_goes_on_and_opens_as_the_store() {
    let (source, target) = (empty(), empty());
    let store = open(source.path());
    fill(&store).await;
    let whole = bytes(&store.log(), 0);
    assert_eq!(whole, std::fs::read(source.path().join("log")).expect("there"));
    let end = whole.len();
    for cut in [0, 1, 63, 64, 65, 100, 5_000, end / 2, end - 1, end] {
        for (kept, junk) in [(false, 0), (true, 0), (true, 1), (true, 70_000)] {
            let target = empty();
            let mut backup = EmbeddedBackup::open(target.path()).expect("opens");
            for piece in whole[..cut].chunks(7_000) {
                backup.add(piece).expect("fits");
            }
            if kept {
                let finished = backup.finish(end as u64);
                assert_eq!(matches!(finished, Err(BackupError::Incomplete)), cut < end, "{finished:?}");
                // What a kill in the middle of a write may leave.
                let log = target.path().join("log");
                let mut left = std::fs::read(&log).expect("there");
                if left.len() >= 64 {
                    left.extend(vec![0xa5; junk]);
                    std::fs::write(&log, left).expect("writes");
                }
            } else {
                drop(backup);
            }
            run(target.path(), &store, 1_000).expect("goes on");
            assert!(std::fs::read(target.path().join("log")).expect("there") == whole, "cut at {cut}");
        }
    }
    // Runs that follow each other, while the store goes on.
    for (n, piece) in [1, 31, 64, 4_096, usize::MAX].into_iter().enumerate() {
        run(target.path(), &store, piece).expect("works");
        run(target.path(), &store, piece).expect("works with nothing new");
        more(&store, 100 * n as u64).await;
    }
    run(target.path(), &store, 10_000).expect("works");
    let wanted = records(&store).await.expect("works");
    drop(store);
    let restored = copy(target.path());
    let checked = verify_embedded(restored.path(), Default::default(), |found| panic!("{found}")).expect("checks");
    assert_eq!((checked.records, checked.unfinished), (wanted.len() as u64, 0));
    let restored = open(restored.path());
    assert_eq!(records(&restored).await.expect("works"), wanted);
    assert!(restored.open_report().rebuilt);
    // The store that was restored goes on with the same backup.
    more(&restored, 900).await;
    run(target.path(), &restored, 10_000).expect("works");
}

#[tokio::test]
async fn a_backup_that_breaks_off_within_an_import_has_none_of_it() {
    let (exported, source, target) = (empty(), empty(), empty());
    let store = open(exported.path());
    fill(&store).await;
    let exported = records(&store).await.expect("works");
    drop(store);
    import(source.path(), exported.clone(), false, at(5)).expect("works");
    let store = open(source.path());
    let whole = bytes(&store.log(), 0);
    let mut backup = EmbeddedBackup::open(target.path()).expect("opens");
    backup.add(&whole[..whole.len() - 20]).expect("fits");
    assert!(matches!(backup.finish(whole.len() as u64), Err(BackupError::Incomplete)));
    assert!(std::fs::metadata(target.path().join("log")).expect("there").len() > 1_000);
    let restored = copy(target.path());
    assert!(records(&open(restored.path())).await.expect("works").is_empty());
    run(target.path(), &store, 1_000).expect("goes on");
    let restored = copy(target.path());
    assert_eq!(records(&open(restored.path())).await.expect("works"), exported);
}

#[tokio::test]
async fn another_log_is_refused_and_changes_nothing() {
    let (source, other, target) = (empty(), empty(), empty());
    let store = open(source.path());
    fill(&store).await;
    let old = copy(source.path());
    more(&store, 0).await;
    run(target.path(), &store, 1_000).expect("works");
    let before = std::fs::read(target.path().join("log")).expect("there");
    let refused = |store: &EmbeddedStore, why: &str| {
        let refused = run(target.path(), store, 1_000).expect_err(why);
        assert!(matches!(refused, BackupError::OtherLog { .. }), "{why}: {refused}");
        assert!(std::fs::read(target.path().join("log")).expect("there") == before, "{why}");
    };
    let stranger = open(other.path());
    fill(&stranger).await;
    refused(&stranger, "another store");
    more(&stranger, 0).await;
    more(&stranger, 100).await;
    refused(&stranger, "another store that has more");
    let old = open(old.path());
    refused(&old, "restored, with less");
    more(&old, 500).await;
    refused(&old, "restored, with as much");
    more(&old, 600).await;
    refused(&old, "restored, with more");
    run(target.path(), &store, 1_000).expect("the right one still works");
}

#[tokio::test]
async fn what_is_damaged_or_no_backup_is_refused() {
    let (source, target) = (empty(), empty());
    let store = open(source.path());
    fill(&store).await;
    assert!(matches!(EmbeddedBackup::open(source.path()), Err(BackupError::InUse { .. })));
    let begun = EmbeddedBackup::open(target.path()).expect("opens");
    assert!(matches!(EmbeddedBackup::open(target.path()), Err(BackupError::InUse { .. })));
    drop(begun);
    // What arrives damaged is not taken, and what came before it is kept.
    let whole = bytes(&store.log(), 0);
    let mut damaged = whole.clone();
    let at = whole.len() / 2;
    damaged[at] ^= 1;
    let mut backup = EmbeddedBackup::open(target.path()).expect("opens");
    let refused = backup.add(&damaged).expect_err("damaged");
    assert!(matches!(refused, BackupError::Source { at: found } if found <= at as u64), "{refused}");
    drop(backup);
    let kept = std::fs::read(target.path().join("log")).expect("there");
    assert!(kept.len() > 64 && whole.starts_with(&kept));
    for (nonsense, found) in [(&b"HTTP/1.1"[..], 0), (&b"lendpay\x09"[..], 9)] {
        let nonsense = [nonsense, &[b'x'; 100]].concat();
        let refused = EmbeddedBackup::open(empty().path()).expect("opens").add(&nonsense).expect_err("no log");
        match refused {
            BackupError::Format { found: format } => assert_eq!(format, found),
            BackupError::Source { at } => assert_eq!((at, found), (0, 0)),
            other => panic!("{other}"),
        }
    }
    run(target.path(), &store, 1_000).expect("goes on");
    for (name, spoil) in [
        ("log", (|bytes| bytes.truncate(bytes.len() - 1)) as fn(&mut Vec<u8>)),
        ("mark", |bytes| bytes[5] ^= 1),
        ("log", |bytes| bytes[9] ^= 1),
    ] {
        let spoilt = copy(target.path());
        let file = spoilt.path().join(name);
        let mut bytes = std::fs::read(&file).expect("there");
        spoil(&mut bytes);
        std::fs::write(&file, bytes).expect("writes");
        let refused = run(spoilt.path(), &store, 1_000).expect_err(name);
        assert!(matches!(refused, BackupError::Damaged { .. }), "{name}: {refused}");
    }
    // Without its mark, and a store that was closed.
    let unmarked = copy(target.path());
    std::fs::remove_file(unmarked.path().join("mark")).expect("removes");
    drop(store);
    let closed = copy(source.path());
    std::fs::remove_dir_all(closed.path().join("index")).expect("removes");
    for directory in [unmarked.path(), closed.path(), source.path()] {
        assert!(matches!(EmbeddedBackup::open(directory), Err(BackupError::NoBackup { .. })));
    }
}

#[tokio::test]
async fn copies_are_remembered_until_their_file_is_damaged() {
    let directory = empty();
    let noted = |kinds: &[(CopyKind, i64)]| {
        let log = open(directory.path()).log();
        kinds.iter().for_each(|(kind, second)| log.note_copy(*kind, at(*second)).expect("notes"));
        [CopyKind::Backup, CopyKind::Export].map(|kind| log.last_copy(kind))
    };
    assert_eq!(noted(&[]), [None, None]);
    assert_eq!(noted(&[(CopyKind::Export, 3)]), [None, Some(at(3))]);
    assert_eq!(noted(&[(CopyKind::Backup, 5), (CopyKind::Backup, 4)]), [Some(at(4)), Some(at(3))]);
    std::fs::remove_dir_all(directory.path().join("index")).expect("removes");
    assert_eq!(noted(&[]), [Some(at(4)), Some(at(3))], "the index does not matter");
    let file = directory.path().join("copies");
    let mut bytes = std::fs::read(&file).expect("there");
    bytes[3] ^= 1;
    std::fs::write(&file, bytes).expect("writes");
    assert_eq!(noted(&[]), [None, None]);
    assert_eq!(noted(&[(CopyKind::Backup, 6)]), [Some(at(6)), None]);
    // Of another log.
    let other = empty();
    drop(open(other.path()));
    std::fs::copy(&file, other.path().join("copies")).expect("copies");
    assert_eq!(open(other.path()).log().last_copy(CopyKind::Backup), None);
}
