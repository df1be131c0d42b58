//! Everything that can change, in one vocabulary: what a command decides, what a store keeps, what an export writes and an
//! import reads.
//!
//! A change says the value that results, not a difference: applying it twice is the same as applying it once.

use crate::buyer::Description;
use crate::event::{Actor, Event, Subject};
use crate::idempotency::Fingerprint;
use crate::key::{KeyHash, KeyRecord};
use crate::offer::{Status, Terms};
use crate::partner::Partner;
use crate::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};

/// How a change came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The id of the event that the change is.
    pub event: EventId,
    /// When it happened. For an expiry that is the offer's `expiryAt`.
    pub at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// The request that caused it, or that found the expiry.
    pub operation: OperationId,
}

/// Names an offer, with its owner. Ordered by the partner first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferKey {
    /// The partner that owns the application.
    pub partner: PartnerId,
    /// The application that the offer answers.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A partner has these values from here on.
    PartnerPut(Partner),
    /// A key was added.
    KeyAdded(KeyRecord),
    /// A key was revoked.
    KeyRevoked {
        /// The key's partner.
        partner: PartnerId,
        /// The key.
        key: KeyId,
        /// From when on it is refused.
        at: Timestamp,
    },
    /// A key was used. Nobody is told, and the change has no cause.
    KeyUsed {
        /// The key.
        key: KeyHash,
        /// When.
        at: Timestamp,
    },
    /// An application belongs to a partner. It never moves.
    ApplicationPut {
        /// The application.
        application: ApplicationId,
        /// Its owner.
        partner: PartnerId,
    },
    /// An offer was created as Offered.
    OfferCreated {
        /// The offer.
        offer: OfferKey,
        /// What is offered.
        terms: Terms,
        /// When.
        at: Timestamp,
    },
    /// An offer that is Offered has new terms.
    TermsReplaced {
        /// The offer.
        offer: OfferKey,
        /// What is offered from here on.
        terms: Terms,
    },
    /// An offer reached another status.
    OfferMoved {
        /// The offer.
        offer: OfferKey,
        /// The status.
        status: Status,
        /// When.
        at: Timestamp,
    },
    /// A buyer was created. It never changes.
    BuyerCreated {
        /// The partner that registered it.
        partner: PartnerId,
        /// The buyer.
        buyer: BuyerId,
        /// What the partner said of it.
        description: Description,
        /// Set when the creation can be repeated.
        fingerprint: Option<Fingerprint>,
        /// When.
        at: Timestamp,
    },
}

impl Change {
    /// The partner that the change concerns, and the subject of its public event; `None` if it has none.
    pub const fn subject(&self) -> Option<(PartnerId, Subject)> {
        match self {
            Self::OfferCreated { offer, .. } => Some((offer.partner, offer.reached(Status::Offered))),
            Self::OfferMoved { offer, status, .. } => Some((offer.partner, offer.reached(*status))),
            Self::BuyerCreated { partner, buyer, .. } => Some((*partner, Subject::Buyer(*buyer))),
            Self::PartnerPut(_)
            | Self::KeyAdded(_)
            | Self::KeyRevoked { .. }
            | Self::KeyUsed { .. }
            | Self::ApplicationPut { .. }
            | Self::TermsReplaced { .. } => None,
        }
    }

    /// What the change says of when it happened; `None` if it says nothing.
    pub const fn at(&self) -> Option<Timestamp> {
        match self {
            Self::KeyRevoked { at, .. }
            | Self::KeyUsed { at, .. }
            | Self::OfferCreated { at, .. }
            | Self::OfferMoved { at, .. }
            | Self::BuyerCreated { at, .. } => Some(*at),
            Self::PartnerPut(_) | Self::KeyAdded(_) | Self::ApplicationPut { .. } | Self::TermsReplaced { .. } => None,
        }
    }
}

impl OfferKey {
    /// The subject of the event that the offer reached a status.
    pub const fn reached(&self, status: Status) -> Subject {
        Subject::Offer { application: self.application, offer: self.offer, status }
    }
}

/// A change with its cause, as it is kept, exported and imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its place among all changes. Grows, not always by one. `None` before a store has given one.
    pub sequence: Option<u64>,
    /// How it came about; `None` for the use of a key, and for what an early version exported without it.
    pub cause: Option<Cause>,
    /// What changed.
    pub change: Change,
}

impl Record {
    /// The public event that the record is (contract 2.10), if it is one.
    pub fn event(&self) -> Option<Event> {
        let (partner, subject) = self.change.subject()?;
        let Cause { event, at, actor, operation } = self.cause?;
        Some(Event { sequence: self.sequence?, id: event, occurred_at: at, partner, subject, actor, operation })
    }
}
