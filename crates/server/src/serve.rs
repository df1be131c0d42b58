//! `lendpay serve`: the store, the two sides and what ends them.

use crate::listener::{self, ConnectionLimits, ConnectionSlots, ListenerContext, Tls};
use crate::metrics::Metrics;
use crate::oauth;
use crate::settings::{Common, Serve, StorePlace};
use crate::sockets::{Socket, Sockets};
use crate::stop::StopSignals;
use crate::store::{Kept, open_postgres, open_sled};
use crate::system_clock::SystemClock;
use crate::telemetry::{self, Log};
use lendpay_api::{
    Clock, Hosts, Limits, OAuth, OperatorKey, OperatorSettings, PartnerSettings, Side, Traces, counted_partner_side,
    operator_side,
};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
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

/// Runs until SIGTERM or Ctrl-C, or until the store fails.
pub fn run(settings: &Serve) -> Result<(), String> {
    let sockets = Sockets::given()?;
    let log = telemetry::start(&settings.common)?;
    runtime()?.block_on(async {
        let setup = Setup::of(settings, sockets, &log)?;
        match &settings.kept.store {
            StorePlace::Sled(path) => serve(settings, setup, open_sled(path, &settings.common)?).await,
            StorePlace::Postgres(address) => {
                serve(settings, setup, open_postgres(address, &settings.common).await?).await
            }
        }
    })
}

/// Everything but the store. It is set up first, so that a start that fails leaves no store behind; `S` is a socket
/// that listens only once the store is open.
pub struct Setup<S> {
    partners: S,
    operator: Option<(S, OperatorKey, Hosts)>,
    oauth: Option<OAuth>,
    tls: Option<Arc<Tls>>,
    traces: Option<Arc<dyn Traces>>,
    dropped_lines: Arc<AtomicU64>,
}

impl Setup<Socket> {
    fn of(settings: &Serve, mut sockets: Sockets, log: &Log) -> Result<Self, String> {
        let (oauth, tls) = (oauth::of(&settings.oauth, &settings.common.trust)?, settings.tls.open()?);
        let traces = telemetry::traces(&settings.common)?;
        let key = settings.operator.key()?;
        let partners = sockets.open(settings.listen, "--listen")?;
        let open = |key| {
            let socket = sockets.open(settings.operator.listen(), "--operator-listen")?;
            Ok::<_, String>((socket, key, settings.operator.hosts()))
        };
        let operator = key.map(open).transpose()?;
        sockets.all_taken()?;
        Ok(Self { partners, operator, oauth, tls, traces, dropped_lines: log.dropped() })
    }

    /// Partners only, without TLS and OAuth 2.0.
    pub fn of_partners(partners: Socket, settings: &Common, log: &Log) -> Result<Self, String> {
        let (traces, dropped_lines) = (telemetry::traces(settings)?, log.dropped());
        Ok(Self { partners, operator: None, oauth: None, tls: None, traces, dropped_lines })
    }

    /// Lets clients connect; says where partners do.
    pub fn listen(self) -> Result<(Setup<TcpListener>, SocketAddr), String> {
        let Self { partners, operator, oauth, tls, traces, dropped_lines } = self;
        let partners = partners.listen()?;
        let address = local_address(&partners)?;
        let operator =
            operator.map(|(socket, key, hosts)| Ok::<_, String>((socket.listen()?, key, hosts))).transpose()?;
        Ok((Setup { partners, operator, oauth, tls, traces, dropped_lines }, address))
    }
}

fn local_address(listener: &TcpListener) -> Result<SocketAddr, String> {
    listener.local_addr().map_err(|error| format!("the listener has no address: {error}"))
}

async fn serve(settings: &Serve, setup: Setup<Socket>, store: impl Kept) -> Result<(), String> {
    let signals = StopSignals::listen()?;
    let (setup, address) = setup.listen()?;
    let operator = setup.operator.as_ref().map(|(listener, ..)| local_address(listener)).transpose()?;
    if let Some(address) = operator.filter(|address| !address.ip().is_loopback() && setup.tls.is_none()) {
        tracing::warn!(%address, "the operator's side can be reached from other machines, without TLS");
    }
    let scheme = if setup.tls.is_some() { "https" } else { "http" };
    let (docs, store_place) = (format!("{scheme}://{address}/docs"), settings.kept.store.to_string());
    let announce = move |problem: Option<String>| {
        let operator = operator.map(tracing::field::display);
        match problem {
            None => tracing::info!(%address, operator, docs, store = store_place, "ready"),
            Some(reason) => {
                tracing::warn!(%address, operator, reason, "listening, but not ready: the store does not work")
            }
        }
    };
    let problem = store.failure_reason();
    let late = problem.is_some().then(|| announce.clone());
    announce(problem);
    oauth::keep_keys(setup.oauth.as_ref());
    if let Some(tls) = setup.tls.clone() {
        tokio::spawn(async move { tls.renew().await });
    }
    until_stopped(setup, store, &settings.common, signals, || late.iter().for_each(|announce| announce(None))).await
}

/// The threads that everything but the embedded store's committer runs on.
pub fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("threads cannot be started: {error}"))
}

/// Says once that the store works: a database may be away at the start.
async fn wait_until_it_works(store: &impl Kept, works: impl Fn()) -> Infallible {
    // Requests, and /health/ready, find out when it does.
    while store.failure_reason().is_some() {
        tokio::time::sleep(LOOK).await;
    }
    works();
    std::future::pending().await
}

/// Serves until a signal arrives or the store fails, then ends in order. Says by `works` when the store works.
pub async fn until_stopped(
    setup: Setup<TcpListener>,
    store: impl Kept,
    settings: &Common,
    mut signals: StopSignals,
    works: impl Fn(),
) -> Result<(), String> {
    let Setup { partners, operator, oauth, tls, traces, dropped_lines } = setup;
    let store = Arc::new(store);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let request_time = settings.request_timeout;
    let partner_settings = PartnerSettings {
        buyer_checks: settings.buyer_checks.into(),
        limits: Limits { request_time },
        oauth,
        rate_limit: settings.rate_limit.limit(),
        traces: traces.clone(),
    };
    let connection_limits = ConnectionLimits { request: request_time, idle: settings.idle_timeout, tls };
    let most = listener::raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS);
    let wanted = usize::try_from(settings.connections).unwrap_or(usize::MAX);
    if wanted > most {
        tracing::warn!(most, wanted, "the limit of open files leaves fewer connections than --connections");
    }
    let (slots, operator_slots) = (ConnectionSlots::new(wanted.min(most)), ConnectionSlots::new(OPERATOR_CONNECTIONS));
    let connections = [&slots, &operator_slots].map(Arc::clone);
    let metrics = Arc::new(Metrics::new(Arc::downgrade(&store), connections, dropped_lines));
    let endpoint =
        counted_partner_side(Arc::clone(&store), Arc::clone(&clock), partner_settings, Arc::clone(&metrics.partner));
    let context =
        Arc::new(ListenerContext::new(endpoint, Side::Partner, Arc::clone(&clock), connection_limits.clone(), slots));

    let (stop, stop_operator) = (CancellationToken::new(), CancellationToken::new());
    let stopping = Arc::new(AtomicBool::new(false));
    let mut accepting = vec![(tokio::spawn(listener::accept(partners, context, stop.clone())), stop)];
    if let Some((listener, key, hosts)) = operator {
        let (limits, counts) = (Limits { request_time }, Arc::clone(&metrics.operator));
        let write = Arc::new(move || metrics.write());
        let reason = Kept::failure_reason;
        let stopping = Arc::clone(&stopping);
        let operator_settings = OperatorSettings { key, hosts, limits, reason, stopping, metrics: write, traces };
        let endpoint = operator_side(Arc::clone(&store), Arc::clone(&clock), operator_settings, counts);
        let context =
            Arc::new(ListenerContext::new(endpoint, Side::Operator, clock, connection_limits, operator_slots));
        accepting.push((tokio::spawn(listener::accept(listener, context, stop_operator.clone())), stop_operator));
    }
    let failure = tokio::select! {
        () = signals.received() => None,
        reason = store.failure() => Some(reason),
        never = wait_until_it_works(&*store, works) => match never {},
    };
    // Whoever sends partners here learns it first. The operator's side ends last, and goes on saying so.
    stopping.store(true, Ordering::Relaxed);
    tracing::info!("stopping");
    if failure.is_none() && !settings.stop_delay.is_zero() {
        tokio::select! {
            () = tokio::time::sleep(settings.stop_delay) => {}
            () = signals.received() => {}
        }
    }
    let grace = tokio::time::Instant::now() + if failure.is_some() { FAILED_GRACE } else { GRACE };
    for (accepting, stop) in accepting {
        stop.cancel();
        let connections = accepting.await.map_err(|error| format!("the listener ended early: {error}"))?;
        listener::drain(connections, grace.saturating_duration_since(tokio::time::Instant::now())).await;
    }
    match failure {
        Some(reason) => Err(format!("the store has failed and the process ends: {reason}")),
        None => store.close().await.map_err(|error| format!("the store could not be closed: {error}")),
    }
}
