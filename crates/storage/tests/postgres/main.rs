//! The store on PostgreSQL: the conformance suite, and what only a database can do.

#[path = "../conformance/mod.rs"]
mod conformance;
mod expiries;
mod fairness;
mod faults;
#[cfg(feature = "memory")]
#[path = "../model/mod.rs"]
mod model;
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

impl KeepsCalls for Postgres {
    async fn keeping(keeping: Keeping) -> Self {
        let backend = Self::fresh().await;
        let options = PostgresOptions { calls: keeping, ..PostgresOptions::default() };
        let store = PostgresStore::open(&backend.address, options).await.expect("opens").into();
        Self { store, ..backend }
    }
}

cases!(Postgres);

/// Rows that were loaded and locked lead to what the same history leads to in memory.
#[cfg(feature = "memory")]
#[test]
fn random_histories_agree_with_the_reference() {
    model::agrees_with_the_reference::<Postgres>(6);
}

/// The same races where the database refuses whatever is not as if one came after the other (40001): tried again, nobody
/// notices.
mod serializable {
    use super::{
        Arc, Backend, Cluster, ImportError, Imported, Postgres, PostgresStore, Record, Timestamp, conformance,
    };

    struct Serializable(Postgres);

    impl Backend for Serializable {
        type Store = PostgresStore;

        async fn fresh() -> Self {
            let url = Cluster::shared().database();
            let name = url.rsplit('/').next().expect("a name");
            let sql = format!("ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'");
            Cluster::shared().sql(name, &sql);
            Self(Postgres::at(&url).await)
        }

        fn store(&self) -> &Arc<PostgresStore> {
            self.0.store()
        }

        async fn import(
            self,
            records: Vec<Record>,
            merge: bool,
            now: Timestamp,
        ) -> (Self, Result<Imported, ImportError>) {
            let (backend, done) = self.0.import(records, merge, now).await;
            (Self(backend), done)
        }

        async fn reopen(self) -> Self {
            Self(self.0.reopen().await)
        }
    }

    crate::cases! { Serializable,
        races::accepts_declines_and_archives_of_one_offer
        races::accepts_of_one_offer
        races::creations_with_one_key
        events::a_reader_beside_64_writers_gets_each_event_once
    }
}
