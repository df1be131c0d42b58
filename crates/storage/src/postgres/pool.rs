//! Connections: how they are made, checked and kept.

use super::address::PostgresAddress;
use super::error::DbError;
use super::health::Health;
use super::session::Parameters;
use super::{OpenError, PostgresOptions, migrations, pooler, statements as sql};
use deadpool::Runtime;
use deadpool::managed::{self, Metrics, RecycleError, RecycleResult, Timeouts};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

pub(super) type Pool = managed::Pool<Manager>;

pub(super) type Object = managed::Object<Manager>;

/// Makes the pool. Nothing is connected yet.
pub(super) fn pool(
    address: &PostgresAddress,
    options: PostgresOptions,
    health: &Arc<Health>,
) -> Result<Pool, OpenError> {
    let (hosts, health) = (address.hosts(), Arc::clone(health));
    // Each host has its time, so the whole needs no other bound.
    let (last_good, pooled) = (AtomicUsize::new(0), OnceCell::new());
    let manager = Manager { hosts, last_good, tls: address.tls()?, health, step: options.step, pooled };
    let timeouts = Timeouts { wait: Some(options.step), create: None, recycle: Some(options.step) };
    let pool = Pool::builder(manager).max_size(options.connections).timeouts(timeouts).runtime(Runtime::Tokio1);
    pool.build().map_err(|error| OpenError::Tls(error.to_string()))
}

/// A statement that is prepared is planned once for all values. While a table is nearly empty, reading all of it is the
/// best plan, and the database keeps that until it has looked at the table again, which may be a minute. So nothing is
/// planned that way: there is an index for whatever is looked for.
///
/// A table of a few rows may still have to be read as a whole. Such a plan counts as very costly, and the database would
/// compile it, which takes longer than any statement of the store. So compiling is off.
pub(super) const BY_INDEX: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
     SET enable_bitmapscan = off; SET jit = off";

/// Makes connections.
pub(super) struct Manager {
    /// One configuration for each host.
    hosts: Vec<Config>,
    /// The host of the last connection, which is asked first.
    last_good: AtomicUsize,
    tls: MakeRustlsConnect,
    health: Arc<Health>,
    /// How long a statement may take.
    step: Duration,
    /// Whether transactions of a connection have different sessions of the database.
    pooled: OnceCell<bool>,
}

/// A connection with what was prepared on it.
pub(super) struct Connection {
    pub(super) client: Client,
    /// `None` if the next transaction may have another session of the database, where nothing of this is prepared.
    statements: Option<Mutex<HashMap<&'static str, Statement>>>,
    /// Whether the database has sent a warning since this was last set to false.
    pub(super) warned: Arc<AtomicBool>,
    /// How long a statement may take.
    pub(super) step: Duration,
}

impl Connection {
    /// Reads rows.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        match self.prepared(sql).await? {
            Some(statement) => self.client.query(&statement, parameters).await,
            None => self.client.query_typed(sql, &pooler::typed(sql, parameters)).await,
        }
    }

    /// Changes rows; returns how many.
    pub(super) async fn execute(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<u64, tokio_postgres::Error> {
        match self.prepared(sql).await? {
            Some(statement) => self.client.execute(&statement, parameters).await,
            None => self.client.execute_typed(sql, &pooler::typed(sql, parameters)).await,
        }
    }

    /// `None` if it must be sent unnamed.
    async fn prepared(&self, sql: &'static str) -> Result<Option<Statement>, tokio_postgres::Error> {
        let Some(statements) = &self.statements else { return Ok(None) };
        let known = statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let statement = self.client.prepare(sql).await?;
        statements.lock().unwrap_or_else(PoisonError::into_inner).insert(sql, statement.clone());
        Ok(Some(statement))
    }
}

/// Connects to the first of some hosts that answers in its time and can write, beginning with the one at `first`. The
/// time of a host is its `connect_timeout`, for the whole attempt.
pub(super) async fn connect(
    hosts: &[Config],
    first: &AtomicUsize,
    tls: &MakeRustlsConnect,
    step: Duration,
) -> Result<Connection, DbError> {
    let (start, mut problem) = (first.load(Ordering::Relaxed), "no host is named".to_owned());
    for n in (start..start + hosts.len()).map(|n| n % hosts.len()) {
        let config = &hosts[n];
        let limit = config.get_connect_timeout().copied().unwrap_or(step);
        match tokio::time::timeout(limit, config.connect(tls.clone())).await {
            Ok(Ok((client, mut connection))) => {
                first.store(n, Ordering::Relaxed);
                let warned = Arc::new(AtomicBool::new(false));
                let flag = Arc::clone(&warned);
                // Ends with the client, or with the connection.
                tokio::spawn(async move {
                    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                        if let AsyncMessage::Notice(notice) = message
                            && notice.parsed_severity() == Some(Severity::Warning)
                        {
                            flag.store(true, Ordering::Release);
                        }
                    }
                });
                return Ok(Connection { client, statements: Some(Mutex::default()), warned, step });
            }
            Ok(Err(error)) => problem = super::address::chain(&error),
            Err(_elapsed) => problem = "a host did not answer in time".to_owned(),
        }
    }
    Err(DbError::Unavailable(problem))
}

impl managed::Manager for Manager {
    type Type = Connection;
    type Error = DbError;

    async fn create(&self) -> Result<Connection, DbError> {
        let connect = || connect(&self.hosts, &self.last_good, &self.tls, self.step);
        let mut connection = connect().await?;
        let check = async {
            let pooled = async || pooler::shares_sessions(&connection.client, &connect().await?.client).await;
            let pooled = *self.pooled.get_or_try_init(pooled).await?;
            if !pooled {
                connection.client.batch_execute(BY_INDEX).await?;
            }
            let version = migrations::version(&connection.client).await?;
            let row = connection.client.query_typed_one(sql::COMMITS_WAIT, &[]).await?;
            Ok::<_, DbError>((pooled, version, row.try_get::<_, bool>(0)?))
        };
        let checked = tokio::time::timeout(self.step, check).await;
        let (pooled, version, waits) =
            checked.map_err(|_| DbError::Unavailable("the database does not answer".to_owned()))??;
        if pooled {
            connection.statements = None;
        }
        let problem = if !version.fits() {
            OpenError::Version { found: version.found, wanted: migrations::VERSION }
        } else if !waits {
            OpenError::Asynchronous
        } else {
            return Ok(connection);
        };
        self.health.fail(problem.clone());
        Err(DbError::Unavailable(problem.to_string()))
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<DbError> {
        if connection.client.is_closed() { Err(RecycleError::message("the connection is closed")) } else { Ok(()) }
    }
}
