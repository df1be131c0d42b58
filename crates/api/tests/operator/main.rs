//! The operator's side, held against contract 2.9 and 2.10: real routes, real shell, a real store, no socket.
//!
//! Every answer goes through [`context::check`], which knows what holds for all answers and what the document promises.

#[path = "../common/sled.rs"]
mod backend;

include!("modules.rs");

/// The store's own log, if it has one.
fn log(store: &backend::Backend) -> Option<std::sync::Arc<dyn lendpay_domain::log::Log>> {
    Some(store.log())
}
