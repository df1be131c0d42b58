//! Preflights (contract 2.7, 2.13).

use super::Route;
use crate::side::Side;
use poem::Response;
use poem::http::{HeaderMap, HeaderValue, Method, StatusCode, header};

/// Methods and headers that a page may use to change something.
const CHANGE: (&str, &str) =
    ("POST, OPTIONS", "Authorization, Content-Type, Idempotency-Key, Traceparent, X-Service-ApiKey");

/// The same to read.
const READ: (&str, &str) =
    ("GET, OPTIONS", "Authorization, Content-Type, Idempotency-Key, If-None-Match, Traceparent, X-Service-ApiKey");

/// The answer to a preflight, or to any other OPTIONS. It tells of the operation that is asked for: what a preflight of
/// a POST is told does not depend on whether the address can be read as well.
pub(super) fn preflight(side: Side, route: &Route, headers: &HeaderMap) -> Response {
    let knows = |method: Method| route.allow.split(", ").any(|known| known == method.as_str());
    let wanted = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD).map(HeaderValue::as_bytes);
    let reads = knows(Method::GET) && (!knows(Method::POST) || matches!(wanted, Some(b"GET" | b"HEAD")));
    let (methods, names) = if reads { READ } else { CHANGE };
    let names = match side {
        Side::Sandbox => format!("{names}, X-Sandbox").try_into().expect("visible ASCII"),
        Side::Partner | Side::Operator => HeaderValue::from_static(names),
    };
    let mut response = Response::builder().status(StatusCode::NO_CONTENT).finish();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
