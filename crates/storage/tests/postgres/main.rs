//! The store on PostgreSQL: the conformance suite, and what only a database can do.

#[path = "../conformance/mod.rs"]
mod conformance;
mod expiries;
mod fairness;
mod faults;
mod kinds;
#[cfg(feature = "memory")]
#[path = "../model/mod.rs"]
mod model;
mod plans;
mod poolers;
mod rules;
mod values;
mod webhooks;

use conformance::Backend;
use conformance::calls::KeepsCalls;
use lendpay_cluster::Cluster;
use lendpay_domain::Timestamp;
use lendpay_domain::calls::Keeping;
use lendpay_domain::change::Record;
use lendpay_domain::import::Imported;
use lendpay_storage::postgres::migrate;
use lendpay_storage::{ImportError, PostgresAddress, PostgresImport, PostgresOptions, PostgresStore};
use std::sync::Arc;

struct Postgres {
    address: PostgresAddress,
    store: Arc<PostgresStore>,
}

impl Postgres {
    async fn at(url: &str) -> Self {
        let address: PostgresAddress = url.parse().expect("an address");
        migrate(&address).await.expect("migrates");
        let store = Arc::new(open(&address).await);
        Self { address, store }
    }
}

impl Backend for Postgres {
    type Store = PostgresStore;

    async fn fresh() -> Self {
        Self::at(&Cluster::shared().database()).await
    }

    fn store(&self) -> &Arc<PostgresStore> {
        &self.store
    }

    async fn import(self, records: Vec<Record>, merge: bool, now: Timestamp) -> (Self, Result<Imported, ImportError>) {
        let done = import(&self.address, records, merge, now).await;
        (self, done)
    }

    async fn reopen(self) -> Self {
        self.store.close().await.expect("closes");
        let store = Arc::new(open(&self.address).await);
        Self { store, ..self }
    }

    async fn crash(self) -> Self {
        let store = Arc::new(open(&self.address).await);
        Self { store, ..self }
    }
}

async fn import(
    address: &PostgresAddress,
    records: Vec<Record>,
    merge: bool,
    now: Timestamp,
) -> Result<Imported, ImportError> {
    let mut import = PostgresImport::begin(address, merge, now).await?;
    for record in records {
        import.add(record).await?;
    }
    import.finish().await
}

async fn open(address: &PostgresAddress) -> PostgresStore {
    PostgresStore::open(address, PostgresOptions::default()).await.expect("opens")
}

impl Postgres {
    /// The same database, where calls are kept so.
    async fn keep(self, keeping: Keeping) -> Self {
        let options = PostgresOptions { calls: keeping, ..PostgresOptions::default() };
        let store = PostgresStore::open(&self.address, options).await.expect("opens").into();
        Self { store, ..self }
    }
}

impl KeepsCalls for Postgres {
    async fn keeping(keeping: Keeping) -> Self {
        Self::fresh().await.keep(keeping).await
    }
}

cases!(Postgres);

/// Rows that were loaded and locked lead to what the same history leads to in memory.
#[cfg(feature = "memory")]
#[test]
fn random_histories_agree_with_the_reference() {
    model::agrees_with_the_reference::<Postgres>(6);
}
