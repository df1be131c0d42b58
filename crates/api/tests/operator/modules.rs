// The tests: the same for every kind of store.

mod backup;
mod batch;
mod bodies;
mod context;
mod document;
mod events;
mod export;
mod filters;
mod health;
mod keys;
mod lists;
mod offers;
mod operations;
mod operators;
mod parties;
#[path = "../common/schema.rs"]
mod schema;
mod values;
mod walk;
mod webhooks;
