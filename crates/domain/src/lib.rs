//! The rules of lending and payments, and nothing else.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no randomness, no JSON, no HTTP. Time, ids
//! and random bytes come in as parameters. Stores keep what is decided here, through the ports in [`store`].
//!
//! | module | subject |
//! |---|---|
//! | [`offer`], [`life_cycle`] | what an offer is, and which status may follow which |
//! | [`buyer`], [`buyer_checks`] | what a buyer is, and what makes one acceptable |
//! | [`bank`], [`codes`], [`decimal`], [`text`] | values that are checked once, when they are parsed |
//! | [`partner`], [`key`], [`operator`] | who may call, and for what |
//! | [`change`], [`event`] | everything that can change; which changes are public events |
//! | [`cursor`] | how far a reader of events has come |
//! | [`calls`] | calls that changed nothing, kept for support |
//! | [`command`], [`view`] | commands and their decisions; what a decision may look at |
//! | [`import`] | which records an import accepts |
//! | [`webhook`] | endpoints that events are sent to, and how: order, retries, progress |
//! | [`rate`] | how often a partner may call, and the port to what processes share of it |
//! | [`store`], [`query`], [`page`] | the ports that stores implement; lists and their filters |
//! | [`log`] | the port to a store's own log, for backups |
//! | `testing` | samples and strategies for tests, behind a feature |

pub mod bank;
pub mod buyer;
pub mod buyer_checks;
pub mod calls;
pub mod change;
pub mod codes;
pub mod command;
pub mod cursor;
pub mod decimal;
pub mod event;
pub mod idempotency;
pub mod ids;
pub mod import;
pub mod key;
pub mod life_cycle;
pub mod log;
pub mod offer;
pub mod operator;
pub mod page;
pub mod partner;
pub mod query;
pub mod rate;
pub mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod view;
pub mod webhook;

pub use ids::{
    ApplicationId, BuyerId, EndpointId, EventId, HistoryId, HolderId, KeyId, OfferId, OperationId, PartnerId,
};
pub use store::{Store, StoreError};

/// A moment, in UTC. Stores keep every nanosecond of it.
pub type Timestamp = chrono::DateTime<chrono::Utc>;
