//! The rules of lending and payments, and nothing else.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no randomness, no JSON, no HTTP. Time, ids and
//! random bytes come in as parameters. Stores keep what is decided here, through the [`Store`] port.
//!
//! | module | subject |
//! |---|---|
//! | [`offer`], [`life_cycle`] | what an offer is, and which status may follow which |
//! | [`buyer`], [`buyer_checks`] | what a buyer is, and what makes one acceptable |
//! | [`bank`], [`codes`], [`decimal`], [`text`] | values that are checked once, when they are parsed |
//! | [`partner`], [`key`] | who may call, and for what |
//! | [`event`] | what is told to those who follow along |
//! | [`store`], [`page`] | the port: whole business commands and their outcomes |
//! | [`record`] | everything that a store keeps, for exports and imports |

pub mod bank;
pub mod buyer;
pub mod buyer_checks;
pub mod codes;
pub mod decimal;
pub mod event;
pub mod idempotency;
pub mod ids;
pub mod key;
pub mod life_cycle;
pub mod offer;
pub mod page;
pub mod partner;
pub mod record;
pub mod store;
pub mod text;

pub use ids::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId};
pub use store::{Store, StoreError};

/// A moment, in UTC. Stores keep every nanosecond of it.
pub type Timestamp = chrono::DateTime<chrono::Utc>;
