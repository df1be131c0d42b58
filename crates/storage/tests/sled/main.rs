//! The embedded store: the conformance suite, and what only a store on a disk can do wrong.

#[path = "../conformance/mod.rs"]
mod conformance;
mod damage;
mod failing_disk;
mod fixture;
mod import;
mod overload;
mod reopen;

use conformance::Backend;
use lendpay_storage::{SledOptions, SledStore};
use std::sync::Arc;
use tempfile::TempDir;

struct Sled {
    // The store goes before its directory.
    store: Arc<SledStore>,
    _directory: TempDir,
}

impl Backend for Sled {
    type Store = SledStore;

    async fn fresh() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let store = Arc::new(open(&directory));
        Self { store, _directory: directory }
    }

    fn store(&self) -> &Arc<SledStore> {
        &self.store
    }
}

fn open(directory: &TempDir) -> SledStore {
    SledStore::open(directory.path(), SledOptions::default()).expect("opens")
}

/// Works on the database below a store that is closed.
fn below<T>(directory: &TempDir, work: impl FnOnce(&sled::Db) -> T) -> T {
    let config = sled::Config::new().path(directory.path()).segment_size(8 * 1024 * 1024);
    let db = config.open().expect("opens");
    let done = work(&db);
    drop((db, config));
    // sled's threads hold the lock for a moment longer.
    std::fs::File::open(directory.path().join("db")).expect("there").lock().expect("the lock comes free");
    done
}

cases!(Sled);
