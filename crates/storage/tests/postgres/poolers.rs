//! PgBouncer between the store and the database.

use crate::conformance::samples::*;
use crate::faults::without_standby;
use futures_util::future::join_all;
use lendpay_cluster::{Begin, Cluster, Pooler};
use lendpay_domain::store::{Commands as _, StoreError};
use lendpay_storage::postgres::migrate;
use lendpay_storage::{PostgresAddress, PostgresOptions, PostgresStore};
use tokio::sync::oneshot;

/// A store with a partner behind a pooler, and the name of its database.
async fn behind(pooler: &Pooler, cluster: &Cluster) -> (PostgresStore, String) {
    let url = pooler.url(&cluster.database());
    let address: PostgresAddress = url.parse().expect("an address");
    migrate(&address).await.expect("migrates");
    let store = PostgresStore::open(&address, PostgresOptions::default()).await.expect("opens");
    with_partner(&store, 1).await;
    (store, url.rsplit('/').next().expect("a name").to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_prepared_where_a_transaction_may_have_any_session() {
    let cluster = Cluster::start(Begin::Empty, &["fsync=off", "log_min_duration_statement=0", "log_line_prefix=%d: "]);
    for (mode, setting, prepares) in [
        ("transaction", "server_round_robin = 0", false),
        ("transaction", "server_round_robin = 1", false),
        ("transaction", "default_pool_size = 1", false),
        ("session", "", true),
    ] {
        let pooler = Pooler::start(&cluster, mode, &[setting]);
        let (store, database) = behind(&pooler, &cluster).await;
        let done = join_all((0..200).map(|n| store.run(creation(1, n, None, description(), 1)))).await;
        assert!(done.iter().all(Result::is_ok), "{mode} {setting} {done:?}");
        let log = cluster.log();
        let parsed =
            log.lines().filter(|line| line.starts_with(&database)).filter_map(|line| line.split_once(" parse "));
        let named: Vec<_> = parsed.filter(|(_, statement)| !statement.starts_with("<unnamed>")).collect();
        assert_eq!(!named.is_empty(), prepares, "{mode} {setting} {named:?}");
    }
}

/// A pooler tells that the database is gone with an error of its own, as if the database had answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_session_is_lost_behind_a_pooler_has_an_unknown_outcome() {
    for mode in ["transaction", "session"] {
        let cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
        let pooler = Pooler::start(&cluster, mode, &[]);
        let (store, _) = behind(&pooler, &cluster).await;
        without_standby(&cluster);
        let (answered, mut answer) = oneshot::channel();
        let commits = async {
            for n in 0.. {
                let answer = store.run(creation(1, n, None, description(), 1)).await;
                // Until the setting has arrived.
                if answer.is_err() {
                    answered.send(answer.map(drop)).expect("somebody waits");
                    return;
                }
            }
        };
        let kill = async {
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            while cluster.sql("postgres", waits) == "0" {
                tokio::task::yield_now().await;
            }
            answer.try_recv().expect_err("it waits");
            cluster.kill();
        };
        tokio::join!(commits, kill);
        assert_eq!(answer.await.expect("sent"), Err(StoreError::OutcomeUnknown), "{mode}");
    }
}
