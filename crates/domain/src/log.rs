//! The port to the log of a store that has one of its own, for backups.

use crate::Timestamp;
use crate::store::Answer;

/// A file that holds everything, and whose bytes never change up to an end that only grows. What lies before the end is
/// durable.
pub trait Log: Send + Sync + 'static {
    /// Where it ends now.
    fn end(&self) -> u64;

    /// Some of the bytes from a position to another, which is not past the end: at least one, and few enough to be kept
    /// in memory; none if the first position is not before the second.
    fn read(&self, from: u64, to: u64) -> Answer<Vec<u8>>;

    /// Remembers, durably, that a copy exists of everything that was acknowledged before a moment.
    fn note_copy(&self, kind: CopyKind, as_of: Timestamp) -> Answer<()>;

    /// For a kind of copies, up to which moment the last one reaches; `None` if none is known.
    fn last_copy(&self, kind: CopyKind) -> Option<Timestamp>;
}

/// What a copy of a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// A copy of the log.
    Backup,
    /// An export from the running service.
    Export,
}
