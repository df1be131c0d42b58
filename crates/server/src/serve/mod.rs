//! `lendpay serve`: the service, on a store of either kind, until it is stopped.

mod service;

pub use service::{Parts, Service};

use crate::listener::Tls;
use crate::oauth;
use crate::runtime;
use crate::settings::{Serve, StorePlace};
use crate::sockets::Sockets;
use crate::store::{Kept, open_postgres, open_sled};
use crate::telemetry;
use crate::webhooks::Delivery;
use std::sync::Arc;
use tracing::field::display;

/// Runs until SIGTERM or Ctrl-C, or until the store fails.
pub fn run(settings: &Serve) -> Result<(), String> {
    let sockets = Sockets::given()?;
    let log = telemetry::start(&settings.common)?;
    runtime::run(async {
        let parts = parts(settings, sockets, &log)?;
        match &settings.kept.store {
            StorePlace::Sled(path) => {
                serve(settings, parts, open_sled(path, &settings.common, settings.rebuild_index)?).await
            }
            StorePlace::Postgres(address) => {
                serve(settings, parts, open_postgres(address, &settings.common).await?).await
            }
        }
    })
}

fn parts(settings: &Serve, mut sockets: Sockets, log: &telemetry::Log) -> Result<Parts, String> {
    let oauth = oauth::of(&settings.oauth, &settings.common.trust)?;
    let tls = settings.tls_cert.as_deref().zip(settings.tls_key.as_deref());
    let tls = tls.map(|(certificate, key)| Tls::open(certificate, key)).transpose();
    let tls = tls.map_err(|error| format!("--tls-cert, --tls-key: {error}"))?;
    let side = settings.operator.side()?;
    let partners = sockets.open(settings.listen, "--listen")?;
    let operator = side.map(|side| Ok::<_, String>((sockets.open(side.listen, "--operator-listen")?, side)));
    let operator = operator.transpose()?;
    sockets.all_taken()?;
    let parts = Parts::of_partners(partners, &settings.common, log)?;
    let webhooks = Delivery::new(&settings.webhooks, &settings.common.trust, Arc::clone(&parts.clock))?;
    Ok(Parts { operator, oauth, tls, webhooks, ..parts })
}

async fn serve(settings: &Serve, parts: Parts, store: impl Kept) -> Result<(), String> {
    let scheme = if parts.tls.is_some() { "https" } else { "http" };
    let service = Service::start(parts, store, &settings.common)?;
    let (address, operator) = (service.partners.address, service.operator.as_ref().map(|operator| operator.address));
    if let Some(address) = operator.filter(|address| !address.ip().is_loopback() && scheme == "http") {
        tracing::warn!(%address, "the operator's side can be reached from other machines, without TLS");
    }
    let (docs, store) = (format!("{scheme}://{address}/docs"), settings.kept.store.to_string());
    let operator = operator.map(display);
    let ready = || tracing::info!(%address, operator, docs, store, "ready");
    let Some(reason) = service.store.failure_reason() else {
        ready();
        return service.run(|| {}).await;
    };
    tracing::warn!(%address, operator, reason, "listening, but not ready: the store does not work");
    service.run(ready).await
}
