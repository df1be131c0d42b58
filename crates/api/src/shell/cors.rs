//! Cross-origin access (contract 1.1, 2.7): any page may call, and every response says so.

use super::Route;
use crate::side::Side;
use poem::Response;
use poem::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

const EXPOSED: &str = "Location, Retry-After, X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy";
const ALLOWED: &str = "Authorization, Content-Type, Idempotency-Key, Traceparent, X-Service-ApiKey";

/// The headers that every response of a side carries, whatever became of the request.
pub(crate) fn common_headers(side: Side) -> &'static [(HeaderName, &'static str)] {
    const OPEN: [(HeaderName, &str); 2] =
        [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"), (header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED)];
    if side.is_open_to_pages() { &OPEN } else { &[] }
}

/// Adds the headers that every response of a side carries.
pub(super) fn add(side: Side, headers: &mut HeaderMap) {
    for (name, value) in common_headers(side) {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The answer to a preflight, or to any other OPTIONS.
pub(super) fn preflight(route: &Route) -> Response {
    let mut response = Response::builder().status(StatusCode::NO_CONTENT).finish();
    let headers = response.headers_mut();
    if let Ok(methods) = HeaderValue::from_str(&route.allow) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
