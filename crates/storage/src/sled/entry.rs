//! What the log says: one entry for each change, with everything needed to make it again.
//!
//! An event (contract 2.10) is not kept: it is what an entry says, so event and effect are one record and cannot part. Entries
//! without a public meaning take a sequence too; readers of events skip them.

use super::trees::{Kind, StateKey};
use crate::codec::{self, Bytes, CodecError};
use crate::records::{ActorCode, BuyerRecord, OfferHead, Time, status_of};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::offer::Status;
use lendpay_domain::store::Stamp;
use lendpay_domain::{ApplicationId, BuyerId, EventId, OfferId, OperationId, PartnerId, Timestamp};
use serde::{Deserialize, Serialize};

/// How an event came about.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cause {
    event: [u8; 16],
    at: Time,
    actor: ActorCode,
    operation: [u8; 16],
}

impl Cause {
    pub(super) fn new(stamp: &Stamp, event: EventId, at: Timestamp, actor: Actor) -> Self {
        let operation = stamp.operation.to_bytes();
        Self { event: event.to_bytes(), at: at.into(), actor: actor.into(), operation }
    }

    /// The cause of an event that has happened.
    pub(super) fn of(event: &Event) -> Self {
        Self {
            event: event.id.to_bytes(),
            at: event.occurred_at.into(),
            actor: event.actor.into(),
            operation: event.operation.to_bytes(),
        }
    }

    pub(super) const fn at(&self) -> Time {
        self.at
    }
}

/// One change. The order of the variants and fields is the format. No `Debug`: values hold bank details.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Entry<'a> {
    /// An offer reached a status.
    OfferMoved { cause: Cause, application: [u8; 16], offer: [u8; 16], partner: [u8; 16], status: u8 },
    /// An offer was created; `value` is its state.
    OfferCreated {
        cause: Cause,
        application: [u8; 16],
        offer: [u8; 16],
        #[serde(borrow)]
        value: Bytes<'a>,
    },
    /// A buyer was created; `value` is its state.
    BuyerCreated {
        cause: Cause,
        buyer: [u8; 16],
        #[serde(borrow)]
        value: Bytes<'a>,
    },
    /// A state was set that nobody follows: a partner, a key, an application, the terms of an offer.
    Put {
        kind: u8,
        #[serde(borrow)]
        key: Bytes<'a>,
        #[serde(borrow)]
        value: Bytes<'a>,
    },
}

impl<'a> Entry<'a> {
    pub(super) fn put(key: &'a StateKey, value: &'a [u8]) -> Self {
        Self::Put { kind: key.kind as u8, key: Bytes(key.bytes()), value: Bytes(value) }
    }

    /// The event that the entry is, if it is one.
    pub(super) fn event(&self, sequence: u64) -> Result<Option<Event>, CodecError> {
        let (cause, partner, subject) = match *self {
            Self::OfferMoved { cause, application, offer, partner, status } => {
                (cause, partner, offer_subject(application, offer, status_of(status)?))
            }
            Self::OfferCreated { cause, application, offer, value } => {
                let (head, _) = OfferHead::of(value.0)?;
                (cause, head.partner, offer_subject(application, offer, Status::Offered))
            }
            Self::BuyerCreated { cause, buyer, value } => {
                let record: BuyerRecord<'_> = codec::unseal(value.0)?;
                (cause, record.partner, Subject::Buyer(BuyerId::from_bytes(buyer)))
            }
            Self::Put { .. } => return Ok(None),
        };
        Ok(Some(Event {
            sequence,
            id: EventId::from_bytes(cause.event),
            occurred_at: cause.at.try_into()?,
            partner: PartnerId::from_bytes(partner),
            subject,
            actor: cause.actor.into(),
            operation: OperationId::from_bytes(cause.operation),
        }))
    }

    /// The place of its type among the types of events, if it is one.
    pub(super) fn event_type(&self) -> Option<usize> {
        let status = match *self {
            Self::OfferMoved { status, .. } => status_of(status).ok()?,
            Self::OfferCreated { .. } => Status::Offered,
            Self::BuyerCreated { .. } => return Some(Subject::Buyer(BuyerId::from_bytes([0; 16])).type_index()),
            Self::Put { .. } => return None,
        };
        Some(offer_subject([0; 16], [0; 16], status).type_index())
    }

    /// The value that the entry sets, if it is not one that follows from the one before.
    pub(super) const fn value(&self) -> Option<&'a [u8]> {
        match *self {
            Self::OfferMoved { .. } => None,
            Self::OfferCreated { value, .. } | Self::BuyerCreated { value, .. } | Self::Put { value, .. } => {
                Some(value.0)
            }
        }
    }

    /// The state that the entry sets.
    pub(super) fn key(&self) -> Result<StateKey, CodecError> {
        match *self {
            Self::OfferMoved { application, offer, .. } | Self::OfferCreated { application, offer, .. } => {
                Ok(StateKey::offer(ApplicationId::from_bytes(application), OfferId::from_bytes(offer)))
            }
            Self::BuyerCreated { buyer, .. } => Ok(StateKey::buyer(BuyerId::from_bytes(buyer))),
            Self::Put { kind, key, .. } => {
                Kind::of(kind).and_then(|kind| StateKey::read(kind, key.0)).ok_or(CodecError::Damaged)
            }
        }
    }
}

fn offer_subject(application: [u8; 16], offer: [u8; 16], status: Status) -> Subject {
    let (application, offer) = (ApplicationId::from_bytes(application), OfferId::from_bytes(offer));
    Subject::Offer { application, offer, status }
}
