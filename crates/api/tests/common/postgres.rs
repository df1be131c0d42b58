//! The store on PostgreSQL, for suites that run against any kind.

use lendpay_cluster::Cluster;
use lendpay_storage::{PostgresAddress, PostgresOptions, PostgresStore};
use std::time::Duration;

/// The store.
pub type Backend = PostgresStore;

/// Nothing: the database goes with the cluster.
pub type Remains = ();

/// As long as a request takes at most.
const LONG: Duration = Duration::from_secs(25);

/// Opens an empty store.
pub async fn fresh() -> (Backend, Remains) {
    // A machine that is frozen for some seconds fails no test here: how long the store waits is tested elsewhere.
    let address = format!("{}?connect_timeout=25", Cluster::shared().database());
    let address: PostgresAddress = address.parse().expect("an address");
    lendpay_storage::postgres::migrate(&address).await.expect("a database takes tables");
    let options = PostgresOptions { connections: 4, patience: LONG, step: LONG, ..PostgresOptions::default() };
    (PostgresStore::open(&address, options).await.expect("it opens"), ())
}
