//! Sends one event to one endpoint, and remembers what became of it.

use super::counts::DeliveryCounts;
use super::sender::Sender;
use lendpay_api::{Clock, SecretKeys, WebhookPayload};
use lendpay_domain::webhook::attempt::{ATTEMPTS, TEST, Testing};
use lendpay_domain::webhook::{Attempt, Deliveries, Endpoint, Problem};
use lendpay_domain::{EndpointId, EventId, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// What is sent.
pub struct Message {
    pub payload: WebhookPayload,
    pub event: EventId,
    /// Its type.
    pub kind: &'static str,
    /// Its sequence; `None` for a test.
    pub sequence: Option<u64>,
    /// Which attempt it is, counted from 1.
    pub number: u32,
    /// How long it may take, if that is less than any attempt may.
    pub within: Duration,
}

/// What sends events, whoever asks for it.
#[derive(Clone)]
pub struct Deliverer(Arc<Inner>);

struct Inner {
    sender: Sender,
    keys: Arc<SecretKeys>,
    clock: Arc<dyn Clock>,
    /// Where tests are made: with less priority than everything else.
    threads: Handle,
    attempts: Mutex<HashMap<EndpointId, VecDeque<Attempt>>>,
    changed: mpsc::Sender<EndpointId>,
    counts: DeliveryCounts,
}

impl Deliverer {
    /// What tells `changed` of endpoints that operators change, and makes requests on `threads`.
    pub fn new(
        sender: Sender,
        keys: Arc<SecretKeys>,
        clock: Arc<dyn Clock>,
        threads: Handle,
        changed: mpsc::Sender<EndpointId>,
    ) -> Self {
        let (attempts, counts) = (Mutex::default(), DeliveryCounts::default());
        Self(Arc::new(Inner { sender, keys, clock, threads, attempts, changed, counts }))
    }

    pub fn counts(&self) -> &DeliveryCounts {
        &self.0.counts
    }

    /// Makes an attempt, which is counted; also returns how long the endpoint asks to be left alone.
    pub async fn attempt(&self, endpoint: &Endpoint, message: Message) -> (Attempt, Option<Duration>) {
        let inner = &*self.0;
        let Message { payload, event, kind, sequence, number, within } = message;
        let (at, begin) = (inner.clock.now(), Instant::now());
        let secrets: Option<Vec<_>> =
            endpoint.secrets.valid(at).map(|sealed| inner.keys.open(endpoint.id, sealed)).collect();
        let answer = match secrets {
            Some(secrets) => {
                inner.sender.send(&endpoint.url, payload.headers(at, &secrets), payload.body, at, within).await
            }
            None => Err(Problem::Secret),
        };
        let (result, retry_after) = match answer {
            Ok(answer) if answer.status.is_success() => (Ok(answer.status.as_u16()), None),
            Ok(answer) => (Err(Problem::Status(answer.status.as_u16())), answer.retry_after),
            Err(problem) => (Err(problem), None),
        };
        inner.counts.count(result.err());
        let attempt = Attempt { event, kind, sequence, number, at, duration: begin.elapsed(), result, next_at: None };
        (attempt, retry_after)
    }

    /// Keeps an attempt for [`Deliveries::attempts`].
    pub fn remember(&self, endpoint: EndpointId, attempt: Attempt) {
        let mut all = self.attempts_lock();
        let of_endpoint = all.entry(endpoint).or_default();
        of_endpoint.push_front(attempt);
        of_endpoint.truncate(ATTEMPTS);
    }

    /// Forgets the attempts of endpoints that are not among these.
    pub fn keep_only(&self, endpoints: impl Fn(EndpointId) -> bool) {
        self.attempts_lock().retain(|endpoint, _| endpoints(*endpoint));
    }

    fn attempts_lock(&self) -> MutexGuard<'_, HashMap<EndpointId, VecDeque<Attempt>>> {
        self.0.attempts.lock().expect("nobody panics with it")
    }
}

impl Deliveries for Deliverer {
    fn attempts(&self, endpoint: EndpointId) -> Vec<Attempt> {
        self.attempts_lock().get(&endpoint).into_iter().flatten().copied().collect()
    }

    fn test(&self, endpoint: Endpoint, event: EventId, at: Timestamp, within: Duration) -> Testing {
        let this = self.clone();
        let made = self.0.threads.spawn(async move {
            let payload = WebhookPayload::test(endpoint.id, event, at);
            let message = Message { payload, event, kind: TEST, sequence: None, number: 1, within };
            let (attempt, _) = this.attempt(&endpoint, message).await;
            this.remember(endpoint.id, attempt);
            attempt
        });
        Box::pin(async move { made.await.expect("requests are ended by nobody, and do not panic") })
    }

    fn changed(&self, endpoint: EndpointId) {
        // When there are so many, all endpoints are looked at soon.
        let _ = self.0.changed.try_send(endpoint);
    }
}
