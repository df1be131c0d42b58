//! A second service, which speaks TLS: only there is HTTP/2, and whoever attacks it must cost little memory too.

use crate::lab::Lab;
use crate::server::Server;
use anyhow::{Context as _, ensure};
use h2::client::{Builder, SendRequest};
use hyper::body::Bytes;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How much more memory it may have at the end, in MiB.
const MOST: f64 = 64.0;

/// The service.
pub struct Secure {
    server: Server,
    before: f64,
}

/// How it is reached.
#[derive(Clone)]
pub struct Address {
    address: SocketAddr,
    tls: TlsConnector,
}

impl Secure {
    /// Starts it with a certificate of its own.
    pub fn start(lab: &Lab) -> anyhow::Result<(Self, Address)> {
        let lab = lab.below("secure")?;
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        let (certificate, key) = (lab.path("tls.crt"), lab.path("tls.key"));
        fs::write(&certificate, made.cert.pem())?;
        // The service refuses a key that others can read.
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&key)?;
        file.write_all(made.signing_key.serialize_pem().as_bytes())?;
        let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
        let more = ["--tls-cert", &certificate, "--tls-key", &key, "--log", "warn"];
        let server = lab.serve(&lab.store("data"), &more)?;
        let address = Address::new(server.partner, made.cert.der().clone())?;
        let before = server.memory()?;
        Ok((Self { server, before }, address))
    }

    /// Fails if it has grown too much, or does not stop as it should.
    pub fn judge(mut self) -> anyhow::Result<String> {
        let (before, after) = (self.before, self.server.memory()?);
        ensure!(after - before < MOST, "HTTP/2: {before:.0} MiB before, {after:.0} MiB at the end");
        self.server.stop()?;
        Ok(format!("HTTP/2: {before:.0} MiB before the attack, {after:.0} MiB at the end"))
    }
}

impl Address {
    fn new(address: SocketAddr, certificate: CertificateDer<'static>) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: TlsConnector::from(Arc::new(config)) })
    }

    /// A connection of HTTP/2 that runs by itself.
    pub async fn connect(&self, settings: &Builder) -> anyhow::Result<SendRequest<Bytes>> {
        let stream = TcpStream::connect(self.address).await?;
        let stream = self.tls.connect(ServerName::try_from("localhost")?, stream).await.context("no TLS")?;
        let (client, connection) = settings.handshake(stream).await?;
        // It ends with its client.
        drop(tokio::spawn(connection));
        Ok(client.ready().await?)
    }
}
