//! What can go wrong between here and the database, and what follows.

use super::address::chain;
use super::rows::Damaged;
use deadpool_postgres::PoolError;
use lendpay_domain::StoreError;
use tokio_postgres::error::SqlState;

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Nothing was done, since somebody else was at the same rows; it works the next time.
    Raced,
    /// Nothing was done; it may work the next time.
    Again(String),
    /// Nothing was done, and it is not the database that is wrong, but what it was given.
    Refused(String),
    /// The connection went away during a commit: it may have been done.
    Unknown(String),
    /// A stored row is not what was written.
    Damaged,
}

/// A transaction that another one was in the way of.
const RACED: [SqlState; 3] =
    [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];

impl From<Damaged> for Trouble {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(error) if RACED.contains(error.code()) => Self::Raced,
            // Class 22 is a value that cannot be kept. Messages of other classes name tables and files, never values.
            Some(error) if error.code().code().starts_with("22") => Self::Refused(error.code().code().to_owned()),
            Some(error) => Self::Again(format!("{} ({})", error.message(), error.code().code())),
            None => Self::Again(chain(&error)),
        }
    }
}

impl From<PoolError> for Trouble {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(_) => Self::Again("no connection came in time".to_owned()),
            error => Self::Again(chain(&error)),
        }
    }
}

impl Trouble {
    /// What a failed commit means. An error that the database reports in good order is an end without effect; if it goes away,
    /// or is being stopped, the commit may have happened.
    pub(super) fn of_commit(error: tokio_postgres::Error) -> Self {
        let stopping = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::QUERY_CANCELED];
        match error.code() {
            Some(code) if !stopping.contains(code) => error.into(),
            _ => Self::Unknown(chain(&error)),
        }
    }

    /// Whether nothing was done and trying again may help.
    pub(super) const fn passes(&self) -> bool {
        matches!(self, Self::Raced | Self::Again(_))
    }

    /// What a caller learns.
    pub(super) const fn answer(&self) -> StoreError {
        match self {
            Self::Raced | Self::Again(_) | Self::Refused(_) => StoreError::Unavailable,
            Self::Unknown(_) => StoreError::OutcomeUnknown,
            Self::Damaged => StoreError::Corrupt,
        }
    }

    /// For the log.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Raced => "somebody else is at the same rows",
            Self::Again(reason) | Self::Unknown(reason) => reason,
            Self::Refused(_) => "the database cannot keep a value",
            Self::Damaged => "a stored row cannot be read",
        }
    }
}
