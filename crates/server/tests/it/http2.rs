//! A client of HTTP/2 that can misbehave, and what the service makes of it.

use crate::tls::Files;
use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A TLS connection on which HTTP/2 was agreed.
pub async fn tls(address: &str, files: &Files) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&files.certificate).expect("a certificate")).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("TLS");
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(address).await.expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("a handshake")
}

/// A connection of HTTP/2 that runs by itself.
pub async fn connect(address: &str, files: &Files, settings: &Builder) -> SendRequest<Bytes> {
    let (client, connection) = settings.handshake(tls(address, files).await).await.expect("a handshake");
    tokio::spawn(connection);
    client.ready().await.expect("ready")
}
