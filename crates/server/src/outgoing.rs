//! How this program reaches others: the commands the running service, the service the authorization server, a collector
//! of traces, and the endpoints of webhooks.

use crate::settings::{Trust, is_loopback};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use url::Url;

/// The certificates of `--ca`; none without it.
fn authorities(trust: &Trust) -> Result<Option<Vec<CertificateDer<'static>>>, String> {
    let Some(path) = &trust.ca else { return Ok(None) };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| format!("--ca: {} cannot be read: {error}", path.display()))?;
    if read.is_empty() {
        return Err(format!("--ca: there is no certificate in {}", path.display()));
    }
    Ok(Some(read))
}

fn roots(trust: &Trust) -> Result<RootCerts, String> {
    let Some(read) = authorities(trust)? else { return Ok(RootCerts::PlatformVerifier) };
    let certificates: Vec<_> = read.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    Ok(RootCerts::new_with_certs(&certificates))
}

/// TLS as a client of many hosts: the webhooks' endpoints.
pub fn tls(trust: &Trust) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites of TLS 1.2 and 1.3");
    let builder = match authorities(trust)? {
        None => builder
            .with_platform_verifier()
            .map_err(|error| format!("the certificates that the machine trusts cannot be read: {error}"))?,
        Some(read) => {
            let mut roots = RootCertStore::empty();
            for certificate in read {
                roots.add(certificate).map_err(|error| format!("--ca: a certificate cannot be used: {error}"))?;
            }
            builder.with_root_certificates(roots)
        }
    };
    Ok(builder.with_no_client_auth())
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
