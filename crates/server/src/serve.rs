//! `lendpay serve`: the store, the partner side and what ends them.

use crate::listener::{self, Site};
use crate::oauth;
use crate::settings::{Common, Serve, StorePlace};
use crate::stop::StopSignals;
use crate::system_clock::SystemClock;
use crate::telemetry;
use lendpay_api::{Clock, Limits, OAuth, PartnerSettings, partner_side};
use lendpay_storage::{SledOptions, SledStore};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long running requests may take to finish once the process is asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How long waiting requests have to get their 503 once the store has failed.
const FAILED_GRACE: Duration = Duration::from_secs(1);

/// Runs until SIGTERM or Ctrl-C, or until the store fails.
pub fn run(settings: &Serve) -> Result<(), String> {
    telemetry::start(&settings.common)?;
    let oauth = oauth::of(&settings.oauth)?;
    let StorePlace::Sled(path) = &settings.store;
    let store = open(path, &settings.common)?;
    runtime()?.block_on(async {
        let listener = bind(settings.listen)?;
        let address = listener.local_addr().map_err(|error| format!("the listener has no address: {error}"))?;
        let signals = StopSignals::listen().map_err(|error| format!("signals cannot be received: {error}"))?;
        tracing::info!(%address, docs = %format!("http://{address}/docs"), store = %path.display(), "ready");
        oauth::keep_keys(oauth.as_ref());
        until_stopped(listener, store, &settings.common, oauth, signals).await
    })
}

/// Opens the store in a directory.
pub fn open(path: &Path, settings: &Common) -> Result<SledStore, String> {
    let mut options = SledOptions::default();
    options.cache_capacity = u64::from(settings.cache) << 20;
    SledStore::open(path, options).map_err(|error| error.to_string())
}

/// The threads that everything but the store's committer runs on.
pub fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("threads cannot be started: {error}"))
}

fn bind(address: std::net::SocketAddr) -> Result<TcpListener, String> {
    listener::bind(address).map_err(|error| {
        format!("cannot listen on {address}: {error}; choose another address with --listen or stop what uses it")
    })
}

/// Serves partners on `listener` until a signal arrives or the store fails, then ends in order.
pub async fn until_stopped(
    listener: TcpListener,
    store: SledStore,
    settings: &Common,
    oauth: Option<OAuth>,
    mut signals: StopSignals,
) -> Result<(), String> {
    let store = Arc::new(store);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let request_time = settings.request_timeout;
    let partner_settings =
        PartnerSettings { buyer_checks: settings.buyer_checks.into(), limits: Limits { request_time }, oauth };
    let endpoint = partner_side(Arc::clone(&store), Arc::clone(&clock), partner_settings);
    let site = Arc::new(Site::new(endpoint, clock, request_time));

    let stop = CancellationToken::new();
    let accepting = tokio::spawn(listener::accept(listener, site, stop.clone()));
    let failure = tokio::select! {
        () = signals.received() => None,
        reason = store.failure() => Some(reason),
    };
    tracing::info!("stopping");
    stop.cancel();
    let connections = accepting.await.map_err(|error| format!("the listener ended early: {error}"))?;
    listener::drain(connections, if failure.is_some() { FAILED_GRACE } else { GRACE }).await;
    match failure {
        Some(reason) => Err(format!("the store has failed and the process ends: {reason}")),
        None => store.close().await.map_err(|error| format!("the store could not be closed: {error}")),
    }
}
