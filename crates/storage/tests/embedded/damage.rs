//! Directories that cannot be opened: one sentence, no panic, no backtrace.

use crate::conformance::exports::everything;
use crate::conformance::samples::*;
use crate::{below, open};
use lendpay_domain::{Store, StoreError};
use lendpay_storage::{OpenError, SledOptions, SledStore};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use tempfile::TempDir;

fn fails(path: &Path) -> OpenError {
    match SledStore::open(path, SledOptions::default()) {
        Ok(_) => panic!("it opens"),
        Err(error) => error,
    }
}

fn one_sentence(error: &OpenError, path: &Path) {
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    assert!(text.ends_with('.') && !text.contains('\n') && !text.contains("os error"), "{text}");
}

async fn filled() -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    with_partner(&store, 1).await;
    for n in 0..200 {
        with_offer(&store, 1, n, terms()).await;
    }
    drop(store);
    directory
}

#[test]
fn a_directory_has_one_store() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    let error = fails(directory.path());
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    one_sentence(&error, directory.path());
    drop(store);
    open(&directory);
}

#[test]
fn a_directory_that_cannot_be_made() {
    let directory = TempDir::new().expect("a temporary directory");
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").expect("works");
    for path in [file.join("data"), file] {
        let error = fails(&path);
        assert!(matches!(error, OpenError::Directory { .. }), "{error}");
        one_sentence(&error, &path);
    }
}

/// The database is made from the log: whatever happens to it, everything is there.
#[tokio::test]
async fn a_database_that_cannot_be_used_is_made_anew_from_the_log() {
    let harm: [fn(&Path); 5] = [
        |db| {
            let length = std::fs::metadata(db).expect("there").len();
            std::fs::write(db, vec![0xa5; usize::try_from(length).expect("small")]).expect("works");
        },
        |db| std::fs::write(db, "").expect("works"),
        |db| std::fs::remove_file(db).expect("works"),
        |db| std::fs::write(db.with_file_name("conf"), "rubbish").expect("works"),
        // A snapshot that sled did not finish keeps it from opening.
        |db| std::fs::write(db.with_file_name("snap.000000000000ABCD.generating"), "rubbish").expect("works"),
    ];
    let whole = filled().await;
    let before = everything(&open(&whole)).await;
    for (n, harm) in harm.iter().enumerate() {
        let directory = copy(&whole);
        harm(&directory.path().join("db"));
        for _ in 0..2 {
            let store = open(&directory);
            for n in 0..200 {
                assert!(store.find_offer(application(1), offer(n), at(2)).await.expect("works").is_some());
            }
            assert!(everything(&store).await == before, "{n}");
        }
    }
}

/// The end of a log that was closed is no torn group, also for trees that are made anew.
#[tokio::test]
async fn a_log_whose_end_is_damaged_makes_no_smaller_store() {
    let directory = filled().await;
    let log = directory.path().join("log");
    let mut bytes = std::fs::read(&log).expect("there");
    *bytes.last_mut().expect("long") ^= 1;
    std::fs::write(&log, bytes).expect("works");
    std::fs::remove_file(directory.path().join("db")).expect("works");
    for _ in 0..2 {
        let error = fails(directory.path());
        assert!(error.to_string().contains("the log is damaged before its end"), "{error}");
    }
}

#[tokio::test]
async fn a_log_that_is_missing_or_strange() {
    let whole = filled().await;
    for content in [None, Some(&b""[..]), Some(b"lendpay"), Some(b"rubbish and more of it")] {
        let directory = copy(&whole);
        let log = directory.path().join("log");
        match content {
            Some(content) => std::fs::write(log, content).expect("works"),
            None => std::fs::remove_file(log).expect("works"),
        }
        let error = fails(directory.path());
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        one_sentence(&error, directory.path());
        assert!(error.to_string().contains("lendpay import"), "{error}");
    }
}

/// Wherever garbage or the end of a file is: the store says that it is damaged, when it is opened or when the damage is read,
/// or no harm was done. It never opens and silently holds less.
#[tokio::test]
async fn garbage_and_cuts_anywhere_are_found_or_harmless() {
    let whole = filled().await;
    for name in ["db", "log"] {
        let length = std::fs::metadata(whole.path().join(name)).expect("there").len();
        let mut found_damaged = 0;
        // Pages of so small a store lie in the first part of the file; the rest is swept in larger steps.
        for place in (0..16).map(|n| n * 8_000).chain((1..8).map(|n| length / 8 * n)).filter(|place| *place < length) {
            for cut in [false, true] {
                let directory = copy(&whole);
                let mut file = std::fs::File::options().write(true).open(directory.path().join(name)).expect("there");
                if cut {
                    file.set_len(place).expect("works");
                } else {
                    file.seek(SeekFrom::Start(place)).expect("works");
                    file.write_all(&[0x5a; 500]).expect("works");
                }
                drop(file);
                match SledStore::open(directory.path(), SledOptions::default()) {
                    Err(error) => {
                        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
                        found_damaged += 1;
                    }
                    Ok(store) => {
                        for n in 0..200 {
                            let found = store.find_offer(application(1), offer(n), at(2)).await;
                            assert!(!matches!(found, Ok(None)), "{name} {place} {cut} {n}");
                            found_damaged += usize::from(found.is_err());
                        }
                        let events = store.events(0, usize::MAX).await;
                        assert!(events.is_err() || events.is_ok_and(|events| events.len() == 200), "{place} {cut}");
                    }
                }
            }
        }
        assert!(found_damaged > 10 || name == "db", "{found_damaged}");
    }
}

fn copy(from: &TempDir) -> TempDir {
    let to = TempDir::new().expect("a temporary directory");
    for entry in std::fs::read_dir(from.path()).expect("works") {
        let entry = entry.expect("works");
        if entry.file_type().expect("works").is_file() {
            std::fs::copy(entry.path(), to.path().join(entry.file_name())).expect("works");
        }
    }
    to
}

#[tokio::test]
async fn formats_of_other_programs() {
    let harm: [fn(&TempDir, u8); 2] = [
        |directory, found| {
            let mut value = vec![1, found];
            value.extend(crc32c::crc32c(&value).to_le_bytes());
            below(directory, |db| db.open_tree("meta").expect("opens").insert("format", value).expect("works"));
        },
        |directory, found| {
            let log = std::fs::File::options().write(true).open(directory.path().join("log")).expect("there");
            log.write_all_at(&[found], 7).expect("works");
        },
    ];
    for harm in harm {
        for (found, newer) in [(0, false), (3, true)] {
            let directory = filled().await;
            harm(&directory, found);
            let error = fails(directory.path());
            assert_eq!(matches!(error, OpenError::Newer { found: 3, .. }), newer, "{error}");
            assert_eq!(matches!(error, OpenError::Older { found: 0, .. }), !newer, "{error}");
            one_sentence(&error, directory.path());
        }
    }
}

#[tokio::test]
async fn one_damaged_record_spoils_no_other() {
    let directory = filled().await;
    below(&directory, |db| {
        let tree = db.open_tree("offers").expect("opens");
        let key = [bytes(1), bytes(7)].concat();
        let mut value = tree.get(&key).expect("works").expect("there").to_vec();
        value[20] ^= 1;
        tree.insert(key, value).expect("works");
    });
    let store = open(&directory);
    let corrupt = Err(StoreError::Corrupt);
    assert_eq!(store.find_offer(application(1), offer(7), at(2)).await, corrupt.map(|()| None));
    let (hurt, well) = tokio::join!(store.accept_offer(accept(1, 7, 5)), store.accept_offer(accept(1, 8, 5)));
    assert_eq!(hurt.map(drop), corrupt);
    accepted(well.expect("works"));
    assert_eq!(store.failure_reason(), None);
}

#[tokio::test]
async fn a_client_that_is_not_listed_may_be_the_partner_whose_record_is_damaged() {
    let directory = filled().await;
    let store = open(&directory);
    assert_eq!(store.find_client("a").await, Ok(None));
    drop(store);
    below(&directory, |db| {
        let tree = db.open_tree("partners").expect("opens");
        let mut value = tree.get(bytes(1)).expect("works").expect("there").to_vec();
        value[4] ^= 1;
        tree.insert(bytes(1), value).expect("works");
    });
    assert_eq!(open(&directory).find_client("a").await, Err(StoreError::Corrupt));
}
