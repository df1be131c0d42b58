//! Events as partners see them (contract 2.10, 2.13): their own, and of the types that areas show.

use super::time::Time;
use super::wire_type;
use lendpay_domain::event::{self, Actor, EventPage, Subject};
use lendpay_domain::key::{Area, Areas};
use lendpay_domain::query::EventTypes;
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The types that partners see.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Subject::TYPES.into_iter().filter(|name| Area::of_event(name).is_some())
}

/// The types that no partner sees (contract 2.14).
pub(crate) fn hidden_types() -> Vec<&'static str> {
    Subject::TYPES.into_iter().filter(|name| !names().any(|known| known == *name)).collect()
}

/// The types that somebody with these areas sees.
pub(crate) fn types_seen(areas: Areas) -> EventTypes {
    EventTypes::those(|name| Area::of_event(name).is_some_and(|area| areas.contains(area)))
}

/// Reads the name of a type.
pub(crate) fn type_named(text: &str) -> Result<EventTypes, String> {
    let known = EventTypes::named(text).filter(|_| names().any(|name| name == text));
    known.ok_or_else(|| format!("must be one of {}", names().collect::<Vec<_>>().join(", ")))
}

/// The type of an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventType(String);

impl EventType {
    /// That of an event; `None` if partners do not see it.
    pub fn of(event: &event::Event) -> Option<Self> {
        let name = event.subject.event_type();
        Area::of_event(name).map(|_| Self(name.to_owned()))
    }
}

wire_type!(EventType, "EventType", named: MetaSchema {
    description: Some("What happened. More types may come."),
    enum_items: names().map(Into::into).collect(),
    ..MetaSchema::new("string")
});

/// Something that happened. Holds identifiers only.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The event's place in the order. It grows, not by one.
    pub sequence: i64,
    /// The identifier of the event.
    pub id: Uuid,
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: EventType,
    /// When it happened, in UTC. An expiry happened at the offer's `expiryAt` and is recorded later, so that its time may
    /// be earlier than that of the event before it.
    pub occurred_at: Time,
    /// The application of the offer; null when the event is not about an offer.
    #[oai(nullable)]
    pub application_id: Option<Uuid>,
    /// The offer; null when the event is not about an offer.
    #[oai(nullable)]
    pub offer_id: Option<Uuid>,
    /// The buyer; null when the event is not about a buyer.
    #[oai(nullable)]
    pub buyer_id: Option<Uuid>,
    /// Who caused it: `key:` and the identifier of one of your API keys, `oauth` (one of your access tokens), `operator`,
    /// or `clock` (an expiry).
    pub actor: String,
    /// The request that caused it: its X-Request-Id.
    pub operation_id: String,
}

/// Partners learn that it was the operator, never who (contract 2.13).
fn actor(actor: Actor) -> String {
    match actor {
        Actor::Operator | Actor::NamedOperator(_) => "operator".to_owned(),
        Actor::Key(_) | Actor::OAuthClient | Actor::Clock => actor.to_string(),
    }
}

impl From<event::Event> for Event {
    fn from(event: event::Event) -> Self {
        let (application, offer, buyer) = event.subject.ids();
        Self {
            sequence: i64::try_from(event.sequence).expect("sequences are below 2^63"),
            id: event.id.uuid(),
            kind: EventType(event.subject.event_type().to_owned()),
            occurred_at: Time(event.occurred_at),
            application_id: application.map(|id| id.uuid()),
            offer_id: offer.map(|id| id.uuid()),
            buyer_id: buyer.map(|id| id.uuid()),
            actor: actor(event.actor),
            operation_id: event.operation.to_string(),
        }
    }
}

/// A page of events, in their order.
#[derive(Debug, Object, Serialize)]
pub struct EventList {
    /// The history that the sequences belong to: the restoring of a backup begins another, in which the same sequence may
    /// mean another event.
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

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::event::Subject;

    #[test]
    fn each_area_sees_its_types_and_no_other() {
        let count = |areas: &[Area]| types_seen(areas.iter().copied().collect()).bits().count_ones();
        assert_eq!([count(&[]), count(&[Area::Lending]), count(&[Area::Payments]), count(&Area::ALL)], [0, 6, 1, 7]);
        assert!(names().all(|name| Subject::TYPES.contains(&name)));
    }
}
