//! Events on the wire (contract 2.10).

use super::offer::Offer;
use super::time::Time;
use super::wire_type;
use lendpay_domain::event::{self, EventPage, Replaced, Subject};
use lendpay_domain::offer::{self, Status, Terms};
use lendpay_domain::{ApplicationId, OfferId, PartnerId, Timestamp};
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use poem_openapi::types::Any;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The type of an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventType(pub String);

impl EventType {
    /// The type with this name.
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }
}

wire_type!(EventType, "EventType", named: MetaSchema {
    description: Some("What happened."),
    enum_items: Subject::TYPES.iter().map(|name| (*name).into()).collect(),
    ..MetaSchema::new("string")
});

/// A field of an offer's terms that was replaced.
#[derive(Debug, Object, Serialize)]
pub struct ReplacedField {
    /// The name of the field.
    pub field: String,
    /// What it was; null when it had no value.
    pub before: Any<Value>,
    /// What it is since; null when it has no value.
    pub after: Any<Value>,
}

/// Something that happened. Holds identifiers, and what was replaced in the terms of an offer.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The event's place in the order. It grows, not always by one.
    pub sequence: i64,
    /// The identifier of the event.
    pub id: Uuid,
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: EventType,
    /// When it happened. An expiry happened at the offer's `expiryAt` and is recorded later, so that its time may be
    /// earlier than that of the event before it.
    pub occurred_at: Time,
    /// The identifier of the partner that it concerns; null when it is about a webhook endpoint of the lender.
    #[oai(nullable)]
    pub partner_id: Option<Uuid>,
    /// The application, or that of the offer; null when the event is about neither.
    #[oai(nullable)]
    pub application_id: Option<Uuid>,
    /// The offer; null when the event is not about an offer.
    #[oai(nullable)]
    pub offer_id: Option<Uuid>,
    /// The buyer; null when the event is not about a buyer.
    #[oai(nullable)]
    pub buyer_id: Option<Uuid>,
    /// The API key; null when the event is not about a key.
    #[oai(nullable)]
    pub key_id: Option<Uuid>,
    /// The webhook endpoint; null when the event is not about one.
    #[oai(nullable)]
    pub endpoint_id: Option<Uuid>,
    /// Who caused it: `operator:` and the name of an operator, `operator` (with the service's single key), `clock` (an
    /// expiry), `oauth`, or `key:` and the identifier of an API key.
    pub actor: String,
    /// The request that caused it: its X-Request-Id.
    pub operation_id: String,
    /// The terms that have another value since, of `offer.terms_replaced`; empty for other types.
    pub replaced: Vec<ReplacedField>,
    /// Why the operator declined the offer; null for other events, and where no reason was given.
    #[oai(nullable)]
    pub reason: Option<String>,
}

impl From<event::Event> for Event {
    fn from(event: event::Event) -> Self {
        let (application, offer, buyer) = event.subject.ids();
        Self {
            sequence: i64::try_from(event.sequence).expect("sequences are below 2^63"),
            id: event.id.uuid(),
            kind: EventType::named(event.subject.event_type()),
            occurred_at: Time(event.occurred_at),
            partner_id: event.partner.map(PartnerId::uuid),
            application_id: application.map(|id| id.uuid()),
            offer_id: offer.map(|id| id.uuid()),
            buyer_id: buyer.map(|id| id.uuid()),
            key_id: event.subject.key().map(|id| id.uuid()),
            endpoint_id: event.subject.endpoint().map(|id| id.uuid()),
            actor: event.actor.to_string(),
            operation_id: event.operation.to_string(),
            replaced: event.replaced.map(|replaced| fields(&replaced)).unwrap_or_default(),
            reason: event.reason.map(|reason| reason.as_str().to_owned()),
        }
    }
}

/// The fields that differ, with their values as an offer shows them.
fn fields(Replaced { before, after }: &Replaced) -> Vec<ReplacedField> {
    let (mut before, after) = (shown(before), shown(after));
    let field = |(field, after): (String, Value)| {
        let before = before.get_mut(&field).map(Value::take).expect("all offers have the same fields");
        (before != after).then_some(ReplacedField { field, before: Any(before), after: Any(after) })
    };
    after.into_iter().filter_map(field).collect()
}

/// The fields of an offer that has these terms; the others are the same for all terms.
fn shown(terms: &Terms) -> Map<String, Value> {
    let offer = offer::Offer {
        id: OfferId::from_bytes([0; 16]),
        application: ApplicationId::from_bytes([0; 16]),
        partner: PartnerId::from_bytes([0; 16]),
        terms: terms.clone(),
        status: Status::Offered,
        status_changed_at: Timestamp::UNIX_EPOCH,
    };
    match serde_json::to_value(Offer::from(offer)) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("an offer is an object: {other:?}"),
    }
}

/// A page of events, in their order.
#[derive(Debug, Object, Serialize)]
pub struct EventList {
    /// The history that the sequences belong to: an import, or the restoring of a backup, begins another, in which the
    /// same sequence may mean another event.
    pub history: Uuid,
    /// The events.
    pub items: Vec<Event>,
    /// Pass it as `after` for the next page; null when there are no more now. Events will follow: whoever follows along
    /// goes on with `history`, a colon and the `sequence` of the last event that it saw.
    #[oai(nullable)]
    pub next: Option<String>,
}

impl From<EventPage> for EventList {
    fn from(page: EventPage) -> Self {
        let next = page.next_cursor().map(|cursor| cursor.to_string());
        Self { history: page.history.uuid(), items: page.events.into_iter().map(Into::into).collect(), next }
    }
}
