//! Every HTTP request that this program makes: of the commands to the running service, for the authorization server's
//! keys, and with traces to a collector.

use crate::settings::{Trust, is_loopback};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use url::Url;

fn roots(trust: &Trust) -> Result<RootCerts, String> {
    let Some(path) = &trust.ca else { return Ok(RootCerts::PlatformVerifier) };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| format!("--ca: {} cannot be read: {error}", path.display()))?;
    if read.is_empty() {
        return Err(format!("--ca: there is no certificate in {}", path.display()));
    }
    let certificates: Vec<_> = read.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    Ok(RootCerts::new_with_certs(&certificates))
}

/// A client for the host of `url`. A request may take no longer than `limit`.
pub fn agent(url: &Url, limit: Duration, trust: &Trust) -> Result<ureq::Agent, String> {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .root_certs(roots(trust)?)
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(limit))
        // The address that was checked is the address that answers: no redirects.
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("lendpay/", env!("CARGO_PKG_VERSION")));
    // A proxy does not reach this machine, and reads what is not encrypted. Otherwise the usual variables hold.
    let direct = url.scheme() != "https" || is_loopback(url);
    let config = if direct { config.proxy(None) } else { config };
    Ok(config.build().new_agent())
}
