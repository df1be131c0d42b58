//! The contract, held against the whole partner side on PostgreSQL: the very tests of `it`.

#[path = "../common/postgres.rs"]
mod backend;

include!("../it/modules.rs");
