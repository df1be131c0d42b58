//! The stores that keep what the domain decides.
//!
//! | module | subject |
//! |---|---|
//! | `codec` | how one value is framed: version, body, checksum |
//! | `records` | what the values hold, apart from the domain's types so that neither shapes the other |
//! | [`sled`] | the embedded store |
//! | [`postgres`] | the store on PostgreSQL |
//! | `memory` | the reference store for tests, behind a feature |
//! | `uses`, `stats`, `imported` | what both have |
//!
//! What is promised, how it is kept and what it cannot do is in this crate's README.md.

mod codec;
mod imported;
#[doc(hidden)]
pub mod measured;
#[cfg(feature = "memory")]
mod memory;
pub mod postgres;
mod records;
pub mod sled;
mod stats;
mod uses;

pub use crate::imported::{ImportError, Imported};
#[cfg(feature = "memory")]
pub use crate::memory::{MemoryExport, MemoryStore};
pub use crate::postgres::{PostgresAddress, PostgresExport, PostgresImport, PostgresOptions, PostgresStore};
pub use crate::sled::{OpenError, SledExport, SledImport, SledOptions, SledStore};
pub use crate::stats::StoreStats;
