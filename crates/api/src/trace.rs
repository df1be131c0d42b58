//! Traces: the span of a request, and the trace that it belongs to.

use crate::random;
use lendpay_domain::{OperationId, PartnerId, Timestamp};
use poem::http::{HeaderMap, HeaderName};
use std::fmt;
use std::time::Duration;

const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// A request that was answered. It holds no path, no query and no header: nothing that could be a secret.
#[derive(Clone, Debug)]
pub struct Span<'a> {
    /// The trace: the caller's, or a fresh one.
    pub operation: OperationId,
    /// The caller's span; none if it sent no valid `traceparent`.
    pub caller: Option<TraceParent>,
    /// The request's method.
    pub method: &'a str,
    /// The template of its path; none if there is no such path.
    pub route: Option<&'a str>,
    /// The answer's status.
    pub status: u16,
    /// When its first byte arrived.
    pub start: Timestamp,
    /// From then to the head of the answer.
    pub duration: Duration,
    /// Who asked, if that is known.
    pub partner: Option<PartnerId>,
}

/// Collects traces. It is called on the thread that answers: it must not wait.
pub trait Traces: fmt::Debug + Send + Sync + 'static {
    /// Takes a request.
    fn request(&self, span: &Span<'_>);
}

/// A valid `traceparent` (W3C Trace Context, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace.
    pub trace: OperationId,
    /// The span within it.
    pub span: [u8; 8],
    /// Whether the caller samples the trace.
    pub sampled: bool,
}

impl TraceParent {
    /// The one of a request, if there is exactly one and it is valid.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(TRACE_PARENT).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let text = value.to_str().ok()?.trim();
        let mut parts = text.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Version 00 ends here; later versions may go on, ff is forbidden.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        hex::<1>(version)?;
        let [flags] = hex::<1>(flags)?;
        let span = hex::<8>(span).filter(|span| *span != [0; 8])?;
        let trace = hex::<16>(trace).filter(|trace| *trace != [0; 16])?;
        Some(Self { trace: OperationId::from_bytes(trace), span, sampled: flags & 1 == 1 })
    }

    /// A new trace, not sampled, for a request of ours to another service.
    pub fn fresh() -> Self {
        Self { trace: random::operation_id(), span: random::span_id(), sampled: false }
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{:016x}-{:02x}", self.trace, u64::from_be_bytes(self.span), u8::from(self.sampled))
    }
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
        TraceParent::of(&headers).map(|parent| parent.trace.to_string())
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

    #[test]
    fn a_fresh_one_is_valid_and_says_that_nobody_keeps_it() {
        let fresh = TraceParent::fresh();
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", fresh.to_string().parse().expect("a header value"));
        assert_eq!(TraceParent::of(&headers), Some(fresh));
        assert!(!fresh.sampled && fresh != TraceParent::fresh());
        let kept = TraceParent { sampled: true, ..fresh };
        headers.insert("traceparent", kept.to_string().parse().expect("a header value"));
        assert_eq!(TraceParent::of(&headers), Some(kept));
    }
}
