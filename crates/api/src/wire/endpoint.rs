//! Endpoints of webhooks as the operator puts and sees them (contract 2.15).

use super::event::EventType;
use super::fields::{self, Fields, Value};
use super::page::page_of;
use super::party::FromFields;
use super::time::Time;
use super::wire_type;
use lendpay_domain::event::{Event, Subject};
use lendpay_domain::query::EventTypes;
use lendpay_domain::webhook::{self, Attempt, Endpoint, EndpointUrl, InFlight, Owner, Progress, State};
use lendpay_domain::{PartnerId, Timestamp};
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An endpoint, to be added.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "AddWebhookRequest")]
pub struct NewWebhook {
    /// Where events are sent to: an absolute https URL of at most 2,000 characters, without user name, password and
    /// fragment.
    pub url: String,
    /// The partner whose events it gets. Absent or null: the lender, which gets everybody's.
    #[oai(nullable)]
    pub partner_id: Option<Uuid>,
    /// The types of events that are wanted; a partner gets those that it sees in its own list of events. Absent or null:
    /// all, later ones included.
    #[oai(nullable, validator(min_items = 1))]
    pub types: Option<Vec<EventType>>,
    /// How many events may be under way at once. With 1, all are sent one after the other; otherwise those of each offer
    /// and buyer are. Absent or null: 16.
    #[oai(nullable)]
    pub in_flight: Option<i32>,
    /// It gets the events after this sequence; 0: all. Absent or null: those from now on.
    #[oai(nullable)]
    pub after: Option<i64>,
}

/// What an operator says about an endpoint.
pub(crate) struct Values {
    pub url: EndpointUrl,
    pub types: Option<EventTypes>,
    pub in_flight: InFlight,
}

/// Reads what new and changed endpoints have in common.
fn values(fields: &mut Fields) -> Option<Values> {
    let url = fields.required("url", |value| fields::parsed(value, EndpointUrl::parse));
    let types = fields.optional("types", types);
    let in_flight = fields.optional("inFlight", |value| {
        let number = fields::integer(value).ok().and_then(|number| number.try_into().ok()).and_then(InFlight::new);
        number.ok_or("must be a whole number from 1 to 16")
    });
    Some(Values { url: url?, types, in_flight: in_flight.unwrap_or(InFlight::MOST) })
}

fn types(value: Value) -> Result<EventTypes, String> {
    let list = match value {
        Value::List(list) if !list.is_empty() => list,
        _ => return Err("must be an array of at least one type of event".to_owned()),
    };
    let names: Option<Vec<_>> = list.iter().map(Value::as_str).collect();
    let types = names.and_then(EventTypes::of_names);
    types.ok_or_else(|| format!("each must be one of {}", Subject::TYPES.join(", ")))
}

impl FromFields for NewWebhook {
    type Value = (Owner, Values, Option<u64>);

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<Self::Value> {
        let values = values(fields);
        let partner = fields.optional("partnerId", |value| fields::id(value, PartnerId::parse));
        let after = fields.optional("after", sequence);
        Some((partner.map_or(Owner::Lender, Owner::Partner), values?, after))
    }
}

fn sequence(value: Value) -> Result<u64, &'static str> {
    fields::whole(value).filter(|sequence| *sequence <= fields::EXACT_MAX).ok_or(fields::NOT_EXACT)
}

/// An endpoint, to be changed.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "UpdateWebhookRequest")]
pub struct ChangedWebhook {
    /// Where events are sent to: an absolute https URL of at most 2,000 characters, without user name, password and
    /// fragment.
    pub url: String,
    /// The types of events that are wanted; a partner gets those that it sees in its own list of events. Absent or null:
    /// all, later ones included.
    #[oai(nullable, validator(min_items = 1))]
    pub types: Option<Vec<EventType>>,
    /// How many events may be under way at once. Absent or null: 16.
    #[oai(nullable)]
    pub in_flight: Option<i32>,
}

impl FromFields for ChangedWebhook {
    type Value = Values;

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<Values> {
        values(fields)
    }
}

/// From where on events are sent again.
#[derive(Debug, Object)]
#[oai(rename = "RedeliverWebhookRequest")]
pub struct Redelivery {
    /// All events after this sequence are sent, also those that the endpoint has taken; 0: all there are.
    pub after: i64,
}

impl FromFields for Redelivery {
    type Value = u64;

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<u64> {
        fields.required("after", sequence)
    }
}

/// Whether events are sent to an endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookState(pub String);

wire_type!(WebhookState, "WebhookState", named: MetaSchema {
    description: Some(
        "Whether events are sent: `active`; `paused` by an operator, or by an import, which brings no secret; `disabled` \
         since the endpoint does not take them.",
    ),
    enum_items: [State::Active, State::Paused, State::Disabled(webhook::Disabled::Gone)]
        .map(|state| state.names().0.into())
        .to_vec(),
    ..MetaSchema::new("string")
});

/// An endpoint of webhooks.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The identifier of the endpoint.
    pub endpoint_id: Uuid,
    /// The partner whose events it gets; null for the lender, which gets everybody's.
    #[oai(nullable)]
    pub partner_id: Option<Uuid>,
    /// Where events are sent to.
    pub url: String,
    /// The types of events that are wanted; null for all.
    #[oai(nullable)]
    pub types: Option<Vec<EventType>>,
    /// How many events may be under way at once.
    pub in_flight: i32,
    pub state: WebhookState,
    /// Why it is disabled: `gone`, it answered 410; `failing`, it took nothing for 7 days. Null when it is not disabled.
    #[oai(nullable)]
    pub reason: Option<String>,
    /// When it was added.
    pub created_at: Time,
    /// Until when the secret before the last rotation is used beside the new one; null when it is not.
    #[oai(nullable)]
    pub former_secret_until: Option<Time>,
}

impl From<Endpoint> for Webhook {
    fn from(endpoint: Endpoint) -> Self {
        let (state, reason) = endpoint.state().names();
        Self {
            endpoint_id: endpoint.id.uuid(),
            partner_id: endpoint.owner.partner().map(PartnerId::uuid),
            url: endpoint.url.as_str().to_owned(),
            types: endpoint.types.map(|types| types.names().map(EventType::named).collect()),
            in_flight: endpoint.in_flight.get().into(),
            state: WebhookState(state.to_owned()),
            reason: reason.map(str::to_owned),
            created_at: Time(endpoint.created_at),
            former_secret_until: endpoint.secrets.former.map(|(_, end)| Time(end)),
        }
    }
}

page_of! {
    Webhook,
    /// A page of endpoints, in the order of their identifiers. With a filter a page may be short, or empty, and yet have a
    /// `next`.
    WebhookList
}

/// An endpoint that has just been added: the only answer that shows its secret.
#[derive(Object, Serialize)]
pub struct MadeWebhook {
    #[oai(flatten)]
    #[serde(flatten)]
    pub webhook: Webhook,
    /// The secret that deliveries are signed with. It is shown once.
    pub secret: String,
}

/// A new secret: the only answer that shows it.
#[derive(Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct RotatedSecret {
    /// The secret that deliveries are signed with. It is shown once.
    pub secret: String,
    /// Until when deliveries are signed with the secret before as well; null when there was none.
    #[oai(nullable)]
    pub former_secret_until: Option<Time>,
}

/// An endpoint, and how far its delivery has come.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct WebhookProgress {
    #[oai(flatten)]
    #[serde(flatten)]
    pub webhook: Webhook,
    /// All events up to this sequence are delivered or set aside. Saved once a second. Null after an import that added to a
    /// store, until the endpoint is resumed.
    #[oai(nullable)]
    pub cursor: Option<i64>,
    /// The sequence of the first event after the cursor; null when there is none.
    #[oai(nullable)]
    pub waiting_sequence: Option<i64>,
    /// When that event happened; null when there is none.
    #[oai(nullable)]
    pub waiting_since: Option<Time>,
    /// How many seconds ago that is; 0 when there is none.
    pub lag_seconds: f64,
    /// How many events are set aside: they failed three times, or wait for one that did. At most 1,000; the endpoint gets
    /// no others then.
    pub set_aside: i32,
    /// When the endpoint last took an event; null when it never did.
    #[oai(nullable)]
    pub last_success_at: Option<Time>,
}

impl WebhookProgress {
    /// An endpoint with its progress, and the first event after its cursor, at the moment `now`.
    pub fn new(endpoint: Endpoint, progress: Option<&Progress>, waiting: Option<&Event>, now: Timestamp) -> Self {
        let lag = waiting.map_or(0.0, |event| (now - event.occurred_at).as_seconds_f64().max(0.0));
        Self {
            webhook: endpoint.into(),
            cursor: progress.map(|progress| number(progress.cursor)),
            waiting_sequence: waiting.map(|event| number(event.sequence)),
            waiting_since: waiting.map(|event| Time(event.occurred_at)),
            lag_seconds: lag,
            set_aside: progress.map_or(0, |progress| progress.aside.len().try_into().expect("at most 1,000")),
            last_success_at: progress.and_then(|progress| progress.last_success_at).map(Time),
        }
    }
}

fn number(sequence: u64) -> i64 {
    i64::try_from(sequence).expect("sequences are below 2^63")
}

/// An attempt to send an event.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct WebhookAttempt {
    /// The event: its `webhook-id`.
    pub event_id: Uuid,
    /// Its type: a type of event, or `webhook.test`.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: String,
    /// Its sequence; null for a test.
    #[oai(nullable)]
    pub sequence: Option<i64>,
    /// Which attempt to send this event it is, counted from 1.
    pub number: i32,
    /// When it began.
    pub at: Time,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// Whether the endpoint took the event.
    pub delivered: bool,
    /// The status of the answer; null when there was none.
    #[oai(nullable)]
    pub status: Option<i32>,
    /// Why it failed: `status`, the status was not 2xx; `timeout`; `name`, the host has no address; `address`, it is not one
    /// that may be called; `connect`; `tls`; `broken`, the connection ended early or the answer was not HTTP; `secret`, no
    /// key opens the endpoint's secret. Null when it did not fail.
    #[oai(nullable)]
    pub problem: Option<String>,
    /// When the event is sent again; null when it is not.
    #[oai(nullable)]
    pub next_at: Option<Time>,
}

impl From<Attempt> for WebhookAttempt {
    fn from(attempt: Attempt) -> Self {
        let Attempt { event, kind, sequence, number: nth, at, duration, result, next_at } = attempt;
        let (problem, status) = match result {
            Ok(status) => (None, Some(status)),
            Err(problem) => (Some(problem.names().0.to_owned()), problem.names().1),
        };
        Self {
            event_id: event.uuid(),
            kind: kind.to_owned(),
            sequence: sequence.map(number),
            number: i32::try_from(nth).unwrap_or(i32::MAX),
            at: Time(at),
            duration_ms: duration.as_secs_f64() * 1_000.0,
            delivered: result.is_ok(),
            status: status.map(i32::from),
            problem,
            next_at: next_at.map(Time),
        }
    }
}

/// The last attempts of an endpoint.
#[derive(Debug, Object, Serialize)]
pub struct WebhookAttemptList {
    /// The newest first: at most 100, of the process that answers, since it was started.
    pub items: Vec<WebhookAttempt>,
}
