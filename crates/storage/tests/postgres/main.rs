//! The store on PostgreSQL: the conformance suite, and what only a database can do.

#[path = "../conformance/mod.rs"]
mod conformance;
mod rules;

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

/// The same races where the database refuses whatever is not as if one came after the other (40001): tried again, nobody
/// notices.
mod serializable {
    use super::{Backend, Cluster, PostgresAddress, PostgresStore, conformance, migrate, open};
    use std::sync::Arc;

    struct Serializable(Arc<PostgresStore>);

    impl Backend for Serializable {
        type Store = PostgresStore;

        async fn fresh() -> Self {
            let url = Cluster::shared().database();
            let name = url.rsplit('/').next().expect("a name");
            let sql = format!("ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'");
            Cluster::shared().sql(name, &sql);
            let address: PostgresAddress = url.parse().expect("an address");
            migrate(&address).await.expect("migrates");
            Self(Arc::new(open(&address).await))
        }

        fn store(&self) -> &Arc<PostgresStore> {
            &self.0
        }
    }

    crate::cases! { Serializable,
        races::accepts_declines_and_archives_of_one_offer
        races::accepts_of_one_offer
        races::creations_with_one_key
        events::a_reader_beside_64_writers_gets_each_event_once
    }
}

/// Texts that a database would refuse, or could mistake for its own way to write them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_text_comes_back_as_it_was() {
    use conformance::samples::{creation, description};
    use lendpay_domain::Store as _;
    use lendpay_domain::buyer::Description;
    let backend = Postgres::fresh().await;
    for (n, text) in
        (1..).zip(["\0", "a\0b", "\u{1a}", "\u{1a}0", "\u{1a}1\0", "\\0", "\u{fffe}\u{feff}\u{2028}", "'; --"])
    {
        let described = Description { name: Some(text.into()), ..description() };
        let command = creation(1, n, None, described.clone(), 1);
        backend.store().create_buyer(command.clone()).await.expect("works");
        let found = backend.store().find_buyer(command.id).await.expect("works").expect("there");
        assert_eq!(found.description, described, "{text:?}");
    }
}
