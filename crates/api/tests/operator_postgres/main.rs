//! The operator's side on PostgreSQL: the very tests of `operator`.

#[path = "../common/postgres.rs"]
mod backend;

include!("../operator/modules.rs");

/// The store's own log: it has none.
fn log(_: &backend::Backend) -> Option<std::sync::Arc<dyn lendpay_domain::log::Log>> {
    None
}
