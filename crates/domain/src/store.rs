//! The port that stores implement: whole business commands.
//!
//! Each command is atomic, and durable when its future is ready: what was answered survives kill -9 and a power cut. A store
//! decides by the functions of this crate and holds no rule of its own. There is no get, put or transaction here, so that
//! no caller can build half a command.

use crate::buyer::{Buyer, NewBuyer};
use crate::event::{Actor, Event};
use crate::idempotency::{Fingerprint, IdempotencyKey};
use crate::key::{KeyHash, KeyInUse, KeyRecord};
use crate::life_cycle::{Action, IllegalMove};
use crate::offer::{Offer, Status, Terms};
use crate::page::{Page, Window};
use crate::partner::Partner;
use crate::record::Export;
use crate::text::Name;
use crate::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use std::fmt;
use std::future::Future;

/// What a caller must tell apart when a store fails. The cause is logged by the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Too much is queued; nothing was done. Try again later.
    Overloaded,
    /// The store does not work; nothing was done.
    Unavailable,
    /// The store failed in the middle: the command may have been done. Safe to repeat.
    OutcomeUnknown,
    /// What was read is not what was written.
    Corrupt,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "the store has too much to do",
            Self::Unavailable => "the store does not work",
            Self::OutcomeUnknown => "the store failed and the outcome is unknown",
            Self::Corrupt => "the store holds a damaged record",
        })
    }
}

impl std::error::Error for StoreError {}

/// When, by whom and in which request a command is given. Taken once, at the edge.
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

/// A partner accepts an offer.
#[derive(Clone, Debug)]
pub struct AcceptOffer {
    /// The partner; the offer must be its own.
    pub partner: PartnerId,
    /// The application that the offer belongs to.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// What became of an accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// The offer is accepted, now or already.
    Accepted(Offer),
    /// The life cycle does not allow it.
    Refused(IllegalMove),
    /// The partner has no such offer.
    NotFound,
}

/// A partner registers a buyer.
#[derive(Clone, Debug)]
pub struct CreateBuyer {
    /// The partner.
    pub partner: PartnerId,
    /// The buyer's id.
    pub id: BuyerId,
    /// Set when the partner may repeat the command: the digest of the payload.
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

/// What became of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateBuyerOutcome {
    /// The buyer was created now.
    Created(Buyer),
    /// The same command created it before.
    Replayed(Buyer),
    /// The key was used before, with another payload.
    KeyReused,
}

/// The operator moves an offer on.
#[derive(Clone, Debug)]
pub struct MoveOffer {
    /// The application that the offer belongs to.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
    /// What to do.
    pub action: Action,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// What became of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The offer as it is now.
    Done(Offer),
    /// The life cycle does not allow it.
    Illegal(IllegalMove),
    /// There is no such offer.
    NotFound,
}

/// The operator creates an offer or replaces its terms.
#[derive(Clone, Debug)]
pub struct PutOffer {
    /// The application that the offer answers.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
    /// What is offered.
    pub terms: Terms,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOfferOutcome {
    /// A new offer, Offered.
    Created(Offer),
    /// The offer has new terms.
    Replaced(Offer),
    /// The offer is no longer Offered; its terms are fixed.
    Fixed(Status),
    /// There is no such application.
    NoApplication,
}

/// The operator creates or renames a partner.
#[derive(Clone, Debug)]
pub struct PutPartner {
    /// The partner.
    pub id: PartnerId,
    /// Its name.
    pub name: Name,
    /// Its client id at the authorization server.
    pub oauth_client_id: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutPartnerOutcome {
    /// A new partner.
    Created(Partner),
    /// The partner was there; it has these values now.
    Updated(Partner),
    /// Another partner has this client id.
    ClientTaken,
}

/// The operator adds a key.
#[derive(Clone, Debug)]
pub struct AddKey {
    /// The key, its partner included.
    pub key: KeyRecord,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddKeyOutcome {
    /// The key works.
    Added,
    /// There is no such partner.
    NoPartner,
}

/// The operator revokes a key.
#[derive(Clone, Copy, Debug)]
pub struct RevokeKey {
    /// The partner.
    pub partner: PartnerId,
    /// Its key.
    pub key: KeyId,
    /// When.
    pub at: Timestamp,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevokeKeyOutcome {
    /// The key is revoked, now or already.
    Revoked,
    /// The partner has no such key.
    NotFound,
}

/// The operator gives an application to a partner.
#[derive(Clone, Copy, Debug)]
pub struct PutApplication {
    /// The application.
    pub id: ApplicationId,
    /// Its owner.
    pub partner: PartnerId,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutApplicationOutcome {
    /// A new application.
    Created,
    /// It was there and had this owner.
    Unchanged,
    /// It has another owner; applications do not move.
    OwnedByAnother,
    /// There is no such partner.
    NoPartner,
}

/// A store's answer.
pub type Answer<T> = Result<T, StoreError>;

/// Which buyers are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindBuyers {
    /// Only those with exactly this number.
    pub registration_number: Option<String>,
    /// Which part of the list.
    pub window: Window<BuyerId>,
}

/// Keeps everything. See the [module](self) for what every implementation promises.
pub trait Store: Send + Sync + 'static {
    /// An export that is under way.
    type Export: Export;

    /// Accepts an offer of a partner.
    fn accept_offer(&self, command: AcceptOffer) -> impl Future<Output = Answer<AcceptOutcome>> + Send;

    /// Registers a buyer of a partner.
    fn create_buyer(&self, command: CreateBuyer) -> impl Future<Output = Answer<CreateBuyerOutcome>> + Send;

    /// Moves an offer on.
    fn move_offer(&self, command: MoveOffer) -> impl Future<Output = Answer<MoveOutcome>> + Send;

    /// Creates an offer or replaces its terms.
    fn put_offer(&self, command: PutOffer) -> impl Future<Output = Answer<PutOfferOutcome>> + Send;

    /// Creates or renames a partner.
    fn put_partner(&self, command: PutPartner) -> impl Future<Output = Answer<PutPartnerOutcome>> + Send;

    /// Adds a key.
    fn add_key(&self, command: AddKey) -> impl Future<Output = Answer<AddKeyOutcome>> + Send;

    /// Revokes a key; it is refused from the next request on.
    fn revoke_key(&self, command: RevokeKey) -> impl Future<Output = Answer<RevokeKeyOutcome>> + Send;

    /// Gives an application to a partner.
    fn put_application(&self, command: PutApplication) -> impl Future<Output = Answer<PutApplicationOutcome>> + Send;

    /// The key with this hash, valid or not.
    fn find_key(&self, hash: KeyHash) -> impl Future<Output = Answer<Option<KeyRecord>>> + Send;

    /// Notes that a key was used, to the minute. Never waits and never fails: the note is for people, may be lost in a crash,
    /// and reaches the disk within the minute.
    fn note_use(&self, key: KeyHash, at: Timestamp);

    /// A partner's keys, valid or not, in the order of their ids; `None` if there is no such partner.
    fn keys_of(
        &self,
        partner: PartnerId,
        window: Window<KeyId>,
    ) -> impl Future<Output = Answer<Option<Page<KeyInUse, KeyId>>>> + Send;

    /// The partner with this client id at the authorization server. Asked for each request with a token: a store does not
    /// look through all partners for it.
    fn find_client(&self, client: &str) -> impl Future<Output = Answer<Option<PartnerId>>> + Send;

    /// An offer, as seen at the moment `now`.
    fn find_offer(
        &self,
        application: ApplicationId,
        offer: OfferId,
        now: Timestamp,
    ) -> impl Future<Output = Answer<Option<Offer>>> + Send;

    /// An application's offers in the order of their ids, as seen at the moment `now`; `None` if there is no such application.
    fn offers_of(
        &self,
        application: ApplicationId,
        window: Window<OfferId>,
        now: Timestamp,
    ) -> impl Future<Output = Answer<Option<Page<Offer, OfferId>>>> + Send;

    /// Buyers, in the order of their ids.
    fn find_buyers(&self, query: FindBuyers) -> impl Future<Output = Answer<Page<Buyer, BuyerId>>> + Send;

    /// A buyer.
    fn find_buyer(&self, id: BuyerId) -> impl Future<Output = Answer<Option<Buyer>>> + Send;

    /// Up to `limit` events with a sequence greater than `after`, in order. A reader that passes the last sequence it
    /// saw misses none.
    fn events(&self, after: u64, limit: usize) -> impl Future<Output = Answer<Vec<Event>>> + Send;

    /// Begins an export of everything that is durable now. It goes on beside other commands, and sees none of what they do.
    fn export(&self) -> impl Future<Output = Answer<Self::Export>> + Send;

    /// Whether the store takes commands: asks whoever carries them out, and changes nothing.
    fn check(&self) -> impl Future<Output = Answer<()>> + Send;
}
