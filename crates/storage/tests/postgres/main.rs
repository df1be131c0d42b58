//! The store on PostgreSQL: the conformance suite, and what only a database can do.

#[path = "../conformance/mod.rs"]
mod conformance;

use conformance::Backend;
use lendpay_cluster::Cluster;
use lendpay_storage::postgres::migrate;
use lendpay_storage::{PostgresAddress, PostgresOptions, PostgresStore};
use std::sync::Arc;

struct Postgres(Arc<PostgresStore>);

impl Backend for Postgres {
    type Store = PostgresStore;

    async fn fresh() -> Self {
        let address: PostgresAddress = Cluster::shared().database().parse().expect("an address");
        migrate(&address).await.expect("migrates");
        Self(Arc::new(open(&address).await))
    }

    fn store(&self) -> &Arc<PostgresStore> {
        &self.0
    }
}

async fn open(address: &PostgresAddress) -> PostgresStore {
    PostgresStore::open(address, PostgresOptions::default()).await.expect("opens")
}

cases!(Postgres);
