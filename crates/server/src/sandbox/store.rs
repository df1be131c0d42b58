//! The store of a sandbox: an embedded store that can be thrown away and made again while the service runs.

use super::clock::SandboxClock;
use super::directory::{Directory, State};
use super::seed;
use crate::settings::span;
use crate::store::Kept;
use crate::system_clock::SystemClock;
use futures_util::future::BoxFuture;
use lendpay_api::sandbox::Sandbox;
use lendpay_api::{Clock as _, Failure};
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
use lendpay_domain::store::{Answer, Calls, Commands, Exports, Queries, Webhooks};
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Webhook};
use lendpay_domain::{
    ApplicationId, BuyerId, EndpointId, HolderId, KeyId, OfferId, OperationId, PartnerId, StoreError, Timestamp,
};
use lendpay_storage::{EmbeddedExport, EmbeddedOptions, EmbeddedStore, StoreStats};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, RwLock, RwLockReadGuard};

/// How far the clock can be moved in all: times must stay years of four digits.
const FARTHEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The store of a sandbox. Clones are the same.
#[derive(Clone)]
pub struct SandboxStore(Arc<Inner>);

struct Inner {
    /// `None` only while the store is made again, when that has failed, and at the end.
    open: RwLock<Option<EmbeddedStore>>,
    /// Told when `open` is another store.
    replaced: Notify,
    directory: Directory,
    options: EmbeddedOptions,
    clock: Arc<SandboxClock>,
}

impl fmt::Debug for SandboxStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SandboxStore").field(&self.0.directory).finish()
    }
}

impl SandboxStore {
    /// Opens the store in a directory, or makes it. The clock is set to what it was.
    pub async fn open(
        directory: Directory,
        options: EmbeddedOptions,
        clock: Arc<SandboxClock>,
    ) -> Result<Self, String> {
        let state = directory.state()?;
        let (open, replaced) = (RwLock::new(None), Notify::new());
        let store = Self(Arc::new(Inner { open, replaced, directory, options, clock }));
        if state.complete {
            *store.0.open.write().await = Some(store.0.open_files()?);
            store.0.clock.set_ahead(Duration::from_secs(state.ahead_seconds));
        } else {
            store.0.begin_again().await?;
        }
        Ok(store)
    }

    /// The store that is open now. It stays open until this is dropped.
    async fn now_open(&self) -> Answer<RwLockReadGuard<'_, EmbeddedStore>> {
        let open = self.0.open.read().await;
        RwLockReadGuard::try_map(open, Option::as_ref).map_err(|_| StoreError::Unavailable)
    }
}

impl Inner {
    fn open_files(&self) -> Result<EmbeddedStore, String> {
        EmbeddedStore::open(self.directory.path(), self.options).map_err(|error| error.to_string())
    }

    /// Throws everything away, and fills a new store. Requests wait until that is done.
    async fn begin_again(&self) -> Result<(), String> {
        let mut open = self.open.write().await;
        if let Some(old) = open.take() {
            // What it still had to do is thrown away as well.
            let _ = old.close().await;
        }
        let unusable = |error| format!("the sandbox's directory cannot be used: {error}");
        self.directory.clear().map_err(unusable)?;
        self.clock.set_ahead(Duration::ZERO);
        let store = self.open_files()?;
        let filled = seed::fill(&store, SystemClock.now()).await;
        filled.map_err(|error| format!("the sandbox's contents cannot be stored: {error}"))?;
        self.directory.keep(State { complete: true, ahead_seconds: 0 }).map_err(unusable)?;
        *open = Some(store);
        self.replaced.notify_one();
        Ok(())
    }

    /// Moves the clock on, and keeps that.
    async fn move_clock(&self, by: &str) -> Result<(), Failure> {
        let bad = |problem| Failure::BadParameters(vec![format!("by: {problem}")]);
        let by = span(by).map_err(bad)?;
        // Not while the store is made again.
        let open = self.open.write().await;
        if open.is_none() {
            return Err(StoreError::Unavailable.into());
        }
        let ahead = self.clock.ahead() + by;
        if ahead > FARTHEST {
            return Err(bad("the clock cannot be more than 100 years ahead"));
        }
        self.directory.keep(State { complete: true, ahead_seconds: ahead.as_secs() }).map_err(|error| {
            tracing::error!(%error, "the sandbox's clock cannot be kept");
            StoreError::Unavailable
        })?;
        self.clock.set_ahead(ahead);
        Ok(())
    }
}

impl Sandbox for SandboxStore {
    fn move_clock<'a>(&'a self, by: &'a str) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.0.move_clock(by))
    }

    fn reset(&self) -> BoxFuture<'_, Result<(), Failure>> {
        let inner = Arc::clone(&self.0);
        // To its end, though the client goes away.
        let work = tokio::spawn(async move { inner.begin_again().await });
        Box::pin(async move {
            work.await.map_err(|_panic| Failure::Internal)?.map_err(|problem| {
                tracing::error!(problem, "the sandbox cannot be reset");
                StoreError::Unavailable.into()
            })
        })
    }
}

impl Kept for SandboxStore {
    async fn failure(&self) -> String {
        loop {
            // A store that is thrown away never fails.
            let failure = self.0.open.read().await.as_ref().map(EmbeddedStore::failure);
            let failure = async {
                match failure {
                    Some(failure) => failure.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                reason = failure => return reason,
                () = self.0.replaced.notified() => {}
            }
        }
    }

    fn failure_reason(&self) -> Option<String> {
        self.0.open.try_read().ok()?.as_ref()?.problem()
    }

    fn stats(&self) -> StoreStats {
        let open = self.0.open.try_read().ok();
        open.and_then(|open| open.as_ref().map(EmbeddedStore::stats)).unwrap_or_default()
    }

    async fn close(&self) -> Answer<()> {
        match self.0.open.write().await.take() {
            Some(store) => store.close().await,
            None => Ok(()),
        }
    }
}

impl Commands for SandboxStore {
    async fn run<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        self.now_open().await?.run(command).await
    }

    async fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        let open = self.now_open().await?;
        // A time that is still to come was told before the clock was set back: by it nothing expires in the new store.
        if now > self.0.clock.now() {
            return Ok(None);
        }
        open.expire(after, now, most, stamp).await
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        if let Ok(open) = self.0.open.try_read()
            && let Some(store) = &*open
        {
            store.note_use(key, at);
        }
    }

    async fn check(&self) -> Answer<()> {
        self.now_open().await?.check().await
    }
}

macro_rules! asked_of_the_open_store {
    ($($name:ident($($argument:ident: $kind:ty),+) -> $answer:ty;)+) => {$(
        async fn $name(&self, $($argument: $kind),+) -> Answer<$answer> {
            self.now_open().await?.$name($($argument),+).await
        }
    )+};
}

impl Queries for SandboxStore {
    asked_of_the_open_store! {
        find_key(hash: KeyHash) -> Option<KeyRecord>;
        keys_of(partner: PartnerId, window: Window<KeyId>) -> Option<Page<KeyInUse, KeyId>>;
        key_with_id(id: KeyId) -> Option<KeyInUse>;
        find_client(client: &str) -> Option<PartnerId>;
        find_partner(id: PartnerId) -> Option<Partner>;
        find_partners(query: FindPartners) -> Page<Partner, PartnerId>;
        find_application(id: ApplicationId) -> Option<Application>;
        find_applications(query: FindApplications) -> Page<Application, ApplicationId>;
        find_offer(application: ApplicationId, offer: OfferId, now: Timestamp) -> Option<Offer>;
        find_offers(query: FindOffers) -> Page<Offer, OfferCursor>;
        find_buyer(scope: Scope, id: BuyerId) -> Option<Buyer>;
        find_buyers(query: FindBuyers) -> Page<Buyer, BuyerCursor>;
        find_events(query: FindEvents) -> EventPage;
    }

    async fn wait_for_changes(&self, after: u64) -> Answer<()> {
        // Without keeping the store open: it can be made again meanwhile, and whoever waits looks again then.
        let changes = self.now_open().await?.changes_after(after);
        changes.await
    }
}

impl Webhooks for SandboxStore {
    asked_of_the_open_store! {
        find_endpoints(query: FindEndpoints) -> Page<Endpoint, EndpointId>;
        find_webhook(id: EndpointId) -> Option<Webhook>;
        hold(holder: HolderId, endpoints: Vec<EndpointId>) -> Vec<EndpointId>;
        release(holder: HolderId) -> ();
    }
}

impl Calls for SandboxStore {
    fn note_call(&self, call: Call) {
        if let Ok(open) = self.0.open.try_read()
            && let Some(store) = &*open
        {
            store.note_call(call);
        }
    }

    async fn calls_of(&self, operation: OperationId, now: Timestamp) -> Answer<Vec<Call>> {
        self.now_open().await?.calls_of(operation, now).await
    }
}

impl Exports for SandboxStore {
    type Export = EmbeddedExport;

    async fn export(&self) -> Answer<EmbeddedExport> {
        self.now_open().await?.export().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_api::uuid;
    use lendpay_domain::command::ExpireOffers;
    use lendpay_domain::event::Actor;

    #[tokio::test]
    async fn a_time_of_before_a_reset_expires_nothing_after_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let directory = Directory::of_sandbox(folder.path()).expect("a sandbox's");
        let clock = Arc::new(SandboxClock::default());
        let options = EmbeddedOptions::default();
        let store = SandboxStore::open(directory, options, Arc::clone(&clock)).await.expect("it opens");
        store.move_clock("31d").await.expect("the clock is moved");
        let late = clock.now();
        let stamp = || Stamp {
            at: late,
            event: lendpay_api::event_id(),
            actor: Actor::Clock,
            operation: OperationId::from_bytes(uuid().into_bytes()),
        };
        let events = || store.stats().events.iter().sum::<u64>();
        store.reset().await.expect("it is made again");
        let before = events();
        store.expire(None, late, ExpireOffers::TOGETHER, stamp).await.expect("the store works");
        assert_eq!(events(), before, "after the reset it is not so late");
        store.move_clock("31d").await.expect("the clock is moved");
        store.expire(None, late, ExpireOffers::TOGETHER, stamp).await.expect("the store works");
        assert!(events() > before, "offers of a sandbox expire");
    }
}
