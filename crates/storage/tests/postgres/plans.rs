//! How the database carries out what the store prepared on tables that were empty: it keeps such a plan until it has
//! looked at the tables again, which may be a minute, while they grow.

use crate::Postgres;
use crate::conformance::Backend as _;
use crate::conformance::expiries::{expire_all, until};
use crate::conformance::samples::*;
use futures_util::future::join_all;
use lendpay_cluster::Cluster;
use lendpay_domain::query::FindEvents;
use lendpay_domain::store::{Commands as _, Queries as _};
use tokio_postgres::NoTls;

/// How often whole tables were read, and which. The counter of changes has one row.
const WHOLE: &str = "SELECT coalesce(sum(seq_scan), 0)::bigint, coalesce(string_agg(format('%s %s times', relname, seq_scan), ', ') \
     FILTER (WHERE seq_scan > 0), '') FROM pg_stat_user_tables WHERE relname NOT IN ('change_counter', 'lendpay_migrations')";

#[tokio::test]
async fn no_table_is_read_as_a_whole_however_small_it_was_when_statements_were_prepared() {
    let url = Cluster::shared().database();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    // Making an index reads the table.
    let migrated = Postgres::at(&url).await;
    migrated.store.close().await.expect("closes");
    client.batch_execute("SELECT pg_stat_reset()").await.expect("resets");
    let backend = migrated.reopen().await;
    let store = backend.store();
    with_partner(&**store, 1).await;
    for begin in (0..200).step_by(20) {
        join_all((begin..begin + 20).map(|n| with_offer(&**store, 1, n, until(100)))).await;
        let creations = (begin..begin + 20).map(|n| store.run(creation(1, n, None, description(), 3)));
        assert!(join_all(creations).await.iter().all(Result::is_ok));
        store.find_events(FindEvents::all(0, 10)).await.expect("works");
    }
    expire_all(&**store, at(200)).await;
    // A session tells its counts when it ends, at the latest.
    backend.store().close().await.expect("closes");
    loop {
        let others =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        if client.query_one(others, &[]).await.expect("works").get::<_, i64>(0) == 0 {
            break;
        }
    }
    let row = client.query_one(WHOLE, &[]).await.expect("works");
    assert_eq!(row.get::<_, i64>(0), 0, "{}", row.get::<_, &str>(1));
}
