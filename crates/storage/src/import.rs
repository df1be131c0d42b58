//! Why an import into a store is refused.

use lendpay_domain::import::AdmitError;
use lendpay_domain::view::ViewError;

/// Why an import, or one record of it, is refused.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The embedded store cannot be opened.
    #[error(transparent)]
    Open(#[from] crate::embedded::OpenError),
    /// The store is not empty.
    #[error("The store {place} is not empty; import into an empty one, or add what is missing with --merge.")]
    NotEmpty {
        /// Where it is.
        place: String,
    },
    /// A record does not fit. Says why, without quoting it.
    #[error("{problem}")]
    Record {
        /// What does not fit.
        problem: &'static str,
        /// How many later records had been taken by then.
        back: u64,
    },
    /// The store failed.
    #[error("The store failed: {0}.")]
    Failed(String),
}

impl From<AdmitError> for ImportError {
    fn from(error: AdmitError) -> Self {
        match error {
            AdmitError::Rejected(problem) => Self::Record { problem, back: 0 },
            AdmitError::View(ViewError::Corrupt) => Self::Failed("a stored record is damaged".to_owned()),
            AdmitError::View(ViewError::Failed) => Self::Failed("a look-up failed".to_owned()),
        }
    }
}
