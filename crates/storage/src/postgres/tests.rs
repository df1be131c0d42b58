//! What only the database can say.

mod plans;

use super::address::PostgresAddress;
use super::{PostgresOptions, PostgresStore, statements};
use lendpay_cluster::Cluster;
use lendpay_domain::rate::{Leases as _, RateLimit};
use lendpay_domain::testing::samples::partner;

/// A database with tables.
async fn tables() -> PostgresAddress {
    let address: PostgresAddress = Cluster::shared().database().parse().expect("an address");
    super::migrate(&address).await.expect("migrates");
    address
}

async fn migrated() -> tokio_postgres::Client {
    let address = tables().await;
    let (client, connection) = address.config.connect(tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// Every statement, with the types that it takes and gives.
#[tokio::test]
async fn every_statement_has_the_types_that_the_program_reads_and_writes() {
    let client = migrated().await;
    let mut found = String::new();
    for (name, sql) in statements::ALL {
        let prepared = client.prepare(sql).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let takes: Vec<_> = prepared.params().iter().map(|kind| kind.name()).collect();
        let gives: Vec<_> =
            prepared.columns().iter().map(|column| format!("{} {}", column.name(), column.type_())).collect();
        found.push_str(&format!("{name}\n  takes {}\n  gives {}\n", takes.join(", "), gives.join(", ")));
    }
    assert_eq!(found, include_str!("statements.txt"), "{found}");
}

/// What is taken is gone for everybody, and no more is given than there is.
#[tokio::test]
async fn requests_are_leased_until_none_is_left() {
    let store = PostgresStore::open(&tables().await, PostgresOptions::default()).await.expect("opens");
    let limit: RateLimit = "10/1000s".parse().expect("a limit");
    let lease = async |n, want| {
        let lease = store.lease(partner(n), limit, want).await.expect("an answer");
        (lease.granted, limit.left(lease.full_in))
    };
    assert_eq!(lease(1, 4).await, (4, 6));
    assert_eq!(lease(1, 0).await, (0, 6));
    assert_eq!(lease(1, 8).await, (6, 0));
    assert_eq!(lease(1, 1).await, (0, 0));
    assert_eq!(lease(2, 11).await, (10, 0), "another partner has all of its own");
    let quick: RateLimit = "1000/1s".parse().expect("a limit");
    let taken = store.lease(partner(3), quick, 1_000).await.expect("an answer");
    assert_eq!(taken.granted, 1_000);
    let mut back = 0;
    while back < 100 {
        back += store.lease(partner(3), quick, 1_000).await.expect("an answer").granted;
    }
    store.close().await.expect("closes");
}

#[tokio::test]
async fn migrations_are_done_once() {
    let address: PostgresAddress = Cluster::shared().database().parse().expect("an address");
    assert_eq!(super::migrate(&address).await.expect("migrates"), 25);
    assert_eq!(super::migrate(&address).await.expect("migrates"), 0);
}
