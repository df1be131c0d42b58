//! The stores that keep what the domain decides.
//!
//! | module | subject |
//! |---|---|
//! | `codec` | how one value is framed: version, body, checksum |
//! | `records` | what the values hold, apart from the domain's types so that neither shapes the other |
//! | [`sled`] | the embedded store |
//!
//! What is promised, how it is kept and what it cannot do is in this crate's README.md.

mod codec;
#[doc(hidden)]
pub mod measured;
mod records;
pub mod sled;

pub use crate::sled::{ImportError, Imported, OpenError, SledExport, SledImport, SledOptions, SledStats, SledStore};
