//! The same where the database is set in another way, or is behind a pooler.

use crate::conformance::{self, Backend, calls::KeepsCalls};
use crate::{Postgres, cases};
use lendpay_cluster::{Cluster, Pooler};
use lendpay_domain::Timestamp;
use lendpay_domain::calls::Keeping;
use lendpay_domain::change::Record;
use lendpay_domain::import::Imported;
use lendpay_storage::{ImportError, PostgresStore};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// How a database is reached, and what it is like.
trait Kind: Send + 'static {
    /// An empty one.
    fn database() -> String;
}

struct On<K>(Postgres, PhantomData<K>);

impl<K: Kind> Backend for On<K> {
    type Store = PostgresStore;

    async fn fresh() -> Self {
        Self(Postgres::at(&K::database()).await, PhantomData)
    }

    fn store(&self) -> &Arc<PostgresStore> {
        self.0.store()
    }

    async fn import(self, records: Vec<Record>, merge: bool, now: Timestamp) -> (Self, Result<Imported, ImportError>) {
        let (backend, done) = self.0.import(records, merge, now).await;
        (Self(backend, PhantomData), done)
    }

    async fn reopen(self) -> Self {
        Self(self.0.reopen().await, PhantomData)
    }

    async fn crash(self) -> Self {
        Self(self.0.crash().await, PhantomData)
    }
}

impl<K: Kind> KeepsCalls for On<K> {
    async fn keeping(keeping: Keeping) -> Self {
        Self(Postgres::at(&K::database()).await.keep(keeping).await, PhantomData)
    }
}

/// Where the database refuses whatever is not as if one came after the other (40001): tried again, nobody notices.
mod serializable {
    use super::*;

    struct Serializable;

    impl Kind for Serializable {
        fn database() -> String {
            let url = Cluster::shared().database();
            let name = url.rsplit('/').next().expect("a name");
            let sql = format!("ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'");
            Cluster::shared().sql(name, &sql);
            url
        }
    }

    cases! { On<Serializable>,
        races::accepts_declines_and_archives_of_one_offer
        races::accepts_of_one_offer
        races::creations_with_one_key
        events::a_reader_beside_64_writers_gets_each_event_once
    }
}

/// Where each transaction has another session of the database.
mod pooled {
    use super::*;

    struct Pooled;

    impl Kind for Pooled {
        fn database() -> String {
            static POOLER: OnceLock<Pooler> = OnceLock::new();
            let pooler =
                POOLER.get_or_init(|| Pooler::start(Cluster::shared(), "transaction", &["default_pool_size = 4"]));
            pooler.url(&Cluster::shared().database())
        }
    }

    cases!(On<Pooled>);
}
