//! The ports that stores implement.
//!
//! Each command is atomic, and durable when its future is ready: what was answered survives kill -9 and a power cut. A
//! store holds no rule: [`crate::command`] decides, [`crate::import`] judges what is imported. There is no get, put or
//! transaction here, so that no caller can build half a command.

use crate::buyer::Buyer;
use crate::calls::Call;
use crate::change::Record;
use crate::command::{Command, Stamp};
use crate::event::EventPage;
use crate::key::{KeyHash, KeyInUse, KeyRecord};
use crate::offer::Offer;
use crate::page::{Page, Window};
use crate::partner::Partner;
use crate::query::{
    Application, BuyerCursor, DueCursor, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, Scope,
};
use crate::webhook::{Endpoint, FindEndpoints, Webhook};
use crate::{
    ApplicationId, BuyerId, EndpointId, HistoryId, HolderId, KeyId, OfferId, OperationId, PartnerId, Timestamp,
};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// Why a store has no answer, as far as a caller must know. The store logs the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Too many commands wait; nothing was done. Try again later.
    Overloaded,
    /// The store does not work; nothing was done.
    Unavailable,
    /// The store failed while it carried out the command, which may have been done. Safe to repeat.
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

/// A store's answer.
pub type Answer<T> = Result<T, StoreError>;

/// Carries out commands.
pub trait Commands: Send + Sync + 'static {
    /// Decides a command, keeps its changes, and answers when they are durable.
    fn run<C: Command>(&self, command: C) -> impl Future<Output = Answer<C::Outcome>> + Send;

    /// Runs [`ExpireOffers`](crate::command::ExpireOffers) for up to about `most` offers whose expiry has come by the
    /// moment
    /// `now`: for the first in the order of their expiry, after a place in it. Returns after where to go on, if there may be more. A
    /// store finds what is due by an index, within a tenth of a second of the expiry, and may look at an offer again.
    /// Processes that share a store share the work. `stamp` makes stamps for the moment.
    fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> impl Future<Output = Answer<Option<DueCursor>>> + Send;

    /// Notes that a key was used, to the hour. Never waits and never fails: the note is for people, and may be lost in
    /// a crash.
    fn note_use(&self, key: KeyHash, at: Timestamp);

    /// Whether the store carries out commands. Changes nothing.
    fn check(&self) -> impl Future<Output = Answer<()>> + Send;
}

/// Answers questions. What is read is durable.
pub trait Queries: Send + Sync + 'static {
    /// The key with this hash, valid or not.
    fn find_key(&self, hash: KeyHash) -> impl Future<Output = Answer<Option<KeyRecord>>> + Send;

    /// A partner's keys, valid or not, in the order of their ids; `None` if there is no such partner.
    fn keys_of(
        &self,
        partner: PartnerId,
        window: Window<KeyId>,
    ) -> impl Future<Output = Answer<Option<Page<KeyInUse, KeyId>>>> + Send;

    /// The key with this id, valid or not, of whichever partner. Keys of two partners have the same id only if an
    /// import says so; then it is that of the partner whose id comes first.
    fn key_with_id(&self, id: KeyId) -> impl Future<Output = Answer<Option<KeyInUse>>> + Send;

    /// The partner with this client id at the authorization server. Asked for each request with a token: a store does
    /// not look through all partners for it.
    fn find_client(&self, client: &str) -> impl Future<Output = Answer<Option<PartnerId>>> + Send;

    /// A partner.
    fn find_partner(&self, id: PartnerId) -> impl Future<Output = Answer<Option<Partner>>> + Send;

    /// Partners, in the order of their ids.
    fn find_partners(&self, query: FindPartners) -> impl Future<Output = Answer<Page<Partner, PartnerId>>> + Send;

    /// An application.
    fn find_application(&self, id: ApplicationId) -> impl Future<Output = Answer<Option<Application>>> + Send;

    /// Applications, in the order of their ids.
    fn find_applications(
        &self,
        query: FindApplications,
    ) -> impl Future<Output = Answer<Page<Application, ApplicationId>>> + Send;

    /// An offer, as seen at the moment `now`.
    fn find_offer(
        &self,
        application: ApplicationId,
        offer: OfferId,
        now: Timestamp,
    ) -> impl Future<Output = Answer<Option<Offer>>> + Send;

    /// Offers, in the order of their applications, then of their own ids, as seen at the moment of the question.
    fn find_offers(&self, query: FindOffers) -> impl Future<Output = Answer<Page<Offer, OfferCursor>>> + Send;

    /// A buyer: a partner's, or one of anybody's, which costs a look-up for each partner. Buyers of two partners
    /// have the same id only if an import says so; then it is that of the partner whose id comes first.
    fn find_buyer(&self, scope: Scope, id: BuyerId) -> impl Future<Output = Answer<Option<Buyer>>> + Send;

    /// Buyers, in the order of their partners, then of their own ids.
    fn find_buyers(&self, query: FindBuyers) -> impl Future<Output = Answer<Page<Buyer, BuyerCursor>>> + Send;

    /// Events in order, with the history and the end that they belong to. A reader that passes the last sequence it saw
    /// misses none, as long as the history is the same.
    fn find_events(&self, query: FindEvents) -> impl Future<Output = Answer<EventPage>> + Send;

    /// The same for a reader who wants the events of these partners, which are in the order of their ids: events of
    /// others, and of nobody, may be left out. A store leaves them out if that is less work.
    fn find_events_for(
        &self,
        after: u64,
        limit: usize,
        partners: Arc<[PartnerId]>,
    ) -> impl Future<Output = Answer<EventPage>> + Send {
        drop(partners);
        self.find_events(FindEvents::all(after, limit))
    }

    /// Waits until a change with a greater sequence than `after` can be read; may be ready earlier. All who wait share
    /// the looks that it takes, however many they are. `after` is [`EventPage::seen`]: changes that are no events count
    /// too.
    fn wait_for_changes(&self, after: u64) -> impl Future<Output = Answer<()>> + Send;
}

/// An export that is under way: everything that was there at one moment, in an order in which each record refers only
/// to what came before it.
pub trait Export: Send + 'static {
    /// The history that the sequences of the records belong to.
    fn history(&self) -> HistoryId;

    /// The next records; none at the end.
    fn next(&mut self) -> impl Future<Output = Answer<Vec<Record>>> + Send;
}

/// Exports everything.
pub trait Exports: Send + Sync + 'static {
    /// An export that is under way.
    type Export: Export;

    /// Begins an export of everything that is durable now. Commands that run at the same time do not change it.
    fn export(&self) -> impl Future<Output = Answer<Self::Export>> + Send;
}

/// Keeps calls that changed nothing, for a while (see [`crate::calls`]).
pub trait Calls: Send + Sync + 'static {
    /// Takes a call to be kept. Never waits and never fails: one that cannot be kept is lost, and counted. In a crash
    /// those of the last second may be lost.
    fn note_call(&self, call: Call);

    /// The calls of an operation that are kept at the moment `now`, in the order of their times; no more than the last
    /// [`FOUND`](crate::calls::FOUND). Those that this process has noted before are among them.
    fn calls_of(&self, operation: OperationId, now: Timestamp) -> impl Future<Output = Answer<Vec<Call>>> + Send;
}

/// Endpoints of webhooks, and which process serves which. They are changed by commands.
pub trait Webhooks: Send + Sync + 'static {
    /// Endpoints, in the order of their ids.
    fn find_endpoints(&self, query: FindEndpoints) -> impl Future<Output = Answer<Page<Endpoint, EndpointId>>> + Send;

    /// An endpoint, with the progress of its delivery.
    fn find_webhook(&self, id: EndpointId) -> impl Future<Output = Answer<Option<Webhook>>> + Send;

    /// Of some endpoints, which this process serves from now on for [`HELD`](crate::webhook::HELD): those that it
    /// serves already, and those that nobody does. A store for one process gives it all.
    fn hold(
        &self,
        holder: HolderId,
        endpoints: Vec<EndpointId>,
    ) -> impl Future<Output = Answer<Vec<EndpointId>>> + Send;

    /// Others may serve what this process has served, at once.
    fn release(&self, holder: HolderId) -> impl Future<Output = Answer<()>> + Send;
}

/// A whole store.
pub trait Store: Commands + Queries + Exports + Calls + Webhooks {}

impl<S: Commands + Queries + Exports + Calls + Webhooks> Store for S {}
