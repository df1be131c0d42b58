//! What goes wrong with one record. Log lines name the tree and the key, never the content, and never the hash of a key.

use super::log::ReadError;
use super::trees::StateKey;
use crate::codec::CodecError;
use lendpay_domain::StoreError;
use std::io;

/// Why a command was not decided.
pub(super) enum Fault {
    /// The database or the disk failed: the store stops.
    Broken(Broken),
    /// A record is damaged or too long: this command fails, the others do not.
    Command(StoreError),
}

/// What failed for good. It is said without what it may quote of the data.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("a write to or read from the disk failed: {0}")]
    Disk(#[from] io::Error),
    #[error("the database is damaged")]
    Damaged,
    #[error("the database failed")]
    Database,
}

impl From<sled::Error> for Broken {
    fn from(error: sled::Error) -> Self {
        match error {
            sled::Error::Io(error) => Self::Disk(error),
            sled::Error::Corruption { .. } => Self::Damaged,
            sled::Error::CollectionNotFound(_) | sled::Error::Unsupported(_) | sled::Error::ReportableBug(_) => {
                Self::Database
            }
        }
    }
}

impl From<sled::Error> for Fault {
    fn from(error: sled::Error) -> Self {
        Self::Broken(error.into())
    }
}

impl Fault {
    /// The value of the record at `key` cannot be read from the log.
    pub(super) fn unread(key: &StateKey, error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::Broken(error.into()),
            ReadError::Damaged => Self::Command(corrupt(key, CodecError::Damaged)),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Command(error)
    }
}

/// What was read from the record at `key`.
pub(super) fn readable<T>(key: &StateKey, read: Result<T, CodecError>) -> Result<T, StoreError> {
    read.map_err(|error| corrupt(key, error))
}

/// The record at `key` cannot be read.
fn corrupt(key: &StateKey, error: CodecError) -> StoreError {
    tracing::error!(tree = key.kind.name(), key = key.shown(), %error, "a stored record cannot be read");
    StoreError::Corrupt
}

/// The record at `key` cannot be written; nothing was done.
pub(super) fn unwritable(key: &StateKey, error: CodecError) -> StoreError {
    tracing::error!(tree = key.kind.name(), key = key.shown(), %error, "a record cannot be written");
    StoreError::Unavailable
}

/// A command contradicts what is stored in a way that no caller can cause; nothing was done.
pub(super) fn refuse(key: &StateKey, why: &str) -> Fault {
    tracing::error!(tree = key.kind.name(), key = key.shown(), "{why}");
    Fault::Command(StoreError::Unavailable)
}
