//! What holds for every answer.

use super::document::document;
use super::exchange::Answer;
use lendpay_domain::Timestamp;
use serde_json::Value;

/// Contract 2.7, in its order; `ETag` comes last where there is one (2.13).
const EXPOSED: &str = "Location, Retry-After, X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy";

/// Contract 2.6, in its order, and one more for a request that breaks off or is malformed below JSON.
const ERROR_CODES: [&str; 16] = [
    "InvalidApiKey",
    "InvalidToken",
    "InsufficientScope",
    "OfferNotFound",
    "OfferExpired",
    "OfferDeclined",
    "OfferArchived",
    "OfferAccepted",
    "NotFound",
    "MethodNotAllowed",
    "RequestTooLarge",
    "RateLimited",
    "Timeout",
    "Unavailable",
    "InternalError",
    "BadRequest",
];

/// Words that only frameworks, drivers and stacks use.
const WORDING: [&str; 18] = [
    "poem",
    "serde",
    "hyper",
    "tokio",
    "sled",
    "rust",
    "panic",
    "stack",
    "backtrace",
    "src/",
    ".rs",
    "uuid",
    "utf-8",
    "missing field",
    "invalid type",
    "expected ",
    "parse",
    "<html",
];

/// What is the same for everybody and may be kept, to be asked about again.
const PAGES: [&str; 5] = ["/", "/docs", "/openapi.json", "/openapi.yaml", "/reference"];

/// Holds an answer against contract 1.1, 1.4, 2.6 and 2.7 and against the document.
pub fn check(method: &str, path: &str, answer: &Answer, now: Timestamp) {
    let told = format!("{method} {path} → {answer:?}");
    assert_eq!(answer.every("access-control-allow-origin"), ["*"], "{told}");
    let tag = answer.header("etag").map_or("", |_| ", ETag");
    assert_eq!(answer.every("access-control-expose-headers"), [format!("{EXPOSED}{tag}")], "{told}");
    assert_eq!(answer.every("x-content-type-options"), ["nosniff"], "{told}");
    let page = PAGES.contains(&path) || path.starts_with("/guides/");
    let kept = if page && matches!(answer.status, 200 | 304) { "no-cache" } else { "no-store" };
    assert_eq!(answer.every("cache-control"), [kept], "{told}");
    let ids = answer.every("x-request-id");
    assert_eq!(ids.len(), 1, "{told}");
    assert!(is_operation_id(ids[0]), "{told}");
    if answer.status >= 400 {
        check_error(path, answer, now, &told);
    }
    if let Some(operation) = document().operation(method, path) {
        let body = (answer.status != 304).then(|| answer.json());
        assert_eq!(answer.every("content-type").as_slice(), if body.is_some() { &["application/json"][..] } else { &[] });
        assert!(body.is_some() || answer.bytes.is_empty(), "{told}");
        if let Err(problem) = operation.judge(answer.status, &body.unwrap_or_default()) {
            panic!("{problem}\n{told}");
        }
    }
}

fn check_error(path: &str, answer: &Answer, now: Timestamp, told: &str) {
    assert_eq!(answer.every("content-type"), ["application/json"], "{told}");
    if answer.bytes.is_empty() {
        assert!(told.starts_with("HEAD "), "only an answer to HEAD has no body: {told}");
        return;
    }
    let body = answer.json();
    let fields: Vec<_> = body.as_object().expect("an error is an object").keys().map(String::as_str).collect();
    if path == "/lending" || path.starts_with("/lending/") {
        assert_eq!(fields, ["title", "message", "errorCode", "errors", "date", "operationId"], "{told}");
        let code = body["errorCode"].as_str().expect("errorCode is a string");
        assert!(ERROR_CODES.contains(&code), "{told}");
    } else {
        assert_eq!(fields, ["title", "message", "errors", "date", "operationId"], "{told}");
    }
    for field in ["title", "message"] {
        assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {told}");
    }
    assert!(body["errors"].as_array().is_some_and(|all| all.iter().all(Value::is_string)), "{told}");
    assert_eq!(body["operationId"], answer.header("x-request-id").expect("checked above"), "{told}");
    assert_eq!(time(&body["date"]), now, "{told}");
    let mut words = body;
    words["operationId"] = Value::Null;
    let words = words.to_string().to_lowercase();
    for wording in WORDING {
        assert!(!words.contains(wording), "{wording:?} in {told}");
    }
}

/// 32 hex digits.
pub fn is_operation_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads a time and checks that it is RFC 3339 in UTC, with `Z` and 0, 3, 6 or 9 digits of fraction (contract 2.12).
pub fn time(value: &Value) -> Timestamp {
    let text = value.as_str().expect("a time is a string");
    let time = chrono::DateTime::parse_from_rfc3339(text).expect("a time is RFC 3339");
    let fraction = text.strip_suffix('Z').expect("Z").split_once('.').map_or(0, |(_, fraction)| fraction.len());
    assert!(matches!(fraction, 0 | 3 | 6 | 9), "{text}");
    time.to_utc()
}
