//! Everything that can change. A command decides changes, a store keeps them, an export writes them, an import reads
//! them.
//!
//! A change says the value that results, not a difference: applying it twice is the same as applying it once.

use crate::buyer::Description;
use crate::event::{Actor, Event, Replaced, Subject};
use crate::idempotency::Fingerprint;
use crate::key::{KeyHash, KeyRecord};
use crate::offer::{Status, Terms};
use crate::partner::Partner;
use crate::text::Reason;
use crate::webhook::{Endpoint, Noted, Step};
use crate::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use std::sync::Arc;

/// What caused a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The id of the change's event.
    pub event: EventId,
    /// When it happened. For an expiry that is the offer's `expiryAt`.
    pub at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// The request that caused it, or that found the expiry; an id that no request has if the service recorded the
    /// expiry by itself.
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
    /// A partner was created, or its values were replaced.
    PartnerPut(Partner),
    /// A key was added.
    KeyAdded(KeyRecord),
    /// A key was revoked.
    KeyRevoked {
        /// The key's partner.
        partner: PartnerId,
        /// The key.
        key: KeyId,
        /// From this moment on it is refused.
        at: Timestamp,
    },
    /// A key got an expiry that is earlier than the one that it had, or its first.
    KeyExpirySet {
        /// The key's partner.
        partner: PartnerId,
        /// The key.
        key: KeyId,
        /// From this moment on it is refused.
        at: Timestamp,
    },
    /// A key was used. This is no public event, and it has no cause.
    KeyUsed {
        /// The key.
        key: KeyHash,
        /// When.
        at: Timestamp,
    },
    /// An application was registered. Its owner never changes.
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
        /// The new terms.
        terms: Terms,
        /// The terms until then; `None` in records of versions that did not keep them, which are no public events.
        before: Option<Box<Terms>>,
    },
    /// An offer reached another status.
    OfferMoved {
        /// The offer.
        offer: OfferKey,
        /// The status.
        status: Status,
        /// When.
        at: Timestamp,
        /// Why, if whoever moved it has said.
        reason: Option<Reason>,
    },
    /// A buyer was created. It never changes.
    BuyerCreated {
        /// The partner that registered it.
        partner: PartnerId,
        /// The buyer.
        buyer: BuyerId,
        /// What the partner said about it. The command that decides the change keeps it too.
        description: Arc<Description>,
        /// The digest of the payload; `None` if the creation had no idempotency key.
        fingerprint: Option<Fingerprint>,
        /// When.
        at: Timestamp,
    },
    /// An operator asked for a buyer's bank details in full. It changes nothing but what is known of operators.
    BuyerRead {
        /// The partner that registered it.
        partner: PartnerId,
        /// The buyer.
        buyer: BuyerId,
    },
    /// An endpoint of webhooks was added, has other values, or was deleted.
    EndpointPut {
        /// The endpoint as it is now.
        endpoint: Box<Endpoint>,
        /// What was done.
        step: Step,
    },
    /// Deliveries of webhooks have come so far. This is no public event, and it has no cause.
    DeliveriesNoted(Vec<Noted>),
}

impl Change {
    /// Whether every version has kept the cause of such a change. Early ones kept none for partners, keys, applications
    /// and terms.
    pub const fn always_has_cause(&self) -> bool {
        match self {
            Self::OfferCreated { .. }
            | Self::OfferMoved { .. }
            | Self::TermsReplaced { before: Some(_), .. }
            | Self::KeyExpirySet { .. }
            | Self::EndpointPut { .. }
            | Self::BuyerCreated { .. }
            | Self::BuyerRead { .. } => true,
            Self::PartnerPut(_)
            | Self::KeyAdded(_)
            | Self::KeyRevoked { .. }
            | Self::KeyUsed { .. }
            | Self::ApplicationPut { .. }
            | Self::TermsReplaced { before: None, .. }
            | Self::DeliveriesNoted(_) => false,
        }
    }

    /// Whether such a change has no cause, and is no public event.
    pub const fn never_has_cause(&self) -> bool {
        matches!(self, Self::KeyUsed { .. } | Self::DeliveriesNoted(_))
    }

    /// The time of the change, if it holds that.
    pub const fn at(&self) -> Option<Timestamp> {
        match self {
            Self::KeyRevoked { at, .. }
            | Self::KeyUsed { at, .. }
            | Self::OfferCreated { at, .. }
            | Self::OfferMoved { at, .. }
            | Self::BuyerCreated { at, .. } => Some(*at),
            Self::PartnerPut(_)
            | Self::KeyAdded(_)
            | Self::KeyExpirySet { .. }
            | Self::ApplicationPut { .. }
            | Self::TermsReplaced { .. }
            | Self::BuyerRead { .. }
            | Self::EndpointPut { .. }
            | Self::DeliveriesNoted(_) => None,
        }
    }

    /// The terms before and after, if the change replaces terms and says both.
    pub fn replaced(&self) -> Option<Box<Replaced>> {
        match self {
            Self::TermsReplaced { terms, before: Some(before), .. } => {
                Some(Box::new(Replaced { before: (**before).clone(), after: terms.clone() }))
            }
            _ => None,
        }
    }

    /// Why an offer was moved, if the change does that and says so.
    pub fn reason(&self) -> Option<Reason> {
        if let Self::OfferMoved { reason, .. } = self { reason.clone() } else { None }
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
    /// Its number among all changes. It grows, not always by one. `None` before a store has given one.
    pub sequence: Option<u64>,
    /// What caused it; `None` for the use of a key, for the progress of webhooks, and for records that an early version
    /// exported without it.
    pub cause: Option<Cause>,
    /// What changed.
    pub change: Change,
}

impl Record {
    /// The subject of the record's public event, and the partner that it concerns (an endpoint of the lender: none);
    /// `None` if it has none. Without a cause there is no event.
    pub fn subject(&self) -> Option<(Option<PartnerId>, Subject)> {
        let cause = self.cause?;
        let (partner, subject) = match &self.change {
            Change::PartnerPut(Partner { id, created_at, .. }) => {
                // A partner is created at the moment of its first put, and keeps that moment.
                let is_new = *created_at == cause.at;
                (*id, if is_new { Subject::PartnerCreated } else { Subject::PartnerUpdated })
            }
            Change::KeyAdded(key) => (key.partner, Subject::KeyCreated(key.id)),
            Change::KeyRevoked { partner, key, .. } => (*partner, Subject::KeyRevoked(*key)),
            Change::ApplicationPut { application, partner } => (*partner, Subject::ApplicationCreated(*application)),
            Change::OfferCreated { offer, .. } => (offer.partner, offer.reached(Status::Offered)),
            Change::OfferMoved { offer, status, .. } => (offer.partner, offer.reached(*status)),
            Change::BuyerCreated { partner, buyer, .. } => (*partner, Subject::Buyer(*buyer)),
            Change::BuyerRead { partner, buyer } => (*partner, Subject::BuyerRead(*buyer)),
            Change::KeyExpirySet { partner, key, .. } => (*partner, Subject::KeyExpirySet(*key)),
            Change::TermsReplaced { offer, before: Some(_), .. } => {
                let OfferKey { partner, application, offer } = *offer;
                (partner, Subject::Terms { application, offer })
            }
            Change::EndpointPut { endpoint, step } => {
                return Some((endpoint.owner.partner(), Subject::Webhook(endpoint.id, *step)));
            }
            Change::KeyUsed { .. } | Change::TermsReplaced { before: None, .. } | Change::DeliveriesNoted(_) => {
                return None;
            }
        };
        Some((Some(partner), subject))
    }

    /// The record as a public event (contract 2.10 and 2.14); `None` if it is none.
    pub fn event(&self) -> Option<Event> {
        let (partner, subject) = self.subject()?;
        let Cause { event, at, actor, operation } = self.cause?;
        let (sequence, replaced, reason) = (self.sequence?, self.change.replaced(), self.change.reason());
        Some(Event { sequence, id: event, occurred_at: at, partner, subject, actor, operation, replaced, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::imports::{base, buyer, created, endpoint_put, moved, progress, terms_replaced};
    use crate::testing::samples::*;
    use crate::webhook::Owner;

    #[test]
    fn each_change_has_its_event() {
        let revoked = Change::KeyRevoked { partner: partner(1), key: key_id(2), at: at(2) };
        let expires = Change::KeyExpirySet { partner: partner(1), key: key_id(2), at: at(2) };
        let key_of_2 = offer_key(1, 2);
        for (change, subject) in [
            (partner_put(1, None), Some(Subject::PartnerCreated)),
            (Change::KeyAdded(key(1, 2)), Some(Subject::KeyCreated(key_id(2)))),
            (revoked, Some(Subject::KeyRevoked(key_id(2)))),
            (Change::KeyUsed { key: key(1, 1).hash, at: at(1) }, None),
            (application_put(1), Some(Subject::ApplicationCreated(application(1)))),
            (created(offer_key(1, 2)), Some(offer_key(1, 2).reached(Status::Offered))),
            (Change::TermsReplaced { offer: key_of_2, terms: terms(), before: None }, None),
            (
                terms_replaced(key_of_2),
                Some(Subject::Terms { application: key_of_2.application, offer: key_of_2.offer }),
            ),
            (expires, Some(Subject::KeyExpirySet(key_id(2)))),
            (moved(offer_key(1, 2), Status::Archived), Some(offer_key(1, 2).reached(Status::Archived))),
            (buyer(1, 2, description()), Some(Subject::Buyer(buyer_id(2)))),
            (Change::BuyerRead { partner: partner(1), buyer: buyer_id(2) }, Some(Subject::BuyerRead(buyer_id(2)))),
            (endpoint_put(1, 2, Step::Paused), Some(Subject::Webhook(endpoint_id(2), Step::Paused))),
            (progress(2, 7), None),
        ] {
            let found = record(3, change);
            assert_eq!(found.subject(), subject.map(|subject| (Some(partner(1)), subject)), "{found:?}");
            assert_eq!(found.event().map(|event| event.subject), subject);
        }
        let lenders = Endpoint { owner: Owner::Lender, ..endpoint(1, 2) };
        let put = record(3, Change::EndpointPut { endpoint: lenders.into(), step: Step::Created });
        assert_eq!(put.subject(), Some((None, Subject::Webhook(endpoint_id(2), Step::Created))));
    }

    #[test]
    fn a_partner_is_created_once_and_updated_later() {
        let Record { cause: Some(cause), .. } = record(1, partner_put(1, None)) else { panic!("it has a cause") };
        let later =
            Record { sequence: Some(2), cause: Some(Cause { at: at(7), ..cause }), change: partner_put(1, None) };
        assert_eq!(later.subject(), Some((Some(partner(1)), Subject::PartnerUpdated)));
    }

    #[test]
    fn without_a_cause_or_a_sequence_there_is_no_event() {
        for (n, change) in (1..).zip(base()) {
            let whole = record(n, change);
            assert_eq!(Record { cause: None, ..whole.clone() }.event(), None);
            assert_eq!(Record { cause: None, ..whole.clone() }.subject(), None);
            assert_eq!(Record { sequence: None, ..whole }.event(), None);
        }
    }
}
