//! An event as the request of a webhook, signed (contract 2.15; the Standard Webhooks specification, version 1.0).

use crate::wire::webhook::{lenders_payload, partners_payload, test_payload};
use lendpay_domain::event::Event;
use lendpay_domain::query::Scope;
use lendpay_domain::{EndpointId, EventId, Timestamp};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook};

/// The payload of a webhook, before it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookPayload {
    id: EventId,
    /// The body of the request: JSON.
    pub body: String,
}

impl WebhookPayload {
    /// What is sent of an event to an endpoint of a partner, or to one of the lender, which gets everybody's; `None` if
    /// partners do not see its type.
    pub fn of(event: &Event, scope: Scope) -> Option<Self> {
        let body = match scope {
            Scope::All => Some(lenders_payload(event)),
            Scope::Partner(_) => partners_payload(event),
        };
        body.map(|body| Self { id: event.id, body })
    }

    /// What is sent to try an endpoint.
    pub fn test(endpoint: EndpointId, id: EventId, at: Timestamp) -> Self {
        Self { id, body: test_payload(endpoint, at) }
    }

    /// The headers of an attempt at the moment `now`, with a signature by each of the secrets. The first is the
    /// idempotency key of the message: it stays, whenever the event is sent.
    pub fn headers<S: AsRef<[u8]>>(&self, now: Timestamp, secrets: &[S]) -> [(&'static str, String); 3] {
        let (id, seconds) = (self.id.to_string(), now.timestamp());
        let sign = |secret: &S| {
            let key = Webhook::from_bytes(secret.as_ref().to_vec()).expect("any bytes are a key");
            key.sign(&id, seconds, self.body.as_bytes()).expect("JSON is UTF-8")
        };
        let signatures: Vec<_> = secrets.iter().map(sign).collect();
        [
            (HEADER_WEBHOOK_ID, id),
            (HEADER_WEBHOOK_TIMESTAMP, seconds.to_string()),
            (HEADER_WEBHOOK_SIGNATURE, signatures.join(" ")),
        ]
    }
}
