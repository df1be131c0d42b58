//! The HTTP side: wire types, operations, authentication, errors, the outer shell and the OpenAPI documents.
//!
//! Knows the domain and its ports ([`store`](lendpay_domain::store)); knows no database, no file path and no
//! environment.
//!
//! A request passes `shell` (request id, time and size limit, CORS, panics, log line), then an operation in
//! `operations`. It authenticates through `caller` (keys) and `tokens` (OAuth 2.0), parses the request into a command
//! of the domain, passes it to the store and renders the outcome. Every failure is a [`Failure`]; only `shell` and
//! `refusal` make a response of it.

mod caller;
mod clock;
mod console;
mod context;
mod counts;
pub mod document;
mod failure;
mod feed;
#[cfg(test)]
mod fuzz;
mod hex;
mod negotiation;
mod operations;
mod operator_failure;
mod operator_hosts;
mod operator_key;
mod operator_side;
mod operators;
mod pages;
mod partner_counts;
mod partner_side;
mod random;
mod rate_limit;
mod refusal;
mod request_body;
pub mod sandbox;
mod sealing;
mod shell;
mod side;
mod table;
mod tokens;
mod trace;
pub mod transfer;
mod turns;
mod webhook;
mod webhook_secrets;
mod wire;

pub use clock::Clock;
pub use counts::{BUCKETS, RequestCounts, RouteCounts};
pub use failure::Failure;
pub use feed::Feed;
pub use operator_failure::{OperatorFailure, Resource};
pub use operator_hosts::Hosts;
pub use operator_key::{BadOperatorKey, OperatorKey};
pub use operator_side::{OperatorSettings, WebhookSettings, operator_side};
pub use operators::{BadOperatorList, NewOperatorKey, OperatorList, Operators};
pub use partner_counts::{Counts, PartnerCounts};
pub use partner_side::{PartnerSettings, counted_partner_side, partner_side};
pub use random::{event_id, jitter, key_bits, span_id, uuid};
pub use rate_limit::network;
pub use refusal::refusal;
pub use shell::{Arrival, Limits};
pub use side::Side;
pub use tokens::{KeySource, OAuth, Scope, Tokens};
pub use trace::{Span, TraceParent, Traces};
pub use turns::Crowd;
pub use webhook::WebhookPayload;
pub use webhook_secrets::{BadSecretKeys, SecretKeys, WebhookSecret};
pub use wire::offer_batch::{OFFERS_AT_ONCE, check_offer, offer_of_line, offer_of_texts};
