//! The stores that keep what the domain decides.
//!
//! | module | subject |
//! |---|---|
//! | [`embedded`] | the store for one process: a log, and an index over it |
//! | `postgres` | the store on PostgreSQL, for any number of processes |
//! | `memory` | the reference store, for tests (feature `memory`) |
//! | `queue`, `job` | commands on their way, bounded and fair to partners, and their answers |
//! | `records`, `codec` | the records that both keep as bytes |
//! | `import`, `stats`, `uses` | what both have |
//!
//! What is promised, how it is kept and what it cannot do is in this crate's README.md.

mod codec;
pub mod embedded;
mod import;
mod job;
#[cfg(feature = "memory")]
mod memory;
mod queue;
mod records;
mod stats;
mod uses;

pub use crate::embedded::{
    EmbeddedExport, EmbeddedImport, EmbeddedOptions, EmbeddedStore, Finding, OpenError, Verified,
    verify as verify_embedded,
};
pub use crate::import::ImportError;
#[cfg(feature = "memory")]
pub use crate::memory::{MemoryExport, MemoryStore};
pub use crate::stats::StoreStats;
