//! A service that runs: a store, the two sides that reach it, their listeners, and what ends them.

use crate::expiry;
use crate::listener::{self, ConnectionSlots, Listener, ListenerContext, Timeouts, Tls};
use crate::metrics::Metrics;
use crate::settings::{Common, OperatorSide};
use crate::sockets::Socket;
use crate::stop::StopSignals;
use crate::store::Kept;
use crate::system_clock::SystemClock;
use crate::telemetry::{self, Log};
use crate::webhooks::{Delivery, Running};
use lendpay_api::sandbox::Sandbox;
use lendpay_api::{
    Clock, Feed, Limits, OAuth, OperatorSettings, PartnerSettings, Side, Traces, counted_partner_side, operator_side,
};
use poem::EndpointExt as _;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long running requests may take to finish once the process is asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How long waiting requests have to get their 503 once the store has failed.
const FAILED_GRACE: Duration = Duration::from_secs(1);

/// How often is looked whether a store that did not work at the start does now.
const LOOK: Duration = Duration::from_millis(500);

/// How many connections the operator's side may have.
const OPERATOR_CONNECTIONS: usize = 256;

/// Descriptors that are not for connections of partners: the operator's, the store's files, the log.
const OTHER_DESCRIPTORS: usize = OPERATOR_CONNECTIONS + 64;

/// Everything but the store. It is made first, so that a start that fails leaves no store behind; the sockets listen
/// only once the store is open.
pub struct Parts {
    pub partners: Socket,
    pub operator: Option<(Socket, OperatorSide)>,
    pub oauth: Option<OAuth>,
    pub tls: Option<Arc<Tls>>,
    pub traces: Option<Arc<dyn Traces>>,
    pub dropped_lines: Arc<AtomicU64>,
    pub clock: Arc<dyn Clock>,
    pub sandbox: Option<Arc<dyn Sandbox>>,
    pub webhooks: Option<Delivery>,
}

impl Parts {
    /// Partners only, without TLS and OAuth 2.0.
    pub fn of_partners(partners: Socket, settings: &Common, log: &Log) -> Result<Self, String> {
        let (traces, dropped_lines) = (telemetry::traces(settings)?, log.dropped());
        let clock = Arc::new(SystemClock);
        Ok(Self {
            partners,
            operator: None,
            oauth: None,
            tls: None,
            traces,
            dropped_lines,
            clock,
            sandbox: None,
            webhooks: None,
        })
    }
}

/// The service.
pub struct Service<S> {
    pub store: Arc<S>,
    pub partners: Listener,
    pub operator: Option<Listener>,
    webhooks: Option<Running>,
    signals: StopSignals,
    stop_delay: Duration,
    feed: Arc<Feed>,
    /// Records expiries.
    expiries: JoinSet<Infallible>,
    /// Set when the service is about to end.
    stopping: Arc<AtomicBool>,
}

impl<S: Kept> Service<S> {
    /// Lets clients connect. Signals end [`run`](Self::run) from now on.
    pub fn start(parts: Parts, store: S, settings: &Common) -> Result<Self, String> {
        let Parts { partners, operator, oauth, tls, traces, dropped_lines, clock, sandbox, webhooks } = parts;
        let (store, stopping, signals) = (Arc::new(store), Arc::default(), StopSignals::listen()?);
        let limits = Limits { request_time: settings.request_timeout };
        let most = listener::raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS);
        let wanted = settings.connections as usize;
        if wanted > most {
            tracing::warn!(most, wanted, "the limit of open files leaves fewer connections than --connections");
        }
        let slots = [wanted.min(most), OPERATOR_CONNECTIONS].map(ConnectionSlots::new);
        let feed = Arc::<Feed>::default();
        let metrics = Arc::new(Metrics {
            partner: Arc::default(),
            operator: Arc::default(),
            feed: Arc::clone(&feed),
            store: Arc::downgrade(&store),
            slots: slots.clone(),
            dropped_lines,
            tls: tls.clone(),
            webhooks: webhooks.as_ref().map(Delivery::deliverer),
        });
        let [partner_slots, operator_slots] = slots;

        if let Some(tokens) = oauth.as_ref().map(|oauth| Arc::clone(&oauth.tokens)) {
            tokio::spawn(async move { tokens.keep_keys().await });
        }
        if let Some(tls) = tls.clone() {
            tokio::spawn(async move { tls.renew().await });
        }
        let partner_settings = PartnerSettings {
            buyer_checks: settings.buyer_checks,
            limits,
            public_url: settings.public_url.as_ref().map(ToString::to_string),
            oauth,
            rate_limit: settings.rate_limit,
            leases: store.leases(),
            traces: traces.clone(),
            feed: Arc::clone(&feed),
            sandbox,
        };
        let keeps = Arc::clone(&store);
        let note_call: Arc<dyn Fn(_) + Send + Sync> = Arc::new(move |call| keeps.note_call(call));
        let partner_side = partner_settings.side();
        let context = |endpoint, side, slots| ListenerContext {
            endpoint,
            side,
            clock: Arc::clone(&clock),
            note_call: Arc::clone(&note_call),
            timeouts: Timeouts::new(settings.request_timeout, settings.idle_timeout),
            tls: tls.clone(),
            slots,
            stop: CancellationToken::new(),
        };
        let counts = Arc::clone(&metrics.partner);
        let endpoint = counted_partner_side(Arc::clone(&store), Arc::clone(&clock), partner_settings, counts).boxed();
        let partners = Listener::start(partners.listen()?, context(endpoint, partner_side, partner_slots))?;
        let start_operator = |(socket, OperatorSide { operators, hosts, file, console, .. }): (Socket, _)| {
            if let Some(file) = file {
                tokio::spawn(file.renew());
            }
            let (reason, stopping, counts) =
                (Kept::failure_reason, Arc::clone(&stopping), Arc::clone(&metrics.operator));
            let metrics = Arc::new(move || metrics.write());
            let log = store.log().map(|(log, _)| log);
            let feed = Arc::clone(&feed);
            let webhooks = webhooks.as_ref().map(Delivery::operator);
            let settings = OperatorSettings {
                operators,
                hosts,
                limits,
                reason,
                log,
                feed,
                webhooks,
                stopping,
                metrics,
                traces,
                console,
            };
            let endpoint = operator_side(Arc::clone(&store), Arc::clone(&clock), settings, counts).boxed();
            Listener::start(socket.listen()?, context(endpoint, Side::Operator, operator_slots))
        };
        let operator = operator.map(start_operator).transpose()?;
        let webhooks = webhooks.map(|delivery| delivery.start(Arc::clone(&store), Arc::clone(&clock)));
        let mut expiries = JoinSet::new();
        expiries.spawn(expiry::keep(Arc::clone(&store), clock));
        let stop_delay = settings.stop_delay;
        Ok(Self { store, partners, operator, webhooks, signals, stop_delay, feed, expiries, stopping })
    }

    /// Serves until a signal arrives, the store fails or a task has panicked, then ends in order. Calls `works` once
    /// the store works.
    pub async fn run(mut self, works: impl Fn()) -> Result<(), String> {
        let deliveries = async {
            match &mut self.webhooks {
                Some(webhooks) => webhooks.failure().await,
                None => std::future::pending().await,
            }
        };
        let failure = tokio::select! {
            () = self.signals.received() => None,
            reason = self.store.failure() => Some(Failure::Store(reason)),
            _ = self.expiries.join_next() => Some(Failure::Task("recording expiries")),
            () = deliveries => Some(Failure::Task("the delivery of webhooks")),
            never = wait_until_it_works(&*self.store, works) => match never {},
        };
        let store_works = !matches!(failure, Some(Failure::Store(_)));
        // Whoever sends partners here learns it first. The operator's side ends last, and goes on saying so.
        self.stopping.store(true, Ordering::Relaxed);
        tracing::info!("stopping");
        if store_works {
            tokio::select! {
                () = sleep(self.stop_delay) => {}
                () = self.signals.received() => {}
            }
        }
        self.feed.stop();
        let end = Instant::now() + if store_works { GRACE } else { FAILED_GRACE };
        let deliveries = async {
            if let Some(webhooks) = &mut self.webhooks {
                webhooks.end(end).await;
            }
        };
        let (ended, ()) = tokio::join!(self.partners.end(end), deliveries);
        ended?;
        if let Some(operator) = self.operator {
            operator.end(end).await?;
        }
        self.expiries.shutdown().await;
        if store_works {
            self.store.close().await.map_err(|error| format!("the store could not be closed: {error}"))?;
        }
        match failure {
            None => Ok(()),
            Some(Failure::Store(reason)) => Err(format!("the store has failed and the process ends: {reason}")),
            Some(Failure::Task(task)) => Err(format!("{task} has panicked, which is a bug, and the process ends")),
        }
    }
}

/// Why the process has to end by itself.
enum Failure {
    Store(String),
    /// A task that has panicked. The store works.
    Task(&'static str),
}

/// Says once that the store works: a database may be away at the start.
async fn wait_until_it_works(store: &impl Kept, works: impl Fn()) -> Infallible {
    // Requests, and /health/ready, find out when it does.
    while store.failure_reason().is_some() {
        sleep(LOOK).await;
    }
    works();
    std::future::pending().await
}
