//! Attempts to send an event, and what delivery tells about itself.

use super::Endpoint;
use crate::{EndpointId, EventId, Timestamp};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// How many attempts of an endpoint are kept: the last ones.
pub const ATTEMPTS: usize = 100;

/// The type of the event that an operator sends to try an endpoint. It is in no log.
pub const TEST: &str = "webhook.test";

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The answer had a status other than 2xx.
    Status(u16),
    /// There was no answer in time.
    Timeout,
    /// The name of the host has no address.
    Name,
    /// The address of the host is not allowed.
    Address,
    /// No connection could be made.
    Connect,
    /// The host's certificate or its TLS is not acceptable.
    Tls,
    /// The connection ended before the answer, or the answer is not HTTP.
    Broken,
    /// No key opens the endpoint's secret.
    Secret,
}

impl Problem {
    /// Every problem but that of a status.
    pub const OTHERS: [Self; 7] =
        [Self::Timeout, Self::Name, Self::Address, Self::Connect, Self::Tls, Self::Broken, Self::Secret];

    /// The name in documents and exports, and the status.
    pub const fn names(self) -> (&'static str, Option<u16>) {
        match self {
            Self::Status(status) => ("status", Some(status)),
            Self::Timeout => ("timeout", None),
            Self::Name => ("name", None),
            Self::Address => ("address", None),
            Self::Connect => ("connect", None),
            Self::Tls => ("tls", None),
            Self::Broken => ("broken", None),
            Self::Secret => ("secret", None),
        }
    }

    /// Reads what [`Self::names`] gives.
    pub fn named(name: &str, status: Option<u16>) -> Option<Self> {
        let others = Self::OTHERS.into_iter();
        others.chain(status.map(Self::Status)).find(|problem| problem.names() == (name, status))
    }
}

/// An attempt to send an event to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The event: its `webhook-id`.
    pub event: EventId,
    /// Its type, or [`TEST`].
    pub kind: &'static str,
    /// Its sequence; `None` for a test.
    pub sequence: Option<u64>,
    /// Which attempt to send this event it is, counted from 1.
    pub number: u32,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The status of the answer, or why it failed.
    pub result: Result<u16, Problem>,
    /// When the event is sent again, if it is.
    pub next_at: Option<Timestamp>,
}

/// A test that is under way.
pub type Testing = Pin<Box<dyn Future<Output = Attempt> + Send>>;

/// What delivery tells about itself, and is told. Of this process: other processes serve other endpoints.
pub trait Deliveries: Send + Sync + 'static {
    /// The last attempts of an endpoint by this process, the newest first; at most [`ATTEMPTS`].
    fn attempts(&self, endpoint: EndpointId) -> Vec<Attempt>;

    /// Sends an event of the type [`TEST`] at once, whatever the endpoint's state, and says what became of it. It takes
    /// no longer than `within`.
    fn test(&self, endpoint: Endpoint, event: EventId, at: Timestamp, within: Duration) -> Testing;

    /// An operator has added, changed or deleted an endpoint through this process. Never waits.
    fn changed(&self, endpoint: EndpointId);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_read_as_they_are_named() {
        for problem in Problem::OTHERS.into_iter().chain([Problem::Status(503)]) {
            let (name, status) = problem.names();
            assert_eq!(Problem::named(name, status), Some(problem));
        }
        for (name, status) in [("status", None), ("timeout", Some(500)), ("", None)] {
            assert_eq!(Problem::named(name, status), None);
        }
    }
}
