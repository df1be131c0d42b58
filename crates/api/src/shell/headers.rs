//! What every response of a side says, whatever became of the request.

use crate::side::Side;
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

/// What scripts of other origins may read (contract 2.7).
const EXPOSED: &str = "Location, Retry-After, X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy";

/// The same of an answer that has an entity tag (contract 2.13).
const EXPOSED_WITH_TAG: &str =
    "Location, Retry-After, X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy, ETag";

/// A header whose value is checked when the program is compiled, and not for each response.
type Common = (HeaderName, HeaderValue);

/// Answers hold offers and bank details, so nobody keeps them; a body is what its Content-Type says.
static ALWAYS: [Common; 2] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// Any page may call partners' operations, and every response says so (contract 1.1).
static OPEN: [Common; 2] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED)),
];

/// Whoever has used TLS here goes on doing so for a year (RFC 6797). Over plain HTTP nobody may be told (7.2).
static TLS: [Common; 1] = [(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"))];

/// A sandbox answers (contract 2.16). The same header of a request asks for an answer: `sandbox::PROVOCATIONS`.
static SANDBOX: [Common; 1] = [(HeaderName::from_static("x-sandbox"), HeaderValue::from_static("true"))];

/// The headers that every response of a side carries, inside TLS or not.
pub(crate) fn common_headers(side: Side, tls: bool) -> impl Iterator<Item = &'static Common> {
    let open = if side.is_open_to_pages() { &OPEN[..] } else { &[] };
    let tls = if tls { &TLS[..] } else { &[] };
    let sandbox = if side == Side::Sandbox { &SANDBOX[..] } else { &[] };
    ALWAYS.iter().chain(open).chain(tls).chain(sandbox)
}

/// Adds them, but for those that a page has set to something else.
pub(super) fn add(side: Side, tls: bool, headers: &mut HeaderMap) {
    if side.is_open_to_pages() && headers.contains_key(header::ETAG) {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_WITH_TAG));
    }
    for (name, value) in common_headers(side, tls) {
        headers.entry(name).or_insert_with(|| value.clone());
    }
}
