//! What delivery asks of the store. While that does not work, it waits and asks again.

use lendpay_domain::command::{ChangeEndpoint, NoteDeliveries};
use lendpay_domain::event::{Event, EventPage};
use lendpay_domain::page::Window;
use lendpay_domain::query::FindEvents;
use lendpay_domain::store::Answer;
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Noted, State, Webhook};
use lendpay_domain::{EndpointId, HolderId, PartnerId, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

/// How long to wait before asking again.
const PAUSE: Duration = Duration::from_secs(1);

/// How many events a read may give.
pub const EVENTS: usize = 500;

/// How many endpoints a read may give.
const ENDPOINTS: usize = 200;

/// How long new events are left to become more before they are read. So many fewer reads disturb commits.
const GATHER: Duration = Duration::from_millis(25);

/// All endpoints, and which of them this process may serve.
pub struct Looked {
    pub endpoints: Vec<Endpoint>,
    pub held: Vec<EndpointId>,
    /// When the question began that was answered by `held`.
    pub began: Instant,
}

/// The store, and where it is asked: with the priority of everything else, since commits wait for what it holds
/// meanwhile.
pub struct Asked<S> {
    pub store: Arc<S>,
    pub on: Handle,
}

impl<S> Clone for Asked<S> {
    fn clone(&self) -> Self {
        Self { store: Arc::clone(&self.store), on: self.on.clone() }
    }
}

impl<S: Store> Asked<S> {
    async fn once<T: Send + 'static>(&self, ask: impl Future<Output = Answer<T>> + Send + 'static) -> Answer<T> {
        self.on.spawn(ask).await.expect("what is asked is ended by nobody, and does not panic")
    }

    async fn until_answered<T, F>(&self, mut ask: impl FnMut(Arc<S>) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        loop {
            match self.once(ask(Arc::clone(&self.store))).await {
                Ok(answer) => return answer,
                Err(error) => tracing::debug!(%error, "deliveries of webhooks wait for the store"),
            }
            sleep(PAUSE).await;
        }
    }

    /// A part of the log.
    pub async fn events(&self, query: FindEvents) -> EventPage {
        self.until_answered(|store| async move { store.find_events(query).await }).await
    }

    /// The part of the log after a sequence; events of partners that are not wanted may be missing.
    pub async fn events_for(&self, after: u64, wanted: Option<Arc<[PartnerId]>>) -> EventPage {
        let Some(wanted) = wanted else { return self.events(FindEvents::all(after, EVENTS)).await };
        let find = |store: Arc<S>| {
            let wanted = Arc::clone(&wanted);
            async move { store.find_events_for(after, EVENTS, wanted).await }
        };
        self.until_answered(find).await
    }

    /// Waits until there is something after a sequence, and leaves it a moment to become more.
    pub async fn wait(&self, after: u64) {
        self.until_answered(|store| async move { store.wait_for_changes(after).await }).await;
        sleep(GATHER).await;
    }

    /// An event that was there before.
    pub async fn event(&self, sequence: u64) -> Arc<Event> {
        loop {
            let page = self.events(FindEvents::all(sequence - 1, 1)).await;
            match page.events.into_iter().next().filter(|event| event.sequence == sequence) {
                Some(event) => return Arc::new(event),
                None => tracing::error!(sequence, "an event that is to be sent is not in the log"),
            }
            sleep(PAUSE).await;
        }
    }

    /// An endpoint, with its progress.
    pub async fn webhook(&self, id: EndpointId) -> Option<Webhook> {
        self.until_answered(|store| async move { store.find_webhook(id).await }).await
    }

    /// All endpoints; asks to serve those that are active.
    pub async fn look(&self, holder: HolderId) -> Looked {
        self.until_answered(|store| async move {
            let (mut endpoints, mut after) = (Vec::new(), None);
            loop {
                let window = Window { after, limit: ENDPOINTS };
                let page = store.find_endpoints(FindEndpoints { owner: None, window }).await?;
                endpoints.extend(page.items);
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            let active = |endpoint: &&Endpoint| endpoint.state() == State::Active;
            let active: Vec<_> = endpoints.iter().filter(active).map(|endpoint| endpoint.id).collect();
            let began = Instant::now();
            let held = if active.is_empty() { active } else { store.hold(holder, active).await? };
            Ok(Looked { endpoints, held, began })
        })
        .await
    }

    /// Keeps what was noted; the endpoints for which it was outdated.
    pub async fn save(&self, noted: Vec<Noted>) -> Vec<EndpointId> {
        let mut outdated = Vec::new();
        for part in Noted::parts(noted) {
            let note = |store: Arc<S>| {
                let part = part.clone();
                async move { store.run(NoteDeliveries(part)).await }
            };
            outdated.extend(self.until_answered(note).await);
        }
        outdated
    }

    /// Lets others serve at once what this process has held.
    pub async fn release(&self, holder: HolderId) {
        let store = Arc::clone(&self.store);
        // Others wait for what is not released for as long as it is held.
        let _ = self.once(async move { store.release(holder).await }).await;
    }

    /// Changes an endpoint.
    pub async fn change(&self, change: ChangeEndpoint) {
        let run = |store: Arc<S>| {
            let change = change.clone();
            async move { store.run(change).await }
        };
        self.until_answered(run).await;
    }
}
