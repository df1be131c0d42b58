//! Responses as bytes, for requests that no endpoint sees.

use crate::failure::Failure;
use crate::random;
use crate::shell::common_headers;
use crate::side::Side;
use lendpay_domain::calls::Call;
use lendpay_domain::{StoreError, Timestamp};
use poem::http::StatusCode;
use std::time::Duration;

/// A complete HTTP/1.1 response for a request that was refused before it could be read: its head is not HTTP (400), too
/// long (431, 414) or too slow (408), or there are too many connections (503). The connection ends with it. The path is
/// not known then, so partners get no `errorCode`. The record of it comes with it.
pub fn refusal(side: Side, tls: bool, status: u16, at: Timestamp) -> (Vec<u8>, Call) {
    let failure = match status {
        408 => Failure::Timeout,
        414 | 431 => Failure::HeadTooLarge,
        503 => Failure::Store(StoreError::Overloaded),
        _ => Failure::BadRequest,
    };
    let status = StatusCode::from_u16(status).expect("listeners refuse with a status of HTTP");
    let operation = random::operation_id();
    let body = failure.body(side.shape(""), operation, at).to_json();
    tracing::info!(status = status.as_u16(), %operation, "refused before it could be read");
    let mut response =
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in common_headers(side, tls).cloned().chain(failure.header()) {
        response.push_str(&format!("{name}: {}\r\n", value.to_str().expect("headers of ours are ASCII")));
    }
    response.push_str(&format!("x-request-id: {operation}\r\nconnection: close\r\n\r\n"));
    let mut response = response.into_bytes();
    response.extend_from_slice(&body);
    let call = Call {
        operation,
        at,
        method: "-".to_owned(),
        route: None,
        application: None,
        offer: None,
        buyer: None,
        partner: None,
        actor: None,
        status: status.as_u16(),
        error_code: Some(failure.code().to_owned()),
        errors: Vec::new(),
        // When it began is not known.
        duration: Duration::ZERO,
    };
    (response, call)
}
