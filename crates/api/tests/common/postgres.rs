//! The store on PostgreSQL, for suites that run against any kind.

use lendpay_cluster::Cluster;
use lendpay_storage::{PostgresAddress, PostgresOptions, PostgresStore};

/// The store.
pub type Backend = PostgresStore;

/// Nothing: the database goes with the cluster.
pub type Remains = ();

/// Opens an empty store.
pub async fn fresh() -> (Backend, Remains) {
    let address: PostgresAddress = Cluster::shared().database().parse().expect("an address");
    lendpay_storage::postgres::migrate(&address).await.expect("a database takes tables");
    let options = PostgresOptions { connections: 4, ..PostgresOptions::default() };
    (PostgresStore::open(&address, options).await.expect("it opens"), ())
}
