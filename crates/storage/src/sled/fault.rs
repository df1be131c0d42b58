//! What goes wrong with one record. Log lines name the tree and the key, never the content, and never the hash of a key.

use super::trees::StateKey;
use crate::codec::CodecError;
use lendpay_domain::StoreError;

/// Why a command was not decided.
pub(super) enum Fault {
    /// The database failed: the store stops.
    Broken(sled::Error),
    /// A record is damaged or too long: this command fails, the others do not.
    Command(StoreError),
}

impl From<sled::Error> for Fault {
    fn from(error: sled::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Command(error)
    }
}

/// What was read from the record at `key`.
pub(super) fn readable<T>(key: &StateKey, read: Result<T, CodecError>) -> Result<T, StoreError> {
    read.map_err(|error| {
        tracing::error!(tree = key.kind.name(), key = key.shown(), %error, "a stored record cannot be read");
        StoreError::Corrupt
    })
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
