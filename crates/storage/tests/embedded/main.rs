//! The embedded store: the conformance suite, and what only a store on a disk can do wrong.

#[path = "../conformance/mod.rs"]
mod conformance;
#[cfg(feature = "memory")]
#[path = "../model/mod.rs"]
mod model;

mod backup;
mod calls;
mod child;
mod damage;
mod failing_disk;
mod import;
mod lists;
mod opening;
mod overload;
mod seen;
mod verify;

use conformance::Backend;
use lendpay_domain::Timestamp;
use lendpay_domain::change::Record;
use lendpay_domain::import::Imported;
use lendpay_storage::{EmbeddedImport, EmbeddedOptions, EmbeddedStore, ImportError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

struct Embedded {
    // The store goes before its directory.
    store: Arc<EmbeddedStore>,
    directory: TempDir,
}

impl Embedded {
    fn open(directory: TempDir) -> Self {
        Self { store: Arc::new(open(directory.path())), directory }
    }

    /// Closes the store; whoever has it from the test must have dropped it.
    fn close(self) -> TempDir {
        drop(Arc::into_inner(self.store).expect("nobody else has the store"));
        self.directory
    }
}

impl Backend for Embedded {
    type Store = EmbeddedStore;

    async fn fresh() -> Self {
        Self::open(empty())
    }

    fn store(&self) -> &Arc<EmbeddedStore> {
        &self.store
    }

    async fn import(self, records: Vec<Record>, merge: bool, now: Timestamp) -> (Self, Result<Imported, ImportError>) {
        let directory = self.close();
        let done = import(directory.path(), records, merge, now);
        (Self::open(directory), done)
    }

    async fn reopen(self) -> Self {
        Self::open(self.close())
    }

    /// The files as the operating system has them while the store is open.
    async fn crash(self) -> Self {
        Self::open(copy(self.directory.path()))
    }
}

fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, EmbeddedOptions::default()).expect("opens")
}

fn begin(directory: &Path, merge: bool, now: Timestamp) -> Result<EmbeddedImport, ImportError> {
    EmbeddedImport::begin(directory, EmbeddedOptions::default(), merge, now)
}

fn import(directory: &Path, records: Vec<Record>, merge: bool, now: Timestamp) -> Result<Imported, ImportError> {
    let mut import = begin(directory, merge, now)?;
    for record in records {
        import.add(record)?;
    }
    import.finish()
}

fn empty() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

/// A copy of the files of a store, as the operating system has them.
fn copy(directory: &Path) -> TempDir {
    let copy = empty();
    copy_files(directory, copy.path());
    copy
}

/// Copies the index before the log: in the files of an open store it never knows of more than the log.
fn copy_files(from: &Path, to: &Path) {
    let mut entries: Vec<_> =
        std::fs::read_dir(from).expect("readable").map(|entry| entry.expect("readable")).collect();
    entries.sort_by_key(|entry| !entry.path().is_dir());
    for entry in entries {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("known").is_dir() {
            std::fs::create_dir(&target).expect("creates");
            copy_files(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copies");
        }
    }
}

/// The files of a directory and of those in it, by their relative paths.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in std::fs::read_dir(next).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() { directories.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files.iter().map(|path| path.strip_prefix(directory).expect("in it").to_owned()).collect()
}

cases!(Embedded);

/// What an index is that was rebuilt, closed and opened, or left by a kill: that of the same history in memory.
#[cfg(feature = "memory")]
#[test]
fn random_histories_agree_with_the_reference() {
    model::agrees_with_the_reference::<Embedded>(12);
}
