//! What is known of a request from its first byte on.

use crate::random;
use crate::rate_limit::Allowance;
use lendpay_domain::event::Actor;
use lendpay_domain::store::Stamp;
use lendpay_domain::{OperationId, PartnerId, Timestamp};
use poem::http::HeaderMap;
use poem::{FromRequest, Request, RequestBody};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// The request's id and time. The shell puts it into the request; operations read it and note the partner for the log.
#[derive(Clone)]
pub(crate) struct Context {
    pub operation: OperationId,
    pub at: Timestamp,
    /// Who connected; unknown where there is no network.
    pub peer: Option<IpAddr>,
    noted: Arc<Noted>,
}

/// What an operation finds out, for the shell.
#[derive(Default)]
struct Noted {
    partner: OnceLock<PartnerId>,
    allowance: OnceLock<Allowance>,
}

impl Context {
    pub fn new(request: &Request, at: Timestamp) -> Self {
        let operation = trace_id(request.headers()).unwrap_or_else(random::operation_id);
        let peer = request.remote_addr().as_socket_addr().map(SocketAddr::ip);
        Self { operation, at, peer, noted: Arc::default() }
    }

    /// Notes for whom the request is made.
    pub fn set_partner(&self, partner: PartnerId) {
        // A request is authenticated once; a second value would be the same.
        let _ = self.noted.partner.set(partner);
    }

    pub fn partner(&self) -> Option<PartnerId> {
        self.noted.partner.get().copied()
    }

    /// Notes what the partner has left.
    pub fn set_allowance(&self, allowance: Allowance) {
        // A request is counted once.
        let _ = self.noted.allowance.set(allowance);
    }

    pub fn allowance(&self) -> Option<&Allowance> {
        self.noted.allowance.get()
    }

    /// The stamp for the command that this request carries.
    pub fn stamp(&self, actor: Actor) -> Stamp {
        Stamp { at: self.at, event: random::event_id(), actor, operation: self.operation }
    }
}

impl<'a> FromRequest<'a> for Context {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Ok(poem::web::Data::<&Self>::from_request_without_body(request).await?.0.clone())
    }
}

/// The trace id of a valid `traceparent` (W3C Trace Context, section 3.2), if there is exactly one.
pub(crate) fn trace_id(headers: &HeaderMap) -> Option<OperationId> {
    let mut values = headers.get_all("traceparent").iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let text = value.to_str().ok()?.trim();
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Version 00 ends here; later versions may go on, ff is forbidden.
    if version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    hex::<1>(version)?;
    hex::<1>(flags)?;
    hex::<8>(parent).filter(|parent| *parent != [0; 8])?;
    hex::<16>(trace).filter(|trace| *trace != [0; 16]).map(OperationId::from_bytes)
}

/// `N` bytes written as lower-case hex digits.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(bytes)
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("traceparent", value.parse().expect("a header value"));
        }
        trace_id(&headers).map(|id| id.to_string())
    }

    #[test]
    fn a_valid_traceparent_names_the_operation() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        for value in [
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
        ] {
            assert_eq!(id(&[value]).as_deref(), Some(trace), "{value}");
        }
    }

    #[test]
    fn an_invalid_traceparent_is_ignored() {
        for value in [
            "",
            "00",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(id(&[value]), None, "{value}");
        }
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(id(&[good, good]), None);
        assert_eq!(id(&[]), None);
    }
}
