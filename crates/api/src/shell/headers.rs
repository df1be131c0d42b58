//! What every response of a side says, whatever became of the request.

use crate::side::Side;
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

/// What scripts of other origins may read (contract 2.7).
const EXPOSED: &str = "Location, Retry-After, X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy";

/// Answers hold offers and bank details, so nobody keeps them; a body is what its Content-Type says.
static ALWAYS: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];

/// Any page may call partners' operations, and every response says so (contract 1.1).
static OPEN: [(HeaderName, &str); 2] =
    [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"), (header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED)];

/// The headers that every response of a side carries.
pub(crate) fn common_headers(side: Side) -> impl Iterator<Item = &'static (HeaderName, &'static str)> {
    let open = if side.is_open_to_pages() { &OPEN[..] } else { &[] };
    ALWAYS.iter().chain(open)
}

/// Adds them, but for those that a page has set to something else.
pub(super) fn add(side: Side, headers: &mut HeaderMap) {
    for (name, value) in common_headers(side) {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
