//! Requests that the service makes itself.

use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use url::Url;

/// A client for one address. TLS trusts what the machine trusts.
pub fn agent(address: &Url, limit: Duration) -> ureq::Agent {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(limit))
        // The address that was checked is the address that answers.
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("lendpay/", env!("CARGO_PKG_VERSION")));
    // What is near needs no proxy; for anything else the usual variables hold.
    let config = if address.scheme() == "https" { config } else { config.proxy(None) };
    config.build().new_agent()
}
