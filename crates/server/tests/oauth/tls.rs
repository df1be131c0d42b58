//! An issuer on https: believed when the machine trusts its certificate, and only then.

use crate::fake_issuer::FakeIssuer;
use crate::party::{AUDIENCE, Service};
use crate::signer::{Signer, claims};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::path::Path;
use std::sync::Arc;

/// A certificate of an authority of our own for `localhost`, and the authority's in PEM.
fn certificate() -> (ServerConfig, String) {
    let mut authority = CertificateParams::new([]).expect("parameters");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let server = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    let server = server.signed_by(&key, &authority).expect("a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = config.with_no_client_auth().with_single_cert(vec![server.der().clone()], key).expect("a certificate");
    (config, authority.pem())
}

fn service(issuer: &str, authorities: &Path, more: &[&str]) -> Service {
    let token_url = format!("{issuer}/token");
    let arguments = ["--oauth-issuer", issuer, "--oauth-audience", AUDIENCE, "--oauth-token-url", &token_url];
    Service::start_in(&["northwind"], &[&arguments, more].concat(), &[("SSL_CERT_FILE", authorities)])
}

#[test]
fn an_issuer_is_believed_when_the_machine_trusts_its_certificate_and_only_then() {
    let (config, authority) = certificate();
    let signer = Signer::es256("a");
    let issuer = FakeIssuer::start_tls(vec![signer.public()], config);
    let directory = tempfile::tempdir().expect("a directory");
    let (trusted, other) = (directory.path().join("trusted.pem"), directory.path().join("other.pem"));
    std::fs::write(&trusted, authority).expect("a file");
    std::fs::write(&other, certificate().1).expect("a file");

    let mut believes = service(&issuer.url, &trusted, &[]);
    believes.wait_for_keys();
    assert!(believes.accepts(&signer.token(&claims(&issuer.url))));

    let mut told = service(&issuer.url, &other, &["--ca", &trusted.display().to_string()]);
    told.wait_for_keys();
    assert!(told.accepts(&signer.token(&claims(&issuer.url))));

    let mut doubts = service(&issuer.url, &other, &[]);
    let problem = "the issuer's keys cannot be fetched; those that are known stay";
    let warning = doubts.server.process.wait_for(problem);
    assert!(warning["reason"].as_str().is_some_and(|reason| reason.contains("certificate")), "{warning}");
    assert!(!doubts.accepts(&signer.token(&claims(&issuer.url))));
}
