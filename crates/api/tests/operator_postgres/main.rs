//! The operator's side on PostgreSQL: the very tests of `operator`.

#[path = "../common/postgres.rs"]
mod backend;

include!("../operator/modules.rs");
