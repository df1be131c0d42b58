// The tests: the same for every kind of store.

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
