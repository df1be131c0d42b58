//! The contract, held against the whole partner side: real routes, real shell, a real store, no socket.
//!
//! Tests are named in the contract's words and sorted by its sections. Every answer that any of them sees goes through
//! [`context::check`], which knows what holds for all answers and what the document promises for this one.

#[path = "../common/sled.rs"]
mod backend;

include!("modules.rs");
