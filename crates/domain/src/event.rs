//! Public events (contract 2.10): what happened, in order.

use crate::offer::{Status, Terms};
use crate::operator::OperatorName;
use crate::text::Reason;
use crate::webhook::Step;
use crate::{
    ApplicationId, BuyerId, EndpointId, EventId, HistoryId, KeyId, OfferId, OperationId, PartnerId, Timestamp,
};
use std::fmt;

/// Who caused a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A partner, with an API key.
    Key(KeyId),
    /// A partner, with an OAuth 2.0 token.
    OAuthClient,
    /// The operator, with the service's single key.
    Operator,
    /// An operator that has a name. Only operators learn it (contract 2.14).
    NamedOperator(OperatorName),
    /// Time: an offer expired.
    Clock,
}

impl Actor {
    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "oauth" => Some(Self::OAuthClient),
            "operator" => Some(Self::Operator),
            "clock" => Some(Self::Clock),
            _ => match text.split_once(':')? {
                ("key", id) => KeyId::parse(id).map(Self::Key),
                ("operator", name) => OperatorName::parse(name).map(Self::NamedOperator).ok(),
                _ => None,
            },
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => write!(f, "key:{id}"),
            Self::OAuthClient => f.write_str("oauth"),
            Self::Operator => f.write_str("operator"),
            Self::NamedOperator(name) => write!(f, "operator:{name}"),
            Self::Clock => f.write_str("clock"),
        }
    }
}

/// A count for each type of event, in the order of [`Subject::TYPES`].
pub type EventCounts = [u64; Subject::TYPES.len()];

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An offer reached a status; Offered means that it was created.
    Offer {
        /// The application that the offer belongs to.
        application: ApplicationId,
        /// The offer.
        offer: OfferId,
        /// The status that it reached.
        status: Status,
    },
    /// A buyer was created.
    Buyer(BuyerId),
    /// An offer got other terms.
    Terms {
        /// The application that the offer belongs to.
        application: ApplicationId,
        /// The offer.
        offer: OfferId,
    },
    /// The partner was created.
    PartnerCreated,
    /// The partner has other values.
    PartnerUpdated,
    /// A key of the partner was created.
    KeyCreated(KeyId),
    /// A key of the partner expires at another moment.
    KeyExpirySet(KeyId),
    /// A key of the partner was revoked.
    KeyRevoked(KeyId),
    /// An application of the partner was registered.
    ApplicationCreated(ApplicationId),
    /// An operator asked for a buyer's bank details in full.
    BuyerRead(BuyerId),
    /// Something happened to an endpoint of webhooks.
    Webhook(EndpointId, Step),
}

impl Subject {
    /// Every type of event. Those of partners, keys, applications and webhooks, and of what operators read, are for
    /// operators only (contract 2.14).
    pub const TYPES: [&'static str; 22] = [
        "offer.created",
        "offer.accepted",
        "offer.declined",
        "offer.expired",
        "offer.advanced",
        "offer.archived",
        "buyer.created",
        "offer.terms_replaced",
        "partner.created",
        "partner.updated",
        "key.created",
        "key.expiry_set",
        "key.revoked",
        "application.created",
        "buyer.read_in_full",
        "webhook.created",
        "webhook.updated",
        "webhook.paused",
        "webhook.resumed",
        "webhook.secret_rotated",
        "webhook.disabled",
        "webhook.deleted",
    ];

    /// The type of the event, as the contract names it.
    pub const fn event_type(&self) -> &'static str {
        Self::TYPES[self.type_index()]
    }

    /// The index of the type in [`Self::TYPES`].
    pub const fn type_index(&self) -> usize {
        match self {
            Self::Offer { status, .. } => match status {
                Status::Offered => 0,
                Status::CustomerAccepted => 1,
                Status::CustomerDeclined => 2,
                Status::Expired => 3,
                Status::Advanced => 4,
                Status::Archived => 5,
            },
            Self::Buyer(_) => 6,
            Self::Terms { .. } => 7,
            Self::PartnerCreated => 8,
            Self::PartnerUpdated => 9,
            Self::KeyCreated(_) => 10,
            Self::KeyExpirySet(_) => 11,
            Self::KeyRevoked(_) => 12,
            Self::ApplicationCreated(_) => 13,
            Self::BuyerRead(_) => 14,
            Self::Webhook(_, step) => match step {
                Step::Created => 15,
                Step::Updated => 16,
                Step::Paused => 17,
                Step::Resumed => 18,
                Step::SecretRotated => 19,
                Step::Disabled => 20,
                Step::Deleted => 21,
            },
        }
    }
}

impl Subject {
    /// The application, the offer and the buyer that the event is about.
    pub const fn ids(&self) -> (Option<ApplicationId>, Option<OfferId>, Option<BuyerId>) {
        match *self {
            Self::Offer { application, offer, .. } | Self::Terms { application, offer } => {
                (Some(application), Some(offer), None)
            }
            Self::Buyer(buyer) | Self::BuyerRead(buyer) => (None, None, Some(buyer)),
            Self::ApplicationCreated(application) => (Some(application), None, None),
            Self::PartnerCreated
            | Self::PartnerUpdated
            | Self::KeyCreated(_)
            | Self::KeyExpirySet(_)
            | Self::KeyRevoked(_)
            | Self::Webhook(..) => (None, None, None),
        }
    }

    /// The key that the event is about.
    pub const fn key(&self) -> Option<KeyId> {
        match *self {
            Self::KeyCreated(key) | Self::KeyExpirySet(key) | Self::KeyRevoked(key) => Some(key),
            Self::Offer { .. }
            | Self::Terms { .. }
            | Self::Buyer(_)
            | Self::PartnerCreated
            | Self::PartnerUpdated
            | Self::ApplicationCreated(_)
            | Self::BuyerRead(_)
            | Self::Webhook(..) => None,
        }
    }

    /// The endpoint that the event is about.
    pub const fn endpoint(&self) -> Option<EndpointId> {
        if let Self::Webhook(endpoint, _) = *self { Some(endpoint) } else { None }
    }
}

/// The terms of an offer before and after they were replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The terms until then.
    pub before: Terms,
    /// The terms from then on.
    pub after: Terms,
}

/// One event. Holds ids, and of an offer whose terms were replaced the terms: no bank detail, no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number in the order. It grows, not always by one.
    pub sequence: u64,
    /// Its id.
    pub id: EventId,
    /// When it happened. For an expiry that is the offer's `expiryAt`, which may lie before the event's neighbours.
    pub occurred_at: Timestamp,
    /// The partner that it concerns; `None` for an endpoint of the lender.
    pub partner: Option<PartnerId>,
    /// What it is about.
    pub subject: Subject,
    /// Who caused it.
    pub actor: Actor,
    /// The request that caused it, or that found the expiry; an id that no request has if the service recorded the
    /// expiry by itself.
    pub operation: OperationId,
    /// What was replaced, if the subject is [`Subject::Terms`].
    pub replaced: Option<Box<Replaced>>,
    /// Why an operator declined the offer, if the subject is that and a reason was given.
    pub reason: Option<Reason>,
}

/// The ids that an event is looked for by.
pub fn ids(
    partner: Option<PartnerId>,
    subject: &Subject,
    operation: OperationId,
) -> impl Iterator<Item = [u8; 16]> + use<> {
    let (application, offer, buyer) = subject.ids();
    let subject =
        [application.map(ApplicationId::to_bytes), offer.map(OfferId::to_bytes), buyer.map(BuyerId::to_bytes)];
    [partner.map(PartnerId::to_bytes), Some(operation.to_bytes())].into_iter().chain(subject).flatten()
}

/// A part of the events, and what a cursor is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The history that the sequences belong to.
    pub history: HistoryId,
    /// The last sequence that was given, to an event or another change; 0 if none was.
    pub last: u64,
    /// Up to here everything was looked at.
    pub seen: u64,
    /// The events.
    pub events: Vec<Event>,
    /// The sequence after which to go on; `None` when there is no more now. A page may have fewer events than were
    /// wanted, or none, and still not be the last: a store reads a bounded part for a page.
    pub next: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_are_read_as_they_are_written() {
        let key = Actor::Key(KeyId::from_bytes([7; 16]));
        let named = Actor::NamedOperator(OperatorName::parse("anna.k").expect("a name"));
        for actor in [key, Actor::OAuthClient, Actor::Operator, named, Actor::Clock] {
            assert_eq!(Actor::parse(&actor.to_string()), Some(actor));
        }
        assert_eq!(named.to_string(), "operator:anna.k");
        for bad in ["key:", "operator:", "operator:a b", "operators", "clock:anna", ""] {
            assert_eq!(Actor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_type_has_its_place() {
        let (application, offer) = (ApplicationId::from_bytes([1; 16]), OfferId::from_bytes([2; 16]));
        let (key, endpoint) = (KeyId::from_bytes([4; 16]), EndpointId::from_bytes([5; 16]));
        let reached = |status| Subject::Offer { application, offer, status };
        let subjects = [
            (reached(Status::Offered), "offer.created"),
            (reached(Status::CustomerAccepted), "offer.accepted"),
            (reached(Status::CustomerDeclined), "offer.declined"),
            (reached(Status::Expired), "offer.expired"),
            (reached(Status::Advanced), "offer.advanced"),
            (reached(Status::Archived), "offer.archived"),
            (Subject::Buyer(BuyerId::from_bytes([3; 16])), "buyer.created"),
            (Subject::Terms { application, offer }, "offer.terms_replaced"),
            (Subject::PartnerCreated, "partner.created"),
            (Subject::PartnerUpdated, "partner.updated"),
            (Subject::KeyCreated(key), "key.created"),
            (Subject::KeyExpirySet(key), "key.expiry_set"),
            (Subject::KeyRevoked(key), "key.revoked"),
            (Subject::ApplicationCreated(application), "application.created"),
            (Subject::BuyerRead(BuyerId::from_bytes([3; 16])), "buyer.read_in_full"),
            (Subject::Webhook(endpoint, Step::Created), "webhook.created"),
            (Subject::Webhook(endpoint, Step::Updated), "webhook.updated"),
            (Subject::Webhook(endpoint, Step::Paused), "webhook.paused"),
            (Subject::Webhook(endpoint, Step::Resumed), "webhook.resumed"),
            (Subject::Webhook(endpoint, Step::SecretRotated), "webhook.secret_rotated"),
            (Subject::Webhook(endpoint, Step::Disabled), "webhook.disabled"),
            (Subject::Webhook(endpoint, Step::Deleted), "webhook.deleted"),
        ];
        assert_eq!(subjects.map(|(subject, _)| subject.type_index()), std::array::from_fn(|n| n));
        assert_eq!(subjects.map(|(subject, _)| subject.event_type()), Subject::TYPES);
        for (subject, name) in subjects {
            assert_eq!(subject.event_type(), name);
            assert_eq!(subject.key().is_some(), name.starts_with("key."));
            assert_eq!(subject.endpoint().is_some(), name.starts_with("webhook."));
        }
    }
}
