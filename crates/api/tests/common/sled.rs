//! The embedded store, for suites that run against any kind.

use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use tempfile::TempDir;

/// The store.
pub type Backend = EmbeddedStore;

/// What has to live as long as the store, and is cleaned away after it.
pub type Remains = TempDir;

/// Opens an empty store.
pub async fn fresh() -> (Backend, Remains) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut options = EmbeddedOptions::default();
    options.cache_capacity = 1024 * 1024;
    let store = EmbeddedStore::open(directory.path(), options).expect("an empty directory opens");
    (store, directory)
}
