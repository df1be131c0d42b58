//! Commands: what can be asked of a store, and what is decided about each.
//!
//! A command is decided by a pure function of itself and a [`View`]. The decision is an outcome and the changes to
//! keep. They are independent: a refused command may bring a change, such as the expiry of an offer that was found on
//! the way.
//!
//! | module | subject |
//! |---|---|
//! | `offer` | creating offers, replacing terms, moving an offer to another status, expiries |
//! | `buyer` | registering a buyer, reading one in full |
//! | `party` | partners, keys, applications |
//! | `webhook` | endpoints of webhooks, and how far deliveries have come |

mod buyer;
mod offer;
mod party;
#[cfg(test)]
mod tests;
mod webhook;

pub use buyer::{CreateBuyer, CreateBuyerOutcome, ReadBuyer};
pub use offer::{ExpireOffers, MoveOffer, MoveOutcome, PutOffer, PutOfferOutcome};
pub use party::{
    AddKey, AddKeyOutcome, ExpireKey, ExpireKeyOutcome, PutApplication, PutApplicationOutcome, PutPartner,
    PutPartnerOutcome, RevokeKey, RevokeKeyOutcome, UseKey,
};
pub use webhook::{
    AddEndpoint, AddEndpointOutcome, ChangeEndpoint, ChangeEndpointOutcome, DeleteEndpoint, DeleteEndpointOutcome,
    EndpointChange, NoteDeliveries,
};

use crate::buyer::{Buyer, Description};
use crate::change::{Cause, Change, OfferKey, Record};
use crate::event::Actor;
use crate::key::KeyHash;
use crate::offer::{Offer, Terms};
use crate::store::{Answer, StoreError};
use crate::view::{StoredBuyer, StoredOffer, View, ViewError};
use crate::{ApplicationId, BuyerId, EndpointId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};

/// When, by whom and in which request a command is given. Made once, when the request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The moment of the command.
    pub at: Timestamp,
    /// The id for the event that the command causes.
    pub event: EventId,
    /// Who gives it.
    pub actor: Actor,
    /// The request that carries it.
    pub operation: OperationId,
}

impl Stamp {
    /// A change of the command.
    const fn record(&self, change: Change) -> Record {
        let Self { at, event, actor, operation } = *self;
        Record { sequence: None, cause: Some(Cause { event, at, actor, operation }), change }
    }

    /// An expiry that the command has found. It happened `at`, and its actor is the clock.
    const fn expiry(&self, at: Timestamp, change: Change) -> Record {
        Self { at, actor: Actor::Clock, ..*self }.record(change)
    }

    /// The stamp of a second change of the command.
    const fn second(self) -> Self {
        Self { event: self.event.sibling(), ..self }
    }
}

/// What was decided about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<T> {
    /// What the caller learns.
    pub outcome: T,
    /// What is kept, in this order, all or nothing.
    pub changes: Vec<Record>,
}

impl<T> Decision<T> {
    /// Nothing changes.
    const fn unchanged(outcome: T) -> Self {
        Self { outcome, changes: Vec::new() }
    }

    /// One thing changes.
    fn with(outcome: T, change: Record) -> Self {
        Self { outcome, changes: vec![change] }
    }
}

/// Why nothing was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecideError {
    /// A look-up has no answer.
    View(ViewError),
    /// The view has not the terms of [`Command::terms`], only the place where they are. The command is given again once
    /// they have been read.
    Unread,
    /// The command contradicts what is stored in a way that no caller can cause.
    Contradiction(&'static str),
}

impl From<ViewError> for DecideError {
    fn from(error: ViewError) -> Self {
        Self::View(error)
    }
}

impl From<DecideError> for StoreError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::View(ViewError::Corrupt) => Self::Corrupt,
            DecideError::View(ViewError::Failed) | DecideError::Unread | DecideError::Contradiction(_) => {
                Self::Unavailable
            }
        }
    }
}

/// The result of a decision.
pub type Decided<T> = Result<Decision<T>, DecideError>;

/// The keys that a command may look at. A store that loads rows loads these first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Partners.
    pub partners: Vec<PartnerId>,
    /// Client ids at the authorization server.
    pub clients: Vec<String>,
    /// Keys, by partner and id.
    pub keys: Vec<(PartnerId, KeyId)>,
    /// Keys, by hash, with their last use.
    pub hashes: Vec<KeyHash>,
    /// Applications.
    pub applications: Vec<ApplicationId>,
    /// Offers of a partner.
    pub offers: Vec<OfferKey>,
    /// Offers of the application's owner, which the command does not know.
    pub owned_offers: Vec<(ApplicationId, OfferId)>,
    /// Buyers of a partner.
    pub buyers: Vec<(PartnerId, BuyerId)>,
    /// Buyers whose ids were just made. A store may assume that they are absent if it refuses to overwrite one that
    /// exists.
    pub new_buyers: Vec<(PartnerId, BuyerId)>,
    /// Endpoints of webhooks, with their progress.
    pub endpoints: Vec<EndpointId>,
}

/// A stored offer that an outcome refers to, with its terms or where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferRef<T> {
    /// The application that it belongs to.
    pub application: ApplicationId,
    /// The offer.
    pub id: OfferId,
    /// What is stored of it.
    pub stored: StoredOffer<T>,
}

/// Turns what a decision refers to into values.
pub trait Values<T, B> {
    /// The offer.
    ///
    /// # Errors
    /// If the terms cannot be read.
    fn offer(&self, offer: OfferRef<T>) -> Answer<Offer>;

    /// The buyer.
    ///
    /// # Errors
    /// If the description cannot be read.
    fn buyer(&self, id: BuyerId, stored: StoredBuyer<B>) -> Answer<Buyer>;
}

/// For views that hold the values themselves.
#[derive(Clone, Copy, Debug)]
pub struct Whole;

impl Values<Terms, Description> for Whole {
    fn offer(&self, OfferRef { application, id, stored }: OfferRef<Terms>) -> Answer<Offer> {
        Ok(stored.offer(application, id))
    }

    fn buyer(&self, id: BuyerId, stored: StoredBuyer<Description>) -> Answer<Buyer> {
        Ok(stored.buyer(id))
    }
}

/// What can be asked of a store. Atomic, and durable when it is answered.
pub trait Command: Clone + Send + Sync + 'static {
    /// What the caller learns.
    type Outcome: Send + 'static;
    /// The outcome as it is decided: terms and descriptions as the view refers to them.
    type Decided<T: Send + 'static, B: Send + 'static>: Send + 'static;

    /// The partner that gives the command; `None` for the operator and for the store itself.
    fn partner(&self) -> Option<PartnerId> {
        None
    }

    /// Adds every key that [`Self::decide`] may look at.
    fn reads(&self, reads: &mut Reads);

    /// The offer whose terms [`Self::decide`] looks at. A store whose view has only the place of terms reads them first
    /// and gives them to the decision as [`Known`](crate::view::Known).
    fn terms(&self) -> Option<(ApplicationId, OfferId)> {
        None
    }

    /// Decides the command.
    ///
    /// # Errors
    /// If a look-up has no answer, or the command contradicts what is stored. Nothing changes then.
    fn decide<V: View>(&self, view: &V) -> Decided<Self::Decided<V::Terms, V::Buyer>>;

    /// Turns the decided outcome into the one that the caller gets.
    ///
    /// # Errors
    /// If a value cannot be read.
    fn outcome<T: Send + 'static, B: Send + 'static>(
        self,
        decided: Self::Decided<T, B>,
        values: &impl Values<T, B>,
    ) -> Answer<Self::Outcome>;
}

/// For commands whose outcome refers to no stored value.
macro_rules! plain_outcome {
    ($outcome:ty) => {
        type Outcome = $outcome;
        type Decided<T: Send + 'static, B: Send + 'static> = $outcome;

        fn outcome<T: Send + 'static, B: Send + 'static>(
            self,
            decided: $outcome,
            _: &impl crate::command::Values<T, B>,
        ) -> crate::store::Answer<$outcome> {
            Ok(decided)
        }
    };
}
use plain_outcome;
