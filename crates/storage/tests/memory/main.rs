//! The reference store: the conformance suite, and that the model test finds faults.

#[path = "../conformance/mod.rs"]
mod conformance;
mod faults;
#[path = "../model/mod.rs"]
mod model;

use conformance::Backend;
use conformance::calls::KeepsCalls;
use lendpay_domain::Timestamp;
use lendpay_domain::calls::Keeping;
use lendpay_domain::change::Record;
use lendpay_domain::import::Imported;
use lendpay_storage::ImportError;
use lendpay_storage::MemoryStore;
use std::sync::Arc;

struct Memory(Arc<MemoryStore>);

impl Backend for Memory {
    type Store = MemoryStore;

    async fn fresh() -> Self {
        Self(Arc::default())
    }

    fn store(&self) -> &Arc<MemoryStore> {
        &self.0
    }

    async fn import(self, records: Vec<Record>, merge: bool, now: Timestamp) -> (Self, Result<Imported, ImportError>) {
        let done = self.0.import(records, merge, now);
        (self, done)
    }

    /// There is nothing to open.
    async fn reopen(self) -> Self {
        self
    }
}

impl KeepsCalls for Memory {
    async fn keeping(keeping: Keeping) -> Self {
        Self(MemoryStore::keeping(keeping).into())
    }
}

cases!(Memory);
