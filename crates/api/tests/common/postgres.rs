//! The store on PostgreSQL, for suites that run against any kind.

use lendpay_cluster::Cluster;
use lendpay_storage::{PostgresAddress, PostgresOptions, PostgresStore};
use std::time::Duration;

/// The store.
pub type Backend = PostgresStore;

/// Nothing: the database goes with the cluster.
pub type Remains = ();

/// Longer than a machine is frozen: how long the store waits is tested elsewhere.
const LONG: Duration = Duration::from_secs(25);

/// Opens an empty store.
pub async fn fresh() -> (Backend, Remains) {
    let address = format!("{}?connect_timeout={}", Cluster::shared().database(), LONG.as_secs());
    let address: PostgresAddress = address.parse().expect("an address");
    lendpay_storage::postgres::migrate(&address).await.expect("a database takes tables");
    let options = PostgresOptions { connections: 4, patience: LONG, step: LONG, ..PostgresOptions::default() };
    (PostgresStore::open(&address, options).await.expect("it opens"), ())
}
