//! What an import into any kind of store did, or why it was refused.

/// Why an import, or one record of it, is refused.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The embedded store cannot be opened.
    #[error(transparent)]
    Open(#[from] crate::sled::OpenError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] crate::postgres::OpenError),
    /// There is something in the store.
    #[error("The store {place} is not empty; import into an empty one, or add what is missing with --merge.")]
    NotEmpty {
        /// Where it is.
        place: String,
    },
    /// The record does not fit what is there. Says why, without quoting it.
    #[error("{0}")]
    Record(&'static str),
    /// A record that was taken before does not fit: so many records back. Says why, without quoting it.
    #[error("{problem}")]
    Earlier {
        /// What does not fit.
        problem: &'static str,
        /// How many records came after it.
        back: u64,
    },
    /// The store failed.
    #[error("The store failed: {0}.")]
    Failed(String),
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Records that were added.
    pub added: u64,
    /// Records of what was there before, which was left as it is.
    pub kept: u64,
}

/// An event that does not say what its record says.
pub(crate) const MISMATCH: ImportError = ImportError::Record("its event and its subject do not belong together");
