//! What can go wrong between the store and the database, and what follows.

use super::address::chain;
use deadpool::managed::PoolError;
use lendpay_domain::store::StoreError;
use tokio_postgres::error::SqlState;

/// Why something was not done.
#[derive(Debug)]
pub(super) enum DbError {
    /// Nothing was done, since another transaction changed the same rows; it works the next time.
    Raced,
    /// Nothing was done, since another session holds a row.
    Locked,
    /// Nothing was done: the connection failed, or the server as a whole does not work. It may work later.
    Unavailable(String),
    /// Nothing was done: a statement failed. It may work later; other statements may work now.
    Failed(String),
    /// Nothing was done, and it will not work later: the database rejects a value or the statement.
    Refused(String),
    /// It may have been done: the outcome of a commit is unknown.
    Unknown(String),
    /// A stored row is not what was written.
    Damaged,
}

/// Another transaction was in the way.
const RACED: [SqlState; 3] =
    [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];

/// Classes that say that the server as a whole does not work: connection, authorization, transaction state (it is
/// read-only), resources, operator's intervention.
const SERVER: [&str; 5] = ["08", "25", "28", "53", "57"];

/// Classes of values that cannot be kept. Their messages may quote the value.
const VALUE: [&str; 3] = ["22", "23", "54"];

impl From<tokio_postgres::Error> for DbError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(error) = error.as_db_error() else { return Self::Unavailable(chain(&error)) };
        let (code, message) = (error.code(), || format!("{} ({})", error.message(), error.code().code()));
        match code.code().get(..2).unwrap_or_default() {
            _ if RACED.contains(code) => Self::Raced,
            _ if *code == SqlState::LOCK_NOT_AVAILABLE => Self::Locked,
            _ if *code == SqlState::FEATURE_NOT_SUPPORTED => Self::Refused(message()),
            class if VALUE.contains(&class) => Self::Refused(code.code().to_owned()),
            class if SERVER.contains(&class) => Self::Unavailable(message()),
            _ => Self::Failed(message()),
        }
    }
}

impl From<PoolError<Self>> for DbError {
    fn from(error: PoolError<Self>) -> Self {
        match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(_) => Self::Unavailable("no connection came in time".to_owned()),
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Self::Unavailable("the store is closed".to_owned())
            }
        }
    }
}

impl DbError {
    /// What a failed commit means. If the database reports an error, nothing was done; if it goes away or is being
    /// stopped, or a pooler says that it has, the outcome is unknown.
    pub(super) fn of_commit(error: tokio_postgres::Error) -> Self {
        let stopping = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::QUERY_CANCELED];
        let ends = |code: &SqlState| stopping.contains(code) || code.code().starts_with("08");
        match error.code() {
            Some(code) if !ends(code) => error.into(),
            _ => Self::Unknown(chain(&error)),
        }
    }

    /// Whether nothing was done and trying again may help.
    pub(super) const fn may_pass(&self) -> bool {
        matches!(self, Self::Raced | Self::Locked | Self::Unavailable(_) | Self::Failed(_))
    }

    /// What a caller learns.
    pub(super) const fn answer(&self) -> StoreError {
        match self {
            Self::Raced | Self::Locked | Self::Unavailable(_) | Self::Failed(_) | Self::Refused(_) => {
                StoreError::Unavailable
            }
            Self::Unknown(_) => StoreError::OutcomeUnknown,
            Self::Damaged => StoreError::Corrupt,
        }
    }

    /// For the log.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Raced => "another transaction changed the same rows",
            Self::Locked => "another session holds a row",
            Self::Unavailable(reason) | Self::Failed(reason) | Self::Refused(reason) | Self::Unknown(reason) => reason,
            Self::Damaged => "a stored row cannot be read",
        }
    }
}
