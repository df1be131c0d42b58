//! What a webhook carries (contract 2.15): what happened, when, and ids and a status. Never terms, names or bank details.

use super::offer::Status;
use super::time::Time;
use super::{event, partner_event};
use lendpay_domain::event::{Event, Subject};
use lendpay_domain::webhook::attempt::TEST;
use lendpay_domain::{EndpointId, Timestamp};
use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

/// The offer, and the status that it reached.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct OfferWebhookData {
    /// The application of the offer.
    pub application_id: Uuid,
    /// The offer.
    pub offer_id: Uuid,
    pub status: Status,
}

/// The buyer.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct BuyerWebhookData {
    /// The buyer.
    pub buyer_id: Uuid,
}

/// What the event is about.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct LenderWebhookData {
    /// The partner that it concerns; null when that is nobody.
    #[oai(nullable)]
    pub partner_id: Option<Uuid>,
    /// The application, or that of the offer; null when the event is about neither.
    #[oai(nullable)]
    pub application_id: Option<Uuid>,
    /// The offer; null when the event is not about an offer.
    #[oai(nullable)]
    pub offer_id: Option<Uuid>,
    /// The status that the offer reached; null when the event is not about that.
    #[oai(nullable)]
    pub status: Option<String>,
    /// The buyer; null when the event is not about a buyer.
    #[oai(nullable)]
    pub buyer_id: Option<Uuid>,
    /// The API key; null when the event is not about a key.
    #[oai(nullable)]
    pub key_id: Option<Uuid>,
    /// The endpoint of webhooks; null when the event is not about one.
    #[oai(nullable)]
    pub endpoint_id: Option<Uuid>,
}

/// What was tried.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct TestWebhookData {
    /// The endpoint.
    pub endpoint_id: Uuid,
}

/// What an operator sends to try an endpoint. It is in no list of events.
#[derive(Debug, Object, Serialize)]
pub struct TestWebhook {
    /// `webhook.test`.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: String,
    /// When it was sent, in UTC.
    pub timestamp: Time,
    /// 0: it has no place in the order.
    pub sequence: i64,
    pub data: TestWebhookData,
}

macro_rules! payload {
    ($(#[$doc:meta])* $name:ident { $kind:ty, $data:ty }) => {
        $(#[$doc])*
        #[derive(Debug, Object, Serialize)]
        pub struct $name {
            #[oai(rename = "type")]
            #[serde(rename = "type")]
            pub kind: $kind,
            /// When it happened, in UTC. An expiry happened at the offer's `expiryAt`, which may be earlier than the time of
            /// an event with a lower sequence.
            pub timestamp: Time,
            /// The event's place in the order, as in the list of events. It grows, not by one.
            pub sequence: i64,
            pub data: $data,
        }

        impl $name {
            fn of(event: &Event, kind: $kind, data: $data) -> Self {
                let sequence = i64::try_from(event.sequence).expect("sequences are below 2^63");
                Self { kind, timestamp: Time(event.occurred_at), sequence, data }
            }
        }
    };
}

payload! {
    /// An offer reached a status.
    OfferWebhook { partner_event::EventType, OfferWebhookData }
}

payload! {
    /// A buyer was created.
    BuyerWebhook { partner_event::EventType, BuyerWebhookData }
}

payload! {
    /// Something that happened.
    LenderWebhook { event::EventType, LenderWebhookData }
}

fn json(payload: &impl Serialize) -> String {
    serde_json::to_string(payload).expect("wire types have names as keys")
}

/// An event as its partner gets it; `None` if partners do not see its type.
pub(crate) fn partners_payload(event: &Event) -> Option<String> {
    let kind = partner_event::EventType::of(event)?;
    match event.subject {
        Subject::Offer { application, offer, status } => {
            let (application_id, offer_id) = (application.uuid(), offer.uuid());
            let data = OfferWebhookData { application_id, offer_id, status: Status(status) };
            Some(json(&OfferWebhook::of(event, kind, data)))
        }
        Subject::Buyer(buyer) => {
            Some(json(&BuyerWebhook::of(event, kind, BuyerWebhookData { buyer_id: buyer.uuid() })))
        }
        _ => None,
    }
}

/// An event as the lender gets it.
pub(crate) fn lenders_payload(event: &Event) -> String {
    let (application, offer, buyer) = event.subject.ids();
    let data = LenderWebhookData {
        partner_id: event.partner.map(|id| id.uuid()),
        application_id: application.map(|id| id.uuid()),
        offer_id: offer.map(|id| id.uuid()),
        status: match event.subject {
            Subject::Offer { status, .. } => Some(status.name().to_owned()),
            _ => None,
        },
        buyer_id: buyer.map(|id| id.uuid()),
        key_id: event.subject.key().map(|id| id.uuid()),
        endpoint_id: event.subject.endpoint().map(|id| id.uuid()),
    };
    json(&LenderWebhook::of(event, event::EventType::named(event.subject.event_type()), data))
}

/// What an operator sends to try an endpoint.
pub(crate) fn test_payload(endpoint: EndpointId, at: Timestamp) -> String {
    let data = TestWebhookData { endpoint_id: endpoint.uuid() };
    json(&TestWebhook { kind: TEST.to_owned(), timestamp: Time(at), sequence: 0, data })
}
