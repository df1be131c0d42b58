//! What happens when the database, or somebody else who uses it, stands in the way.

use crate::conformance::samples::*;
use crate::{Postgres, import, open};
use futures_util::future::join_all;
use lendpay_cluster::{Begin, Cluster};
use lendpay_domain::buyer::Description;
use lendpay_domain::command::{CreateBuyerOutcome, MoveOutcome};
use lendpay_domain::query::Scope;
use lendpay_domain::store::{Commands as _, Export as _, Exports as _, Queries as _, StoreError};
use lendpay_domain::testing::imports::{buyer, numbered_from};
use lendpay_storage::postgres::migrate;
use lendpay_storage::{PostgresAddress, PostgresOptions, PostgresStore};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A cluster of its own, for what is set for all of it, and a store on it with a partner.
async fn own_cluster(options: PostgresOptions) -> (Cluster, Arc<PostgresStore>) {
    let cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
    cluster.sql("postgres", "CREATE DATABASE loans");
    let address: PostgresAddress = cluster.url("loans").parse().expect("an address");
    migrate(&address).await.expect("migrates");
    let store = PostgresStore::open(&address, options).await.expect("opens");
    with_partner(&store, 1).await;
    (cluster, Arc::new(store))
}

/// From now on commits wait for a standby, which is not there.
pub fn without_standby(cluster: &Cluster) {
    cluster.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    cluster.sql("postgres", "SELECT pg_reload_conf()");
}

fn with_standby(cluster: &Cluster) {
    cluster.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
    cluster.sql("postgres", "SELECT pg_reload_conf()");
}

fn backends(cluster: &Cluster) -> usize {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lendpay'";
    cluster.sql("postgres", count).parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_that_hang_never_hold_more_connections_than_the_pool() {
    let (step, patience) = (Duration::from_millis(200), Duration::from_millis(400));
    let options = PostgresOptions { connections: 3, step, patience, ..PostgresOptions::default() };
    let (cluster, store) = own_cluster(options).await;
    without_standby(&cluster);
    let mut unknown = 0;
    for n in 0.. {
        let answer = store.run(creation(1, n, None, description(), 1)).await;
        // Until the setting has arrived everywhere.
        unknown += usize::from(matches!(answer, Err(StoreError::OutcomeUnknown)));
        if answer == Err(StoreError::Unavailable) {
            break;
        }
        assert!(n < 1_000, "a commit that hangs is answered");
    }
    assert!(unknown > 0);
    for n in 2_000..2_003 {
        store.run(creation(1, n, None, description(), 1)).await.expect_err("every connection hangs");
    }
    assert!(backends(&cluster) <= 3, "{}", backends(&cluster));
    with_standby(&cluster);
    for n in 3_000.. {
        if store.run(creation(1, n, None, description(), 1)).await.is_ok() {
            break;
        }
    }
    assert!(backends(&cluster) <= 3, "{}", backends(&cluster));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_dropped_leaves_no_connection() {
    let (cluster, store) = own_cluster(PostgresOptions::default()).await;
    assert!(backends(&cluster) > 0);
    drop(store);
    while backends(&cluster) > 0 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_wait_for_a_standby_is_an_unknown_outcome() {
    let (cluster, store) = own_cluster(PostgresOptions::default()).await;
    without_standby(&cluster);
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    for n in 0.. {
        let command = creation(1, n, None, description(), 1);
        let running = Arc::clone(&store);
        let task = tokio::spawn(async move { running.run(command).await });
        while !task.is_finished() && cluster.sql("postgres", cancel) == "0" {}
        match task.await.expect("no panic") {
            Err(StoreError::OutcomeUnknown) => break,
            // The setting had not arrived yet.
            Ok(CreateBuyerOutcome::Created(_)) => assert!(n < 100, "a cancelled wait is not success"),
            other => panic!("{other:?}"),
        }
    }
    with_standby(&cluster);
    store.run(creation(1, 2_000, None, description(), 1)).await.expect("works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_whose_commits_wait_for_no_standby_is_refused() {
    for setting in ["off", "local"] {
        let url = Cluster::shared().database();
        let address: PostgresAddress = url.parse().expect("an address");
        migrate(&address).await.expect("migrates");
        let name = url.rsplit('/').next().expect("a name");
        Cluster::shared().sql(name, &format!("ALTER DATABASE {name} SET synchronous_commit = {setting}"));
        let opened = PostgresStore::open(&address, PostgresOptions::default()).await;
        let problem = opened.err().expect("refused").to_string();
        assert!(problem.contains("synchronous_commit"), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_hangs_before_the_primary_costs_its_time_once() {
    // The kernel takes connections; nobody answers.
    let frozen = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = frozen.local_addr().expect("bound").port();
    let url = Cluster::shared().database().replace("127.0.0.1:", &format!("127.0.0.1:{port},127.0.0.1:"));
    let address: PostgresAddress = url.parse().expect("an address");
    let begin = Instant::now();
    migrate(&address).await.expect("migrates");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    let begin = Instant::now();
    let store = open(&address).await;
    with_partner(&store, 1).await;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    // Further connections begin with the host that answered.
    let begin = Instant::now();
    let creations = (0..64).map(|n| store.run(creation(1, n, None, description(), 1)));
    let reads = (0..16).map(|n| store.find_buyer(Scope::All, buyer_id(n)));
    let (created, read) = tokio::join!(join_all(creations), join_all(reads));
    assert!(created.iter().all(Result::is_ok) && read.iter().all(Result::is_ok));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_exports_that_stall_keep_nobody_from_reading() {
    let url = Cluster::shared().database();
    let address: PostgresAddress = url.parse().expect("an address");
    migrate(&address).await.expect("migrates");
    let changes: Vec<_> =
        [partner_put(1, None)].into_iter().chain((0..4_500).map(|n| buyer(1, n, description()))).collect();
    import(&address, numbered_from(1, changes), false, at(5)).await.expect("fits");
    let patience = Duration::from_secs(1);
    let options = PostgresOptions { connections: 4, patience, ..PostgresOptions::default() };
    let store = PostgresStore::open(&address, options).await.expect("opens");
    let (mut stalled, mut refused) = (Vec::new(), 0);
    for _ in 0..20 {
        match store.export().await {
            Ok(export) => stalled.push(export),
            Err(StoreError::Overloaded) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((stalled.len(), refused), (2, 18));
    for n in 0..50 {
        assert!(store.find_buyer(Scope::All, buyer_id(n)).await.expect("works").is_some());
    }
    // They end, and others have their turn.
    let mut next = loop {
        match store.export().await {
            Ok(export) => break export,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let mut records = 0;
    loop {
        match next.next().await.expect("goes on").len() {
            0 => break,
            some => records += some,
        }
    }
    assert_eq!(records, 4_501);
    for export in &mut stalled {
        while export.next().await.is_ok_and(|records| !records.is_empty()) {}
        assert_eq!(
            export.next().await,
            Err(StoreError::Unavailable),
            "it has no end that could be taken for the whole"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_on_rows_that_somebody_holds_delay_no_others() {
    let url = Cluster::shared().database();
    let store = Postgres::at(&url).await.store;
    with_partner(&*store, 1).await;
    for n in 0..300 {
        with_offer(&*store, 1, n, terms()).await;
    }
    let (holder, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    let hold = format!("BEGIN; SELECT 1 FROM offers WHERE offer_id IN ('{}', '{}') FOR UPDATE", offer(0), offer(1));
    holder.batch_execute(&hold).await.expect("holds");
    let held: Vec<_> = [0, 0, 0, 1, 1]
        .into_iter()
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.run(accept(1, n, 1)).await })
        })
        .collect();
    for wave in 0..10 {
        let others = (0..29).map(|n| store.run(accept(1, 2 + wave * 29 + n, 1)));
        for outcome in join_all(others).await {
            assert!(matches!(outcome, Ok(MoveOutcome::Done(_))), "{outcome:?}");
        }
        // What nobody has is found absent as ever.
        assert_eq!(store.run(accept(1, 9_999, 1)).await, Ok(MoveOutcome::NotFound));
    }
    assert!(held.iter().all(|task| !task.is_finished()));
    holder.batch_execute("COMMIT").await.expect("lets go");
    for task in held {
        let outcome = task.await.expect("no panic");
        assert!(matches!(outcome, Ok(MoveOutcome::Done(_) | MoveOutcome::Unchanged(_))), "{outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_the_database_rejects_fails_alone_and_at_once() {
    let url = Cluster::shared().database();
    let store = Postgres::at(&url).await.store;
    with_partner(&*store, 1).await;
    // 23514 and 54000.
    let sql =
        "ALTER TABLE buyers ADD CHECK (registration_number <> 'bad'); CREATE INDEX ON buyers (registration_number)";
    Cluster::shared().sql(url.rsplit('/').next().expect("a name"), sql);
    let mut state = 1_u32;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        char::from(33 + ((state >> 24) % 90) as u8)
    });
    let long: String = random.take(60_000).collect();
    let begin = Instant::now();
    let commands = (0..64).map(|n| {
        let described = match n {
            20 => Description { registration_number: Some("bad".into()), ..description() },
            40 => Description { registration_number: Some(long.clone()), ..description() },
            _ => description(),
        };
        store.run(creation(1, n, None, described, 1))
    });
    for (n, outcome) in join_all(commands).await.into_iter().enumerate() {
        match n {
            20 | 40 => assert_eq!(outcome, Err(StoreError::Unavailable)),
            _ => assert!(matches!(outcome, Ok(CreateBuyerOutcome::Created(_))), "{n}: {outcome:?}"),
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_row_fails_only_the_commands_that_look_at_it() {
    let url = Cluster::shared().database();
    let store = Postgres::at(&url).await.store;
    with_partner(&*store, 1).await;
    for n in 0..64 {
        with_offer(&*store, 1, n, terms()).await;
    }
    let sql = format!("UPDATE offers SET terms = set_byte(terms, 3, 0) WHERE offer_id = '{}'", offer(20));
    Cluster::shared().sql(url.rsplit('/').next().expect("a name"), &sql);
    let outcomes = join_all((0..64).map(|n| store.run(accept(1, n, 1)))).await;
    for (n, outcome) in outcomes.into_iter().enumerate() {
        match n {
            20 => assert_eq!(outcome, Err(StoreError::Corrupt)),
            _ => assert!(matches!(outcome, Ok(MoveOutcome::Done(_))), "{n}: {outcome:?}"),
        }
    }
    assert_eq!(store.find_offer(application(1), offer(20), at(1)).await, Err(StoreError::Corrupt));
}
