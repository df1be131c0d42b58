//! TLS for both listeners: HTTP/2 and HTTP/1.1, with a certificate that may be renewed while the service runs.

use crate::secret_file;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::{Accept, TlsAcceptor};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How many bytes of answers a session may hold, encrypted, until the kernel takes them: one record.
const UNSENT: usize = 16 * 1024;

/// A certificate and its key, in two files, and what was last made of them.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: watch::Sender<Pair>,
}

/// What was made of both files.
struct Pair {
    acceptor: TlsAcceptor,
    /// When the first of the certificates expires, since 1970.
    expiry: Option<Duration>,
}

impl Tls {
    /// Reads both files: the certificate with those between it and the root, and its private key, in PEM.
    pub fn open(certificate: &Path, key: &Path) -> Result<Arc<Self>, String> {
        let current = watch::Sender::new(pair(certificate, key)?);
        Ok(Arc::new(Self { certificate: certificate.into(), key: key.into(), current }))
    }

    /// The handshake of a connection, with the files as they were read last.
    pub fn accept(&self, stream: TcpStream) -> Accept<TcpStream> {
        let acceptor = self.current.borrow().acceptor.clone();
        acceptor.accept_with(stream, |session| session.set_buffer_limit(Some(UNSENT)))
    }

    /// When the first of the certificates expires, since 1970; `None` if that cannot be read.
    pub fn expiry(&self) -> Option<Duration> {
        self.current.borrow().expiry
    }

    /// Reads the files again whenever they change. While they do not belong together, such as between the renewal of
    /// one and of the other, or others can read the key, the last pair stays.
    pub async fn renew(&self) -> Infallible {
        let mut seen = self.changed();
        loop {
            tokio::time::sleep(LOOK).await;
            let before = std::mem::replace(&mut seen, self.changed());
            if before == seen {
                continue;
            }
            match pair(&self.certificate, &self.key) {
                Ok(renewed) => {
                    self.current.send_replace(renewed);
                    tracing::info!("the certificate was read again");
                }
                Err(reason) => tracing::warn!(reason, "the new certificate cannot be used; the last one stays"),
            }
        }
    }

    /// What is different once a file has changed.
    fn changed(&self) -> [Option<(u64, i64, i64)>; 2] {
        [&self.certificate, &self.key].map(|path| secret_file::version(path))
    }
}

fn pair(certificate: &Path, key: &Path) -> Result<Pair, String> {
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| format!("no certificate can be read from {}: {error}", certificate.display()))?;
    let expiry = chain.iter().filter_map(expiry_of).min();
    let secret = PrivateKeyDer::from_pem_reader(secret_file::open(key)?)
        .map_err(|error| format!("no private key can be read from {}: {error}", key.display()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let mut config = config
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites of TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| format!("{} and {} cannot be used together: {error}", certificate.display(), key.display()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Pair { acceptor: TlsAcceptor::from(Arc::new(config)), expiry })
}

fn expiry_of(certificate: &CertificateDer<'_>) -> Option<Duration> {
    match Certificate::from_der(certificate) {
        Ok(read) => Some(read.tbs_certificate.validity.not_after.to_unix_duration()),
        Err(error) => {
            tracing::warn!(%error, "when a certificate expires cannot be read");
            None
        }
    }
}
