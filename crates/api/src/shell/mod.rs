//! The outermost layer: what holds for every request and every response, whatever happens inside.
//!
//! It gives the request its id and time, bounds its size and duration, catches panics, turns every error into the
//! contract's body, adds the headers that every response carries, and writes the log line. poem's own middleware sees
//! only some of the errors (those of its router are plain text outside any middleware inside it), so this is one
//! endpoint around all.

mod cors;
mod head;
mod headers;
mod record;
mod routes;

#[cfg(test)]
pub(crate) use head::{FIELDS, SIZE};
pub(crate) use headers::common_headers;
pub(crate) use routes::{Found, Route, Routes};

use crate::clock::Clock;
use crate::context::Context;
use crate::counts::RequestCounts;
use crate::failure::Failure;
use crate::request_body::BODY;
use crate::side::Side;
use crate::trace::{Span, Traces};
use crate::turns::Crowd;
use futures_util::FutureExt as _;
use lendpay_domain::store::Calls;
use poem::error::{MethodNotAllowedError, NotFoundError};
use poem::http::uri::{PathAndQuery, Scheme};
use poem::http::{HeaderName, HeaderValue, Method, Uri, Version, header};
use poem::{Endpoint, Request, Response};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte of the request to the answer.
    pub request_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { request_time: Duration::from_secs(30) }
    }
}

/// How a request arrived. A listener puts it into the request.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When its first byte did, so that a head that came slowly counts.
    pub first_byte: Instant,
    /// That of its connection.
    pub crowd: Arc<Crowd>,
}

/// The outermost endpoint.
pub(crate) struct Shell<E, S> {
    pub inner: E,
    /// Keeps calls that change nothing.
    pub store: Arc<S>,
    pub clock: Arc<dyn Clock>,
    pub limits: Limits,
    pub routes: Routes,
    pub side: Side,
    pub counts: Arc<RequestCounts>,
    pub traces: Option<Arc<dyn Traces>>,
}

impl<E: Endpoint<Output = Response>, S: Calls> Endpoint for Shell<E, S> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let arrival = request.extensions_mut().remove::<Arrival>();
        let start = arrival.as_ref().map_or_else(Instant::now, |arrival| arrival.first_byte);
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let (version, tls) = (request.version(), *request.scheme() == Scheme::HTTPS);
        let waits_to_send = head::waits_to_send(&request);
        route_unreadable_segments(&mut request);
        let (found, route) = self.routes.find(request.uri().path()).unzip();
        let deadline = (start + self.limits.request_time).into();
        let body = route.map_or(BODY, |route| route.body);
        let crowd = arrival.map(|arrival| arrival.crowd);
        let context = Context::new(&mut request, self.clock.now(), deadline, found, crowd, body);
        // Traces are of the system's time.
        let began = context.at - self.clock.ahead() - start.elapsed();
        request.set_data(context.clone());

        let work = AssertUnwindSafe(self.answer(request, route, &context)).catch_unwind();
        let result = match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(result)) => result,
            Ok(Err(_panic)) => {
                tracing::error!(operation = %context.operation, %method, "a request panicked");
                Err(Failure::Internal)
            }
            Err(_elapsed) => Err(Failure::Timeout),
        };
        let (mut response, failure) = match result {
            // A page of the console says itself why it was refused.
            Ok(mut response) => {
                let failure = response.extensions_mut().remove::<Failure>();
                (response, failure)
            }
            Err(failure) => (self.refuse(&failure, uri.path(), &context), Some(failure)),
        };
        let unread = waits_to_send && context.body().is_unread() || !context.body().discard().await;
        let headers = response.headers_mut();
        if unread && version <= Version::HTTP_11 {
            // The rest of the body would be taken for the next request.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        headers::add(self.side, tls, headers);
        let id = context.operation.to_string();
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        if let Some(allowance) = context.allowance() {
            headers.insert(RATE_LIMIT, allowance.header());
            headers.insert(RATE_LIMIT_POLICY, allowance.policy());
        }
        let (duration, status) = (start.elapsed(), response.status().as_u16());
        let work = duration.saturating_sub(context.waited());
        self.counts.count(context.found().map(|found| found.number), status, work, context.partner());
        let span = Span {
            operation: context.operation,
            caller: context.caller,
            method: method.as_str(),
            route: route.map(|route| route.template.as_str()),
            status,
            start: began,
            duration,
            partner: context.partner(),
        };
        if let Some(traces) = &self.traces {
            traces.request(&span);
        }
        record::log(&span, &id, &context, failure.as_ref());
        if failure.is_some() || context.is_unchanged() {
            self.store.note_call(record::call(&span, &context, failure.as_ref()));
        }
        Ok(response)
    }
}

impl<E: Endpoint<Output = Response>, S> Shell<E, S> {
    /// Checks what holds for every request and lets the inside answer.
    async fn answer(&self, request: Request, route: Option<&Route>, context: &Context) -> Result<Response, Failure> {
        head::check(&request)?;
        if let Some(route) = route.filter(|route| route.preflight && request.method() == Method::OPTIONS) {
            return Ok(cors::preflight(self.side, route, request.headers()));
        }
        context.body().check_known_length()?;
        let error = match self.inner.call(request).await {
            Ok(response) => return Ok(response),
            Err(error) if error.is_from_response() => return Ok(error.into_response()),
            Err(error) => error,
        };
        Err(match error.downcast::<Failure>() {
            Ok(failure) => failure,
            Err(error) if error.is::<NotFoundError>() => Failure::NotFound,
            Err(error) if error.is::<MethodNotAllowedError>() => {
                Failure::MethodNotAllowed(route.expect("the path has operations of other methods").allow.clone())
            }
            Err(error) => {
                tracing::error!(operation = %context.operation, %error, "an error that no operation declares");
                Failure::Internal
            }
        })
    }

    fn refuse(&self, failure: &Failure, path: &str, context: &Context) -> Response {
        let mut response: Response =
            failure.body(self.side.shape(path), context.operation, self.clock.now()).to_json().into();
        response.set_status(failure.status());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = failure.header() {
            headers.insert(name, value);
        }
        response
    }
}

/// Percent-encoded bytes that are no UTF-8 make poem's router fail before anybody is authenticated. No id and no page
/// has such a name, so they are routed as `-`: the request meets the same checks as any other unknown id.
fn route_unreadable_segments(request: &mut Request) {
    let path = request.uri().path();
    if !path.contains('%') {
        return;
    }
    let readable = |segment: &&str| percent_encoding::percent_decode_str(segment).decode_utf8().is_ok();
    if path.split('/').all(|segment| readable(&segment)) {
        return;
    }
    let path =
        path.split('/').map(|segment| if readable(&segment) { segment } else { "-" }).collect::<Vec<_>>().join("/");
    if let Ok(path) = PathAndQuery::try_from(path) {
        *request.uri_mut() = Uri::from(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_segments_are_routed_as_a_dash() {
        for (given, routed) in
            [("/a/%FF/b", "/a/-/b"), ("/a/%c3%a9/b", "/a/%c3%a9/b"), ("/%ff%fe?q=%FF", "/-"), ("/a/b", "/a/b")]
        {
            let mut request = Request::builder().uri(given.parse().expect("a URI")).finish();
            route_unreadable_segments(&mut request);
            assert_eq!(request.uri().path(), routed);
        }
    }
}
