//! Everything that a store keeps, as a sequence of records from which the same store can be made again: what an export
//! holds and an import takes, whatever kind of store either is.
//!
//! Records come in an order in which each refers only to what came before it. An offer is made by its creation and every
//! event after it, so that offers and events cannot disagree.

use crate::buyer::Description;
use crate::event::Event;
use crate::idempotency::Fingerprint;
use crate::key::{KeyHash, KeyRecord};
use crate::offer::Terms;
use crate::partner::Partner;
use crate::store::Answer;
use crate::{ApplicationId, OfferId, PartnerId, Timestamp};
use std::future::Future;

/// One record. Events carry their sequence; other changes have one where the store numbers them too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A partner, as it was from here on.
    Partner {
        /// The place of the change among the events.
        sequence: Option<u64>,
        /// The partner.
        partner: Partner,
    },
    /// A key, as it was from here on.
    Key {
        /// The place of the change among the events.
        sequence: Option<u64>,
        /// The key.
        key: KeyRecord,
    },
    /// An application.
    Application {
        /// The place of the change among the events.
        sequence: Option<u64>,
        /// The application.
        id: ApplicationId,
        /// Its owner.
        partner: PartnerId,
    },
    /// An offer was created. The event's subject is the offer, Offered.
    OfferCreated {
        /// The event.
        event: Event,
        /// What was offered.
        terms: Terms,
    },
    /// An offer that is Offered got new terms.
    OfferTerms {
        /// The place of the change among the events.
        sequence: Option<u64>,
        /// The application.
        application: ApplicationId,
        /// The offer.
        offer: OfferId,
        /// What is offered from here on.
        terms: Terms,
    },
    /// An offer reached another status. The event's subject is the offer.
    OfferMoved {
        /// The event.
        event: Event,
    },
    /// A buyer was created, at the time of the event. The event's subject is the buyer.
    BuyerCreated {
        /// The event.
        event: Event,
        /// The buyer.
        description: Description,
        /// Set when the creation can be repeated.
        fingerprint: Option<Fingerprint>,
    },
    /// When a key was last used, to the minute. Comes after everything else.
    KeyUsed {
        /// The key.
        key: KeyHash,
        /// When.
        at: Timestamp,
    },
}

/// An export: everything that was there at one moment.
pub trait Export: Send + 'static {
    /// The next records; none at the end.
    fn next(&mut self) -> impl Future<Output = Answer<Vec<Record>>> + Send;
}
