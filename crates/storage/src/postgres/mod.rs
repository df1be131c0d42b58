//! The store on PostgreSQL, for more than one process.
//!
//! | module | subject |
//! |---|---|
//! | `address` | the connection string, TLS |
//! | `migrations` | the tables, and how they come to be |
//! | `pool`, `pooler`, `session` | connections; poolers between; statements, transactions, trying again |
//! | `error`, `health` | what can go wrong and what follows; telling it |
//! | `statements`, `rows` | every statement; rows and what they stand for |
//! | `group`, `view`, `write` | commands that go to the database together: the queue, the rows that are loaded, what is written |
//! | `read`, `cache` | reads; keys and clients in memory |
//! | `webhooks` | endpoints of webhooks, and which process serves which |
//! | `rate` | requests that processes share |
//! | `calls` | calls that changed nothing |
//! | `due` | expiries that are due |
//! | `numbering`, `order` | the sequences of changes |
//! | `export`, `import` | every change, out and in |

mod address;
mod cache;
mod calls;
mod due;
mod error;
mod export;
mod group;
mod health;
mod import;
mod migrations;
mod numbering;
mod order;
mod pool;
mod pooler;
mod rate;
mod read;
mod rows;
mod session;
mod statements;
#[cfg(test)]
mod tests;
mod view;
mod webhooks;
mod write;

pub use address::PostgresAddress;
pub use export::PostgresExport;
pub use import::PostgresImport;
pub use migrations::migrate;

use crate::calls::Recorder;
use crate::job::{Done, job};
use crate::stats::StoreStats;
use crate::uses::Hours;
use calls::Table;
use group::Groups;
use health::Health;
use lendpay_domain::Timestamp;
use lendpay_domain::calls::Keeping;
use lendpay_domain::command::{Command, Stamp, UseKey, Whole};
use lendpay_domain::key::KeyHash;
use lendpay_domain::query::DueCursor;
use lendpay_domain::store::{Answer, Commands, StoreError};
use numbering::Looks;
use session::Session;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{RwLock, Semaphore};

/// How the store uses the database.
#[derive(Clone, Copy, Debug)]
pub struct PostgresOptions {
    /// The most connections, also counting those on which the database hangs. Two carry commands, up to two exports;
    /// the others are for reads.
    pub connections: usize,
    /// The most commands that wait; more are refused.
    pub queue: usize,
    /// How long a command may wait for a database that is busy or away.
    pub patience: Duration,
    /// How long one step may take: a statement, a commit, or the wait for a connection. A database that takes longer
    /// hangs.
    pub step: Duration,
    /// How calls that changed nothing are kept.
    pub calls: Keeping,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        let (patience, step) = (Duration::from_secs(10), Duration::from_secs(5));
        Self { connections: 16, queue: 4_096, patience, step, calls: Keeping::DEFAULT }
    }
}

/// Why a database cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The tables are older than this program, or so new that it cannot go on with them.
    #[error("{}", version_problem(*.found, *.wanted))]
    Version {
        /// The version of the tables; 0 if there are none.
        found: i32,
        /// The version that this program works with.
        wanted: i32,
    },
    /// The database answers before it has written.
    #[error(
        "The database has synchronous_commit off or local: what it says is written could be lost with it. Set it to on, \
         for this database or its user."
    )]
    Asynchronous,
    /// The database did not answer, or said no.
    #[error("The database at {address} cannot be used: {reason}.")]
    Unreachable {
        /// The database, without the password.
        address: String,
        /// What it said.
        reason: String,
    },
    /// TLS or the pool cannot be set up.
    #[error("{0}.")]
    Tls(String),
    /// The system gives no thread.
    #[error("The store's thread cannot be started ({0}); raise the limit on processes.")]
    Thread(String),
}

fn version_problem(found: i32, wanted: i32) -> String {
    match found {
        0 => "There are no tables in the database; make them with `lendpay migrate`.".to_owned(),
        _ if found < wanted => format!(
            "The database has tables of version {found}, and this program needs {wanted}; run `lendpay migrate` with this \
             program."
        ),
        _ => format!(
            "The database has tables of version {found}, and this program knows {wanted}; run the program that made them, or \
             a newer one."
        ),
    }
}

/// The store. Any number of processes can have it open.
pub struct PostgresStore {
    groups: Arc<Groups>,
    hours: Hours,
    /// Whoever notes the use of a key reads this until that is done.
    uses_under_way: Arc<RwLock<()>>,
    /// Bounds the exports that are under way.
    exports: Arc<Semaphore>,
    calls: Recorder,
    keeping: Keeping,
    /// Of those who wait for changes.
    looks: Looks,
}

impl PostgresStore {
    /// Opens a database whose tables are there. One that does not answer is no error: it may come back, and until then
    /// commands are refused.
    ///
    /// # Errors
    /// If the tables are older than this program or too new for it, or TLS cannot be set up.
    pub async fn open(address: &PostgresAddress, options: PostgresOptions) -> Result<Self, OpenError> {
        let health = Arc::new(Health::default());
        let pool = pool::pool(address, options, &health)?;
        match Session::get(&pool).await {
            Ok(session) => session.give_back(),
            Err(error) => {
                if let Some(problem) = health.fatal() {
                    return Err(problem);
                }
                health.note(&error);
            }
        }
        let table = Table::new(pool.clone(), Arc::clone(&health), options.calls);
        let calls = Recorder::start(table, &health.counters).map_err(|error| OpenError::Thread(error.to_string()))?;
        Ok(Self {
            groups: Groups::start(pool, options, health),
            hours: Hours::default(),
            uses_under_way: Arc::default(),
            exports: export::limit(),
            calls,
            keeping: options.calls,
            looks: Looks::default(),
        })
    }

    /// Takes no more commands, does those that wait, and closes every connection.
    ///
    /// # Errors
    /// None yet; commands that could not be done were answered so.
    pub async fn close(&self) -> Answer<()> {
        self.calls.hand_on().await;
        self.groups.close().await;
        Ok(())
    }

    /// Is ready, with the reason, when this program must not go on with this database; never otherwise.
    pub fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        self.groups.health.failure()
    }

    /// Why the database cannot be used, if it cannot.
    pub fn failure_reason(&self) -> Option<String> {
        self.groups.health.problem()
    }

    /// Counters.
    pub fn stats(&self) -> StoreStats {
        self.groups.health.stats(self.groups.queued())
    }
}

/// The tasks hold what the store is made of.
impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.groups.abandon();
    }
}

impl Commands for PostgresStore {
    async fn run<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        let (work, waiting) = job(command, None);
        self.groups.push(work)?;
        // Without an answer its group has ended in the middle, by a panic.
        match waiting.done(StoreError::OutcomeUnknown, &Whole).await {
            Done::Answer(answer) => answer,
            Done::Again(_) => unreachable!("rows hold the terms of their offers"),
        }
    }

    async fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        self.expire_due(after, now, most, stamp).await
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        let Some(at) = self.hours.new_hour(key, at) else { return };
        let (work, waiting) = job(UseKey { key, at }, None);
        // It may be lost.
        if self.groups.push(work).is_ok() {
            let under_way = Arc::clone(&self.uses_under_way).try_read_owned();
            tokio::spawn(async move {
                let _ = waiting.done(StoreError::OutcomeUnknown, &Whole).await;
                drop(under_way);
            });
        }
    }

    async fn check(&self) -> Answer<()> {
        self.writable().await
    }
}
