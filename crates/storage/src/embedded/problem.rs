//! What can be wrong with a store.

use std::io;

/// Why a store cannot be opened, or cannot go on. Never quotes what is stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// Another process uses it.
    #[error("another process uses it")]
    InUse,
    #[error("a write to or read from the disk failed: {0}")]
    Disk(io::Error),
    /// The log has another format.
    #[error("the log has format {0}")]
    Format(u8),
    #[error("the log is damaged ({0})")]
    Log(String),
    /// The index cannot be used; it can be rebuilt.
    #[error("the index is damaged ({0})")]
    Index(String),
}

impl Problem {
    pub(crate) fn log(reason: &str) -> Self {
        Self::Log(reason.to_owned())
    }

    pub(crate) fn index(reason: &str) -> Self {
        Self::Index(reason.to_owned())
    }

    /// A look-up failed; its cause was logged.
    pub(crate) fn look_up() -> Self {
        Self::Disk(io::Error::other("a look-up failed"))
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        // A file that another process has locked.
        if error.kind() == io::ErrorKind::WouldBlock { Self::InUse } else { Self::Disk(error) }
    }
}
