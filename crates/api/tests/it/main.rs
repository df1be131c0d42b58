//! The contract, held against the whole partner side: real routes, real shell, a real store, no socket.
//!
//! Tests are named in the contract's words and sorted by its sections. Every answer that any of them sees goes through
//! [`context::check`], which knows what holds for all answers and what the document promises for this one.

mod accept;
mod accept_body;
mod authentication;
mod buyer_rules;
mod context;
mod contract_document;
mod cors;
mod create;
mod create_body;
mod errors;
mod idempotency;
mod life_cycle;
mod limits;
mod logging;
mod offer_fields;
mod order;
mod ownership;
mod pages;
mod races;
mod rate_limit;
mod request_ids;
mod routing;
mod statuses;
mod store_failures;
