//! Preflights (contract 2.7).

use super::Route;
use poem::Response;
use poem::http::{HeaderValue, StatusCode, header};

const ALLOWED: &str = "Authorization, Content-Type, Idempotency-Key, Traceparent, X-Service-ApiKey";

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
