//! Calls that have one operation id, and what they changed.

use super::event::EventList;
use super::time::Time;
use lendpay_domain::event::EventPage;
use lendpay_domain::{OperationId, calls};
use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

/// A call that changed nothing. Holds no value that was sent, but for identifiers.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase", rename = "RecordedCall")]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// When it arrived.
    pub received_at: Time,
    /// The HTTP method; `-` if it is none of the usual ones.
    pub method: String,
    /// The path, with names in place of its identifiers; null if nothing has such a path.
    #[oai(nullable)]
    pub route: Option<String>,
    /// The application that the path names.
    #[oai(nullable)]
    pub application_id: Option<Uuid>,
    /// The offer that the path names.
    #[oai(nullable)]
    pub offer_id: Option<Uuid>,
    /// The buyer that the path names, or that was there already.
    #[oai(nullable)]
    pub buyer_id: Option<Uuid>,
    /// The partner that called.
    #[oai(nullable)]
    pub partner_id: Option<Uuid>,
    /// Who called, as in events: `operator`, `oauth`, or `key:` and the identifier of an API key; null if the call was not
    /// authenticated.
    #[oai(nullable)]
    pub actor: Option<String>,
    /// The status of the answer.
    pub status: i32,
    /// The stable name of the error, also where the answer had none; null if the call succeeded and changed nothing.
    #[oai(nullable)]
    pub error_code: Option<String>,
    /// The detail messages of the error.
    pub errors: Vec<String>,
    /// How long the answer took, in milliseconds; 0 where the request could not be read.
    pub duration_ms: f64,
}

impl From<calls::Call> for Call {
    fn from(call: calls::Call) -> Self {
        Self {
            received_at: Time(call.at),
            method: call.method,
            route: call.route,
            application_id: call.application.map(|id| id.uuid()),
            offer_id: call.offer.map(|id| id.uuid()),
            buyer_id: call.buyer.map(|id| id.uuid()),
            partner_id: call.partner.map(|id| id.uuid()),
            actor: call.actor.map(|actor| actor.to_string()),
            status: call.status.into(),
            error_code: call.error_code,
            errors: call.errors,
            duration_ms: call.duration.as_secs_f64() * 1_000.0,
        }
    }
}

/// What became of the calls with an operation id. `events` are those of the calls that changed something, as `ListEvents`
/// answers them. When its `next` is not null there may be more: pass it to `ListEvents` as `after`, with the `operationId`.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase", rename = "OperationReport")]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// The operation id.
    pub operation_id: String,
    /// The calls that changed nothing, in the order of their times; the last 200 of them.
    pub calls: Vec<Call>,
    pub events: EventList,
}

impl Operation {
    pub fn new(id: OperationId, calls: Vec<calls::Call>, events: EventPage) -> Self {
        Self { operation_id: id.to_string(), calls: calls.into_iter().map(Into::into).collect(), events: events.into() }
    }
}
