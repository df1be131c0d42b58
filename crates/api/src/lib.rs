//! The HTTP side: wire types, operations, authentication, errors, the outer shell and the OpenAPI documents.
//!
//! Knows the domain and its ports ([`store`](lendpay_domain::store)); knows no database, no file path and no environment.
//!
//! A request passes `shell` (request id, time and size limit, CORS, panics, log line), then an operation in
//! `operations`, which authenticates through `caller` (keys) and `tokens` (OAuth 2.0), turns the wire into a domain command, hands it to the store and
//! turns the outcome back into the wire. Whatever fails is a [`Failure`]; only `shell` makes a body of it.

mod caller;
mod clock;
mod context;
mod counts;
pub mod document;
mod failure;
#[cfg(test)]
mod fuzz;
mod operations;
mod operator_failure;
mod operator_key;
mod operator_side;
mod pages;
mod partner_side;
mod random;
mod rate_limit;
mod request_body;
mod shell;
mod side;
mod tokens;
mod trace;
pub mod transfer;
mod wire;

pub use clock::Clock;
pub use counts::{BUCKETS, RequestCounts, RouteCounts};
pub use failure::{Failure, refusal};
pub use operator_failure::{OperatorFailure, Thing};
pub use operator_key::{BadOperatorKey, OperatorKey};
pub use operator_side::{OperatorSettings, operator_side};
pub use partner_side::{PartnerSettings, counted_partner_side, partner_side};
pub use random::{event_id, key_bits, span_id, uuid};
pub use rate_limit::{BadRateLimit, RateLimit, network};
pub use shell::{FirstByte, Limits};
pub use side::Side;
pub use tokens::{KeySource, OAuth, Tokens};
pub use trace::{Span, TraceParent, Traces};
