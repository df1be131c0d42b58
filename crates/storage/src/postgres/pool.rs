//! Connections, and what is done on them.

use super::address::PostgresAddress;
use super::health::Health;
use super::trouble::Trouble;
use super::{OpenError, PostgresOptions, migrations, statements as sql};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

/// How long one step may take: a statement, or a connection. A database that takes longer is one that hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Makes the pool. Nothing is connected yet.
pub(super) fn pool(
    address: &PostgresAddress,
    options: PostgresOptions,
    health: &Arc<Health>,
) -> Result<Pool, OpenError> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(Config::clone(&address.config), address.tls()?, recycling);
    let health = Arc::clone(health);
    let check = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
        let health = Arc::clone(&health);
        Box::pin(async move {
            let found = migrations::version(client).await.map_err(HookError::Backend)?;
            let waits = client.query_one(sql::COMMITS_WAIT, &[]).await.map_err(HookError::Backend)?;
            let problem = if found != migrations::VERSION {
                OpenError::Version { found, wanted: migrations::VERSION }
            } else if !waits.try_get(0).map_err(HookError::Backend)? {
                OpenError::Asynchronous
            } else {
                return Ok(());
            };
            health.fail(problem.clone());
            Err(HookError::message(problem.to_string()))
        })
    });
    Pool::builder(manager)
        .max_size(options.connections)
        .timeouts(Timeouts { wait: Some(PATIENCE), create: Some(PATIENCE), recycle: Some(PATIENCE) })
        .runtime(Runtime::Tokio1)
        .post_create(check)
        .build()
        .map_err(|error| OpenError::Tls(error.to_string()))
}

/// A connection for a while. It is thrown away unless it is given back: after an error nobody knows what state it is in.
pub(super) struct Session(Option<Object>);

impl Session {
    pub(super) async fn get(pool: &Pool) -> Result<Self, Trouble> {
        Ok(Self(Some(pool.get().await?)))
    }

    fn client(&self) -> Result<&Object, Trouble> {
        // It is only taken by what consumes the session.
        self.0.as_ref().ok_or_else(|| Trouble::Again("the connection is gone".to_owned()))
    }

    /// Back to the pool.
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }

    async fn prepared(&self, sql: &str) -> Result<Statement, Trouble> {
        in_time(self.client()?.prepare_cached(sql)).await
    }

    pub(super) async fn rows(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Trouble> {
        let statement = self.prepared(sql).await?;
        in_time(self.client()?.query(&statement, parameters)).await
    }

    pub(super) async fn row(&self, sql: &str, parameters: Parameters<'_>) -> Result<Option<Row>, Trouble> {
        Ok(self.rows(sql, parameters).await?.into_iter().next())
    }

    /// Runs a statement; returns how many rows it changed.
    pub(super) async fn run(&self, sql: &str, parameters: Parameters<'_>) -> Result<usize, Trouble> {
        let statement = self.prepared(sql).await?;
        let changed = in_time(self.client()?.execute(&statement, parameters)).await?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    pub(super) async fn begin(&self) -> Result<(), Trouble> {
        in_time(self.client()?.batch_execute("BEGIN")).await
    }

    /// Begins what sees one moment.
    pub(super) async fn begin_snapshot(&self) -> Result<(), Trouble> {
        in_time(self.client()?.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")).await
    }

    /// Ends a transaction that has changed nothing, or whose changes are not wanted.
    pub(super) async fn roll_back(self) -> Result<(), Trouble> {
        in_time(self.client()?.batch_execute("ROLLBACK")).await?;
        self.give_back();
        Ok(())
    }

    /// Makes it durable. A commit is never cancelled: if it takes too long, the connection is dropped and nobody knows.
    pub(super) async fn commit(self) -> Result<(), Trouble> {
        match tokio::time::timeout(PATIENCE, self.client()?.batch_execute("COMMIT")).await {
            Ok(Ok(())) => {
                self.give_back();
                Ok(())
            }
            Ok(Err(error)) => Err(Trouble::of_commit(error)),
            Err(_elapsed) => Err(Trouble::Unknown("a commit took too long".to_owned())),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            // Not back to the pool.
            drop(Object::take(object));
        }
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Trouble> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => Ok(done?),
        Err(_elapsed) => Err(Trouble::Again("the database does not answer".to_owned())),
    }
}

/// Waits between two tries: 20 ms, twice as long each time, up to half a second, and a little by chance so that processes do not
/// meet again and again.
pub(super) struct Backoff(u32);

impl Backoff {
    pub(super) const fn new() -> Self {
        Self(0)
    }

    /// Whether nothing has been tried in vain yet.
    pub(super) const fn is_new(&self) -> bool {
        self.0 == 0
    }

    pub(super) async fn wait(&mut self) {
        let base = 20_u64.saturating_mul(1 << self.0.min(5)).min(500);
        self.0 += 1;
        // The keys that the standard library draws for its maps are all the chance that is needed.
        let jitter = RandomState::new().build_hasher().finish() % (base / 2 + 1);
        tokio::time::sleep(Duration::from_millis(base + jitter)).await;
    }
}
