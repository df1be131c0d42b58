//! A store that does as it is told until it is told to fail.

use lendpay_domain::buyer::Buyer;
use lendpay_domain::calls::Call;
use lendpay_domain::command::{Command, Stamp};
use lendpay_domain::event::EventPage;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, DueCursor, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, Scope,
};
use lendpay_domain::store::{Answer, Calls, Commands, Queries};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, OperationId, PartnerId, StoreError, Timestamp};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What requests ask of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To look up who has a key.
    FindKey,
    /// To carry out a command.
    Command,
    /// To find what somebody reads.
    Find,
}

impl Step {
    /// What a request that changes something asks of a store.
    pub const OF_CHANGES: [Self; 2] = [Self::FindKey, Self::Command];
}

/// How a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and the error is given.
    Error(StoreError),
    /// It is done, and `OutcomeUnknown` is given all the same.
    DoneButUnknown,
    /// It panics; the message holds what nobody may see.
    Panic,
    /// It never answers.
    Never,
}

/// What a panic says here; it must not be seen from outside.
pub const PANIC: &str = "the rigged store panicked at src/secret.rs:1";

pub struct Rigged<S> {
    pub inner: S,
    /// How often events were read.
    pub looks: AtomicUsize,
    fault: Mutex<Option<(Step, Fault)>>,
}

impl<S> Rigged<S> {
    pub fn new(inner: S) -> Self {
        Self { inner, looks: AtomicUsize::new(0), fault: Mutex::new(None) }
    }

    /// From now on `step` fails; with `None` nothing does.
    pub fn rig(&self, fault: Option<(Step, Fault)>) {
        *self.fault.lock().expect("not poisoned") = fault;
    }

    /// The last sequence that the store has given.
    pub async fn inner_end(&self) -> u64
    where
        S: Queries,
    {
        self.inner.find_events(FindEvents::all(0, 1)).await.expect("the store works").last
    }

    async fn step<T>(&self, step: Step, work: impl Future<Output = Answer<T>>) -> Answer<T> {
        let fault = *self.fault.lock().expect("not poisoned");
        match fault.filter(|(at, _)| *at == step).map(|(_, fault)| fault) {
            None => work.await,
            Some(Fault::Error(error)) => Err(error),
            Some(Fault::DoneButUnknown) => {
                work.await.expect("the store itself works");
                Err(StoreError::OutcomeUnknown)
            }
            // Without the hook, whose backtrace would fill the output of a test that goes well.
            Some(Fault::Panic) => std::panic::resume_unwind(Box::new(PANIC)),
            Some(Fault::Never) => std::future::pending().await,
        }
    }
}

impl<S: Commands> Commands for Rigged<S> {
    async fn run<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        self.step(Step::Command, self.inner.run(command)).await
    }
    async fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        self.inner.expire(after, now, most, stamp).await
    }
    fn note_use(&self, key: KeyHash, at: Timestamp) {
        self.inner.note_use(key, at);
    }
    async fn check(&self) -> Answer<()> {
        self.inner.check().await
    }
}

impl<S: Queries> Queries for Rigged<S> {
    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        self.step(Step::FindKey, self.inner.find_key(hash)).await
    }
    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        self.inner.keys_of(partner, window).await
    }
    async fn key_with_id(&self, id: KeyId) -> Answer<Option<KeyInUse>> {
        self.inner.key_with_id(id).await
    }
    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        self.inner.find_client(client).await
    }
    async fn find_partner(&self, id: PartnerId) -> Answer<Option<Partner>> {
        self.inner.find_partner(id).await
    }
    async fn find_partners(&self, query: FindPartners) -> Answer<Page<Partner, PartnerId>> {
        self.inner.find_partners(query).await
    }
    async fn find_application(&self, id: ApplicationId) -> Answer<Option<Application>> {
        self.step(Step::Find, self.inner.find_application(id)).await
    }
    async fn find_applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        self.step(Step::Find, self.inner.find_applications(query)).await
    }
    async fn find_offer(&self, application: ApplicationId, offer: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        self.step(Step::Find, self.inner.find_offer(application, offer, now)).await
    }
    async fn find_offers(&self, query: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        self.step(Step::Find, self.inner.find_offers(query)).await
    }
    async fn find_buyer(&self, scope: Scope, id: BuyerId) -> Answer<Option<Buyer>> {
        self.step(Step::Find, self.inner.find_buyer(scope, id)).await
    }
    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        self.step(Step::Find, self.inner.find_buyers(query)).await
    }
    async fn find_events(&self, query: FindEvents) -> Answer<EventPage> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.step(Step::Find, self.inner.find_events(query)).await
    }
    async fn wait_for_changes(&self, after: u64) -> Answer<()> {
        self.inner.wait_for_changes(after).await
    }
}

impl<S: Calls> Calls for Rigged<S> {
    fn note_call(&self, call: Call) {
        self.inner.note_call(call);
    }
    async fn calls_of(&self, operation: OperationId, now: Timestamp) -> Answer<Vec<Call>> {
        self.inner.calls_of(operation, now).await
    }
}
