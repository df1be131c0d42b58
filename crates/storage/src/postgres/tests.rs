//! What only the database can say.

mod plans;

use super::address::PostgresAddress;
use super::statements;
use lendpay_cluster::Cluster;

async fn migrated() -> tokio_postgres::Client {
    let address: PostgresAddress = Cluster::shared().database().parse().expect("an address");
    super::migrate(&address).await.expect("migrates");
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

#[tokio::test]
async fn migrations_are_done_once() {
    let address: PostgresAddress = Cluster::shared().database().parse().expect("an address");
    assert_eq!(super::migrate(&address).await.expect("migrates"), 20);
    assert_eq!(super::migrate(&address).await.expect("migrates"), 0);
}
