//! `lendpay serve`: the store, the two sides and what ends them.

use crate::listener::{self, ConnectionLimits, ConnectionSlots, ListenerContext, Tls};
use crate::metrics::Metrics;
use crate::oauth;
use crate::settings::{Common, Serve, StorePlace};
use crate::stop::StopSignals;
use crate::store::{Kept, open_postgres, open_sled};
use crate::system_clock::SystemClock;
use crate::telemetry;
use lendpay_api::{
    Clock, Limits, OAuth, OperatorKey, OperatorSettings, PartnerSettings, Side, counted_partner_side, operator_side,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long running requests may take to finish once the process is asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How long waiting requests have to get their 503 once the store has failed.
const FAILED_GRACE: Duration = Duration::from_secs(1);

/// How many connections the operator's side may have.
const OPERATOR_CONNECTIONS: usize = 256;

/// Descriptors that are not for connections of partners: the operator's, the store's files, the log.
const OTHER_DESCRIPTORS: usize = OPERATOR_CONNECTIONS + 64;

/// Runs until SIGTERM or Ctrl-C, or until the store fails.
pub fn run(settings: &Serve) -> Result<(), String> {
    let _log = telemetry::start(&settings.common)?;
    // Before the store: settings that do not work leave none behind.
    let security = (oauth::of(&settings.oauth)?, settings.tls.open()?);
    runtime()?.block_on(async {
        match &settings.kept.store {
            StorePlace::Sled(path) => serve(settings, open_sled(path, &settings.common)?, security).await,
            StorePlace::Postgres(address) => {
                serve(settings, open_postgres(address, &settings.common).await?, security).await
            }
        }
    })
}

async fn serve(
    settings: &Serve,
    store: impl Kept,
    (oauth, tls): (Option<OAuth>, Option<Arc<Tls>>),
) -> Result<(), String> {
    let listener = bind(settings.listen, "--listen")?;
    let operator = match settings.operator.key()? {
        Some(key) => Some(OperatorListener::open(settings.operator.listen(), key, tls.is_some())?),
        None => None,
    };
    let address = listener.local_addr().map_err(|error| format!("the listener has no address: {error}"))?;
    let signals = StopSignals::listen().map_err(|error| format!("signals cannot be received: {error}"))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let operator_address = operator.as_ref().map(|operator| tracing::field::display(operator.address));
    tracing::info!(%address, operator = operator_address, docs = %format!("{scheme}://{address}/docs"), store = %settings.kept.store, "ready");
    oauth::keep_keys(oauth.as_ref());
    if let Some(tls) = tls.clone() {
        tokio::spawn(async move { tls.renew().await });
    }
    until_stopped(listener, operator, store, &settings.common, (oauth, tls), signals).await
}

/// The threads that everything but the embedded store's committer runs on.
pub fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("threads cannot be started: {error}"))
}

fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener, String> {
    listener::bind(address).map_err(|error| {
        format!("cannot listen on {address}: {error}; choose another address with {flag} or stop what uses it")
    })
}

/// Where the operator connects, and with which key.
pub struct OperatorListener {
    listener: TcpListener,
    address: SocketAddr,
    key: OperatorKey,
}

impl OperatorListener {
    fn open(address: SocketAddr, key: OperatorKey, tls: bool) -> Result<Self, String> {
        let listener = bind(address, "--operator-listen")?;
        let address = listener.local_addr().map_err(|error| format!("the listener has no address: {error}"))?;
        if !address.ip().is_loopback() && !tls {
            tracing::warn!(%address, "the operator's side can be reached from other machines, without TLS");
        }
        Ok(Self { listener, address, key })
    }
}

/// Serves partners on `listener`, and the operator if there is a listener for it, until a signal arrives or the store fails, then ends in order.
pub async fn until_stopped(
    listener: TcpListener,
    operator: Option<OperatorListener>,
    store: impl Kept,
    settings: &Common,
    (oauth, tls): (Option<OAuth>, Option<Arc<Tls>>),
    mut signals: StopSignals,
) -> Result<(), String> {
    let store = Arc::new(store);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let request_time = settings.request_timeout;
    let traces = telemetry::traces(settings)?;
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
    let metrics = Arc::new(Metrics::new(Arc::downgrade(&store), [&slots, &operator_slots].map(Arc::clone)));
    let endpoint =
        counted_partner_side(Arc::clone(&store), Arc::clone(&clock), partner_settings, Arc::clone(&metrics.partner));
    let context =
        Arc::new(ListenerContext::new(endpoint, Side::Partner, Arc::clone(&clock), connection_limits.clone(), slots));

    let (stop, stop_operator) = (CancellationToken::new(), CancellationToken::new());
    let stopping = Arc::new(AtomicBool::new(false));
    let mut accepting = vec![(tokio::spawn(listener::accept(listener, context, stop.clone())), stop)];
    if let Some(OperatorListener { listener, key, .. }) = operator {
        let (limits, counts) = (Limits { request_time }, Arc::clone(&metrics.operator));
        let write = Arc::new(move || metrics.write());
        let reason = Kept::failure_reason;
        let stopping = Arc::clone(&stopping);
        let operator_settings = OperatorSettings { key, limits, reason, stopping, metrics: write, traces };
        let endpoint = operator_side(Arc::clone(&store), Arc::clone(&clock), operator_settings, counts);
        let context =
            Arc::new(ListenerContext::new(endpoint, Side::Operator, clock, connection_limits, operator_slots));
        accepting.push((tokio::spawn(listener::accept(listener, context, stop_operator.clone())), stop_operator));
    }
    let failure = tokio::select! {
        () = signals.received() => None,
        reason = store.failure() => Some(reason),
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
