//! Sends webhooks (contract 2.15): the side of the network. What is sent when is decided by
//! [`lendpay_domain::webhook`].
//!
//! | module | subject |
//! |---|---|
//! | `addresses` | which addresses may be connected to |
//! | `sender` | one request over HTTPS |
//! | `deliverer` | one attempt to send an event, signed and remembered |
//! | `worker` | the task that serves endpoints |
//! | `served` | an endpoint that is served |
//! | `store` | what is asked of the store |
//! | `pace` | how much of the processors deliveries may use |
//! | `counts` | what is counted |

mod addresses;
mod counts;
mod deliverer;
mod pace;
mod sender;
mod served;
mod store;
mod worker;

pub use counts::{DeliveryCounts, DeliveryState};
pub use deliverer::Deliverer;

use crate::outgoing;
use crate::settings::{Sending, Trust, Webhooks};
use crate::store::Kept;
use lendpay_api::{Clock, WebhookSettings};
use lendpay_domain::EndpointId;
use lendpay_domain::webhook::Retries;
use pace::Pace;
use rustix::process::setpriority_process;
use sender::{Sender, system_lookup};
use std::sync::Arc;
use store::Asked;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use worker::Worker;

/// The niceness of the thread that delivers: while other threads need all processors, it gets a tenth of one.
const NICE: i32 = 10;

/// How many changes of endpoints may wait to be looked at.
const CHANGES: usize = 1_024;

/// The thread that delivers, and those that look up names for it. Dropped, they end at once.
struct Threads(Option<Runtime>);

impl Threads {
    fn handle(&self) -> Handle {
        self.0.as_ref().expect("they are there until this is dropped").handle().clone()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(threads) = self.0.take() {
            threads.shutdown_background();
        }
    }
}

/// Delivery that has not begun: nothing has been read of the store.
pub struct Delivery {
    deliverer: Deliverer,
    operator: WebhookSettings,
    changed: mpsc::Receiver<EndpointId>,
    retries: Retries,
    threads: Threads,
}

/// Delivery that runs.
pub struct Running {
    stop: CancellationToken,
    worker: JoinSet<()>,
    _threads: Threads,
}

impl Delivery {
    /// Delivery with these settings; `None` if webhooks are off.
    pub fn new(settings: &Webhooks, trust: &Trust, clock: Arc<dyn Clock>) -> Result<Option<Self>, String> {
        let Some(keys) = settings.keys()? else { return Ok(None) };
        let threads = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("webhooks")
            .enable_all()
            .on_thread_start(|| setpriority_process(None, NICE).expect("a thread may lower its priority"))
            .build()
            .map_err(|error| format!("threads cannot be started: {error}"))?;
        let threads = Threads(Some(threads));
        let Sending { webhook_timeout: limit, webhook_retries: retries, webhook_allow: allowed } = &settings.sending;
        let plain_http = settings.webhook_plain_http;
        let sender = Sender::new(outgoing::tls(trust)?, system_lookup(), allowed.clone().into(), plain_http, *limit);
        let (send, changed) = mpsc::channel(CHANGES);
        let deliverer = Deliverer::new(sender, Arc::clone(&keys), clock, threads.handle(), send);
        let operator = WebhookSettings { keys, deliveries: Arc::new(deliverer.clone()), plain_http };
        Ok(Some(Self { deliverer, operator, changed, retries: retries.clone(), threads }))
    }

    /// What the operator's side needs.
    pub fn operator(&self) -> WebhookSettings {
        self.operator.clone()
    }

    /// What sends, and counts.
    pub fn deliverer(&self) -> Deliverer {
        self.deliverer.clone()
    }

    /// Serves the endpoints of a store from now on.
    pub fn start<S: Kept>(self, store: Arc<S>, clock: Arc<dyn Clock>) -> Running {
        let Self { deliverer, changed, retries, threads, .. } = self;
        let stop = CancellationToken::new();
        let store = Asked { store, on: Handle::current() };
        let worker = Worker::new(store, deliverer, clock, retries, Pace::new(S::ELSEWHERE), changed).run(stop.clone());
        Running::begin(worker, stop, threads)
    }
}

impl Running {
    fn begin(work: impl Future<Output = ()> + Send + 'static, stop: CancellationToken, threads: Threads) -> Self {
        let mut worker = JoinSet::new();
        worker.spawn_on(work, &threads.handle());
        Self { stop, worker, _threads: threads }
    }

    /// Is ready if delivery ends by itself: by a panic.
    pub async fn failure(&mut self) {
        self.worker.join_next().await;
    }

    /// Ends what is under way, and saves what was delivered. Tests of endpoints go on until this is dropped.
    pub async fn end(&mut self, end: Instant) {
        self.stop.cancel();
        match timeout_at(end, self.worker.join_next()).await {
            Ok(None | Some(Ok(()))) => {}
            Ok(Some(Err(error))) => tracing::error!(%error, "the delivery of webhooks had failed"),
            Err(_) => tracing::warn!("what webhooks delivered last could not be saved, and will be sent again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn running(work: impl Future<Output = ()> + Send + 'static) -> Running {
        let threads = Builder::new_multi_thread().worker_threads(1).build().expect("starts");
        Running::begin(work, CancellationToken::new(), Threads(Some(threads)))
    }

    #[tokio::test]
    async fn delivery_that_panics_is_noticed_and_ended_without_a_wait() {
        let mut running = running(async { panic!("of the test") });
        running.failure().await;
        running.end(Instant::now() + Duration::from_secs(3_600)).await;
    }
}
