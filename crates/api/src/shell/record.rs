//! What is told of each request once it is answered: the log line, and the record of one that changed nothing.

use crate::context::Context;
use crate::failure::Failure;
use crate::trace::Span;
use lendpay_domain::calls::Call;
use tracing::field;

/// Methods that have a name in records. Whatever else a caller sends could be anything.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"];

/// One line for each request: the route's template and the ids that its path names, never the path, and no header. The
/// peer is told when the request is refused for who sent it.
pub(super) fn log(span: &Span<'_>, operation: &str, context: &Context, failure: Option<&Failure>) {
    let named = context.named();
    let peer = context.peer.filter(|_| matches!(span.status, 401 | 403 | 429));
    tracing::info!(
        target: "lendpay::request",
        method = span.method,
        route = span.route.unwrap_or("-"),
        status = span.status,
        error_code = failure.map(Failure::code),
        duration_us = u64::try_from(span.duration.as_micros()).expect("less than 584,000 years"),
        partner = span.partner.map(field::display),
        actor = context.actor().map(field::display),
        application = named.application.get().map(field::display),
        offer = named.offer.get().map(field::display),
        buyer = named.buyer.get().map(field::display),
        peer = peer.map(field::display),
        operation,
        "request"
    );
}

/// The record of a request.
pub(super) fn call(span: &Span<'_>, context: &Context, failure: Option<&Failure>) -> Call {
    let named = context.named();
    let mut errors = failure.map(Failure::details).unwrap_or_default();
    errors.truncate(Call::ERRORS);
    Call {
        operation: span.operation,
        at: context.at,
        method: METHODS.into_iter().find(|known| *known == span.method).unwrap_or("-").to_owned(),
        route: span.route.map(str::to_owned),
        application: named.application.get().copied(),
        offer: named.offer.get().copied(),
        buyer: named.buyer.get().copied(),
        partner: span.partner,
        actor: context.actor(),
        status: span.status,
        error_code: failure.map(|failure| failure.code().to_owned()),
        errors,
        duration: span.duration,
    }
}
