//! Buyers: registered once, however often the partner repeats the command (contract 2.5), and read in full by
//! operators.

use super::{Command, DecideError, Decided, Decision, Reads, Stamp, Values};
use crate::buyer::{Buyer, NewBuyer};
use crate::change::Change;
use crate::idempotency::{Fingerprint, IdempotencyKey};
use crate::store::Answer;
use crate::view::{StoredBuyer, View};
use crate::{BuyerId, PartnerId};
use std::sync::Arc;

/// A partner registers a buyer.
#[derive(Clone, Debug)]
pub struct CreateBuyer {
    /// The partner.
    pub partner: PartnerId,
    /// The buyer's id.
    pub id: BuyerId,
    /// The digest of the payload; `None` without an idempotency key, when the command cannot be repeated.
    pub fingerprint: Option<Fingerprint>,
    /// The buyer, checked.
    pub buyer: NewBuyer,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

impl CreateBuyer {
    /// Builds the command. With an idempotency key the buyer's id follows from the key; without one it is `fresh`.
    pub fn new(
        partner: PartnerId,
        fresh: BuyerId,
        key: Option<&IdempotencyKey>,
        buyer: NewBuyer,
        stamp: Stamp,
    ) -> Self {
        let id = key.map_or(fresh, |key| key.buyer_id(partner));
        let fingerprint = key.map(|_| buyer.fingerprint());
        Self { partner, id, fingerprint, buyer, stamp }
    }
}

/// The outcome of a creation. `B` is the buyer that an earlier command created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateBuyerOutcome<C = Buyer, B = Buyer> {
    /// The buyer was created now.
    Created(C),
    /// The same command created it before.
    Replayed(B),
    /// The key was used before, with another payload.
    KeyReused,
}

impl Command for CreateBuyer {
    type Outcome = CreateBuyerOutcome;
    type Decided<T: Send + 'static, B: Send + 'static> = CreateBuyerOutcome<(), StoredBuyer<B>>;

    fn partner(&self) -> Option<PartnerId> {
        Some(self.partner)
    }

    fn reads(&self, reads: &mut Reads) {
        let buyers = if self.fingerprint.is_some() { &mut reads.buyers } else { &mut reads.new_buyers };
        buyers.push((self.partner, self.id));
        reads.partners.push(self.partner);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<CreateBuyerOutcome<(), StoredBuyer<V::Buyer>>> {
        if let Some(stored) = view.buyer(self.partner, self.id)? {
            return match (stored.fingerprint, self.fingerprint) {
                (Some(old), Some(new)) => Ok(Decision::unchanged(if old == new {
                    CreateBuyerOutcome::Replayed(stored)
                } else {
                    CreateBuyerOutcome::KeyReused
                })),
                // Ids of creations that cannot be repeated are random: this is a broken generator, not a retry.
                _ => Err(DecideError::Contradiction("the id of a new buyer is taken")),
            };
        }
        if view.partner(self.partner)?.is_none() {
            // Only partners that exist have keys and clients, and none is ever removed.
            return Err(DecideError::Contradiction("the partner of a new buyer does not exist"));
        }
        let created = Change::BuyerCreated {
            partner: self.partner,
            buyer: self.id,
            description: Arc::clone(self.buyer.description()),
            fingerprint: self.fingerprint,
            at: self.stamp.at,
        };
        Ok(Decision::with(CreateBuyerOutcome::Created(()), self.stamp.record(created)))
    }

    fn outcome<T: Send + 'static, B: Send + 'static>(
        self,
        decided: CreateBuyerOutcome<(), StoredBuyer<B>>,
        values: &impl Values<T, B>,
    ) -> Answer<CreateBuyerOutcome> {
        Ok(match decided {
            CreateBuyerOutcome::Created(()) => CreateBuyerOutcome::Created(Buyer {
                id: self.id,
                partner: self.partner,
                description: self.buyer.into_description(),
                created_at: self.stamp.at,
            }),
            CreateBuyerOutcome::Replayed(stored) => CreateBuyerOutcome::Replayed(values.buyer(self.id, stored)?),
            CreateBuyerOutcome::KeyReused => CreateBuyerOutcome::KeyReused,
        })
    }
}

/// An operator reads a buyer with its bank details in full, which is an event.
#[derive(Clone, Debug)]
pub struct ReadBuyer {
    /// The partner that registered it.
    pub partner: PartnerId,
    /// The buyer.
    pub id: BuyerId,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

impl Command for ReadBuyer {
    type Outcome = Option<Buyer>;
    type Decided<T: Send + 'static, B: Send + 'static> = Option<StoredBuyer<B>>;

    fn reads(&self, reads: &mut Reads) {
        reads.buyers.push((self.partner, self.id));
    }

    fn decide<V: View>(&self, view: &V) -> Decided<Option<StoredBuyer<V::Buyer>>> {
        let Some(stored) = view.buyer(self.partner, self.id)? else { return Ok(Decision::unchanged(None)) };
        let read = Change::BuyerRead { partner: self.partner, buyer: self.id };
        Ok(Decision::with(Some(stored), self.stamp.record(read)))
    }

    fn outcome<T: Send + 'static, B: Send + 'static>(
        self,
        decided: Option<StoredBuyer<B>>,
        values: &impl Values<T, B>,
    ) -> Answer<Option<Buyer>> {
        decided.map(|stored| values.buyer(self.id, stored)).transpose()
    }
}
