//! The stores that keep what the domain decides.
//!
//! | module | subject |
//! |---|---|
//! | [`embedded`] | the store for one process: a log, and an index over it |
//! | [`postgres`] | the store on PostgreSQL, for any number of processes |
//! | `memory` | the reference store, for tests (feature `memory`) |
//! | `queue`, `job` | commands that wait, bounded and fair to partners, and their answers |
//! | `calls` | calls that changed nothing: taken off the path of requests |
//! | `records`, `codec` | the records that both stores keep as bytes |
//! | `import`, `history`, `stats`, `uses` | errors of imports, ids of histories, counters, and uses of keys, for both stores |
//!
//! This crate's README.md says what is promised, how it is done, and what the limits are.

mod calls;
mod codec;
pub mod embedded;
mod history;
mod import;
mod job;
#[cfg(feature = "memory")]
mod memory;
pub mod postgres;
mod queue;
mod records;
mod stats;
mod uses;

pub use crate::embedded::{
    BackupError, EmbeddedBackup, EmbeddedExport, EmbeddedImport, EmbeddedOptions, EmbeddedStore, Finding, OpenError,
    Verified, verify as verify_embedded,
};
pub use crate::import::ImportError;
#[cfg(feature = "memory")]
pub use crate::memory::{MemoryExport, MemoryStore};
pub use crate::postgres::{PostgresAddress, PostgresExport, PostgresImport, PostgresOptions, PostgresStore};
pub use crate::stats::StoreStats;
