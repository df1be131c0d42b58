//! How the service is, on the wire.

use poem_openapi::Object;
use serde::Serialize;

/// All is well.
#[derive(Debug, Object, Serialize)]
pub struct Health {
    /// `live` or `ready`.
    pub status: String,
}

impl Health {
    /// An answer.
    pub fn new(status: &str) -> Self {
        Self { status: status.to_owned() }
    }
}

/// The service cannot do its work.
#[derive(Debug, Object, Serialize)]
pub struct NotReady {
    /// `unavailable`.
    pub status: String,
    /// Why, for a person to read.
    pub reason: String,
}

impl NotReady {
    /// An answer.
    pub fn new(reason: String) -> Self {
        Self { status: "unavailable".to_owned(), reason }
    }
}
