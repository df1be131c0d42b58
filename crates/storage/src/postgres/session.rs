//! A connection for a while: statements, transactions, and trying again.

use super::error::DbError;
use super::health::Health;
use super::pool::{Object, Pool};
use lendpay_domain::Timestamp;
use lendpay_domain::store::Answer;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A parameter with its value.
pub(super) type Parameter<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// Arrays for a statement: one for each expression, with a value for each row.
macro_rules! columns {
    ($rows:expr, |$row:ident| $($value:expr),+ $(,)?) => {
        vec![$(Box::new($rows.iter().map(|$row| $value).collect::<Vec<_>>()) as $crate::postgres::session::Parameter<'_>),+]
    };
}
pub(super) use columns;

fn by_reference<'a>(parameters: &'a [Parameter<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|it| &**it as &(dyn ToSql + Sync)).collect()
}

/// A connection for a while. Dropped, whatever it has begun is rolled back.
pub(super) struct Session(Option<Object>);

impl Session {
    pub(super) async fn get(pool: &Pool) -> Result<Self, DbError> {
        Ok(Self(Some(pool.get().await?)))
    }

    fn connection(&self) -> &Object {
        self.0.as_ref().expect("it is only taken by what consumes the session")
    }

    /// Back to the pool, outside of a transaction.
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }

    pub(super) async fn rows(&self, sql: &'static str, parameters: Parameters<'_>) -> Result<Vec<Row>, DbError> {
        let connection = self.connection();
        in_time(connection.step, connection.query(sql, parameters)).await
    }

    /// The row that a statement without a key gives.
    pub(super) async fn row(&self, sql: &'static str) -> Result<Row, DbError> {
        self.rows(sql, &[]).await?.into_iter().next().ok_or(DbError::Damaged)
    }

    /// Reads the rows of so many keys, unless that is none.
    pub(super) async fn load(
        &self,
        sql: &'static str,
        count: usize,
        keys: Vec<Parameter<'_>>,
    ) -> Result<Vec<Row>, DbError> {
        if count == 0 { Ok(Vec::new()) } else { self.rows(sql, &by_reference(&keys)).await }
    }

    /// Runs a statement that must change so many rows, unless that is none.
    pub(super) async fn change(
        &self,
        sql: &'static str,
        count: usize,
        values: Vec<Parameter<'_>>,
    ) -> Result<(), DbError> {
        let changed = self.run_for(sql, count, values).await?;
        if changed == count { Ok(()) } else { Err(DbError::Raced) }
    }

    /// Runs a statement for so many rows, unless that is none; returns how many it changed.
    pub(super) async fn run_for(
        &self,
        sql: &'static str,
        count: usize,
        values: Vec<Parameter<'_>>,
    ) -> Result<usize, DbError> {
        if count == 0 { Ok(0) } else { self.run(sql, &by_reference(&values)).await }
    }

    /// As [`Self::change`], with a first parameter of its own: the version of the rows from here on.
    pub(super) async fn change_at(
        &self,
        sql: &'static str,
        version: Timestamp,
        count: usize,
        mut values: Vec<Parameter<'_>>,
    ) -> Result<(), DbError> {
        values.insert(0, Box::new(version));
        self.change(sql, count, values).await
    }

    /// Runs a statement; returns how many rows it changed.
    pub(super) async fn run(&self, sql: &'static str, parameters: Parameters<'_>) -> Result<usize, DbError> {
        let connection = self.connection();
        let changed = in_time(connection.step, connection.execute(sql, parameters)).await?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Begins a transaction. Its statements wait for a row that another session holds no longer than a moment.
    pub(super) async fn begin(&self) -> Result<(), DbError> {
        self.execute("BEGIN; SET LOCAL lock_timeout = '250ms'").await
    }

    /// Begins what sees this moment: the first query fixes it.
    pub(super) async fn begin_snapshot(&self) -> Result<(), DbError> {
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1").await
    }

    async fn execute(&self, statements: &str) -> Result<(), DbError> {
        let connection = self.connection();
        in_time(connection.step, connection.client.batch_execute(statements)).await
    }

    /// Makes it durable. A commit is never cancelled: if it takes too long its outcome is unknown, and the connection
    /// stays in use until the database has answered, so that what hangs there is never more than the pool holds.
    pub(super) async fn commit(mut self) -> Result<(), DbError> {
        let object = self.0.take().expect("it is only taken by what consumes the session");
        let step = object.step;
        let commit = tokio::spawn(async move {
            object.warned.store(false, Ordering::Release);
            match object.client.batch_execute("COMMIT").await {
                // The only warning of a commit: somebody cancelled its wait for a standby.
                Ok(()) if object.warned.load(Ordering::Acquire) => {
                    Err(DbError::Unknown("the wait for a standby was cancelled".to_owned()))
                }
                Ok(()) => Ok(()),
                Err(error) => {
                    drop(Object::take(object));
                    Err(DbError::of_commit(error))
                }
            }
        });
        match tokio::time::timeout(step, commit).await {
            Ok(done) => done.unwrap_or_else(|panic| Err(DbError::Unknown(panic.to_string()))),
            Err(_elapsed) => Err(DbError::Unknown("a commit took too long".to_owned())),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return drop(Object::take(object)) };
        // Its place in the pool is taken until the database has ended what it was told.
        runtime.spawn(async move {
            if object.client.batch_execute("ROLLBACK").await.is_err() {
                drop(Object::take(object));
            }
        });
    }
}

async fn in_time<T>(
    step: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, DbError> {
    match tokio::time::timeout(step, work).await {
        Ok(done) => Ok(done?),
        Err(_elapsed) => Err(DbError::Unavailable("the database does not answer".to_owned())),
    }
}

/// Waits between two tries: 20 ms, twice as long each time, up to half a second, and a random time more so that
/// processes do not meet again and again.
pub(super) struct Backoff(u32);

impl Backoff {
    pub(super) const fn new() -> Self {
        Self(0)
    }

    /// How often it has waited.
    pub(super) const fn waits(&self) -> u32 {
        self.0
    }

    pub(super) async fn wait(&mut self) {
        let base = 20_u64.saturating_mul(1 << self.0.min(5)).min(500);
        self.0 += 1;
        // The keys that the standard library draws for its maps are all the randomness that is needed.
        let jitter = RandomState::new().build_hasher().finish() % (base / 2 + 1);
        tokio::time::sleep(Duration::from_millis(base + jitter)).await;
    }
}

/// Tries until it works, cannot work, or has not worked for so long.
pub(super) async fn persist<T, F>(health: &Health, patience: Duration, mut attempt: impl FnMut() -> F) -> Answer<T>
where
    F: Future<Output = Result<T, DbError>>,
{
    let (since, mut backoff) = (Instant::now(), Backoff::new());
    loop {
        match attempt().await {
            Ok(outcome) => {
                health.works();
                return Ok(outcome);
            }
            Err(error) => {
                health.note(&error);
                if !error.may_pass() || since.elapsed() > patience {
                    return Err(error.answer());
                }
            }
        }
        backoff.wait().await;
    }
}
