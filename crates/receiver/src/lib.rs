//! A receiver of webhooks: a server of HTTPS that verifies each request with the official library, remembers what it
//! got, and fails as it is told. It knows the Standard Webhooks specification, and nothing of the service but its
//! payload.

#![expect(
    clippy::missing_panics_doc,
    reason = "every function of this crate panics when the machine gives no socket or file"
)]

mod judge;

pub use judge::{Judged, judge};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, LOCATION, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustix::process::setpriority_process;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use serde_json::Value;
use standardwebhooks::{HEADER_WEBHOOK_ID, Webhook};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

/// The guide for receivers: its program in Rust compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../openapi/guides/webhooks.md")]
struct Guide;

/// The niceness of its threads: the lowest priority.
const NICE: i32 = 19;

/// How an endpoint treats what it gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Behaviour {
    /// Takes it.
    Takes,
    /// Takes it after a while.
    Slow(Duration),
    /// Answers with a status, and with `Retry-After` if that is more than 0. A redirect leads to no endpoint.
    Answers(u16, u32),
    /// Takes it, and answers with 8 KiB.
    Long,
    /// Never answers.
    Hangs,
    /// Takes it, and ends the connection without an answer.
    Resets,
    /// This share of requests meets one of the others, each as often.
    Unreliable(f64),
}

/// An event as it was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its `webhook-id`.
    pub id: String,
    /// Its body.
    pub body: Value,
    /// When.
    pub at: Instant,
}

struct Endpoint {
    /// Any of them may have signed.
    secrets: Vec<String>,
    behaviour: Behaviour,
    received: Vec<Received>,
}

#[derive(Default)]
struct Shared {
    endpoints: Mutex<HashMap<String, Endpoint>>,
    connections: AtomicU64,
    refused: AtomicU64,
    /// What was not signed by a secret of its endpoint, or for no endpoint.
    unverified: AtomicU64,
}

/// The receiver. It ends when this is dropped.
pub struct Receiver {
    address: SocketAddr,
    folder: TempDir,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may be dropped where waiting is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Receiver {
    /// Starts one on a free port of the loopback address.
    pub fn start() -> Self {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into())
    }

    /// The same at an address of this machine.
    pub fn start_at(address: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned(), address.ip().to_string()]).expect("a certificate");
        std::fs::write(folder.path().join("ca.pem"), cert.pem()).expect("a file");
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites of TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], PrivateKeyDer::Pkcs8(signing_key.serialize_der().into()))
            .expect("they belong together");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        // It takes no time from what is measured, nor from other tests.
        let nice = || setpriority_process(None, NICE).expect("a thread may lower its priority");
        let runtime = Builder::new_multi_thread().enable_all().on_thread_start(nice).build().expect("threads");
        let listener = std::net::TcpListener::bind(address).expect("a port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a socket");
        let shared = Arc::<Shared>::default();
        let of_task = Arc::clone(&shared);
        runtime.spawn(async move {
            accept(TcpListener::from_std(listener).expect("a socket"), acceptor, of_task).await;
        });
        Self { address, folder, shared, runtime: Some(runtime) }
    }

    /// The file with the certificate that its clients have to trust.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of an endpoint.
    pub fn url(&self, endpoint: &str) -> String {
        format!("https://{}/{endpoint}", self.address)
    }

    /// Takes events for an endpoint that are signed with one of these secrets (`whsec_…`).
    pub fn expect(&self, endpoint: &str, secrets: &[&str], behaviour: Behaviour) {
        let secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let mut endpoints = self.shared.endpoints.lock().expect("unpoisoned");
        let received = endpoints.remove(endpoint).map(|it| it.received).unwrap_or_default();
        endpoints.insert(endpoint.to_owned(), Endpoint { secrets, behaviour, received });
    }

    /// Changes how an endpoint treats what it gets from now on.
    pub fn behave(&self, endpoint: &str, behaviour: Behaviour) {
        let mut endpoints = self.shared.endpoints.lock().expect("unpoisoned");
        endpoints.get_mut(endpoint).expect("an endpoint that is expected").behaviour = behaviour;
    }

    /// Ends so many of the next connections before anything is read.
    pub fn refuse(&self, connections: u64) {
        self.shared.refused.fetch_add(connections, Ordering::SeqCst);
    }

    /// What an endpoint has taken, in order.
    pub fn received(&self, endpoint: &str) -> Vec<Received> {
        let endpoints = self.shared.endpoints.lock().expect("unpoisoned");
        endpoints.get(endpoint).map(|it| it.received.clone()).unwrap_or_default()
    }

    /// How many events an endpoint has taken.
    pub fn taken(&self, endpoint: &str) -> usize {
        let endpoints = self.shared.endpoints.lock().expect("unpoisoned");
        endpoints.get(endpoint).map_or(0, |it| it.received.len())
    }

    /// How many connections there were.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many requests were not signed as they should be.
    pub fn unverified(&self) -> u64 {
        self.shared.unverified.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let less = |left: u64| left.checked_sub(1);
        if shared.refused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
            reset(&stream);
            continue;
        }
        tokio::spawn(serve(stream, acceptor.clone(), Arc::clone(&shared)));
    }
}

/// Lets the connection end with a reset, without waiting for anything.
fn reset(stream: &TcpStream) {
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).expect("a socket");
}

async fn serve(stream: TcpStream, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    // A client that breaks off is no failure of the receiver.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let service = service_fn(|request| answer(request, &shared));
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> io::Result<Response<Full<Bytes>>> {
    let at = Instant::now();
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let name = head.uri.path().trim_start_matches('/').to_owned();
    let verified = |endpoint: &&mut Endpoint| {
        let keys = endpoint.secrets.iter().map(|secret| Webhook::new(secret).expect("a secret"));
        { keys }.any(|key| key.verify(&body, &head.headers).is_ok())
    };
    let behaviour = {
        let mut endpoints = shared.endpoints.lock().expect("unpoisoned");
        let Some(endpoint) = endpoints.get_mut(&name).filter(verified) else {
            shared.unverified.fetch_add(1, Ordering::SeqCst);
            return Ok(status(401, 0));
        };
        let behaviour = chosen(endpoint.behaviour);
        if matches!(behaviour, Behaviour::Takes | Behaviour::Slow(_) | Behaviour::Long | Behaviour::Resets) {
            let id = head.headers[HEADER_WEBHOOK_ID].to_str().expect("it was verified").to_owned();
            let body = serde_json::from_slice(&body).expect("a payload is JSON");
            endpoint.received.push(Received { id, body, at });
        }
        behaviour
    };
    match behaviour {
        Behaviour::Takes | Behaviour::Unreliable(_) => Ok(status(200, 0)),
        Behaviour::Long => Ok(Response::new(Full::from(vec![b'x'; 8 << 20]))),
        Behaviour::Slow(time) => {
            tokio::time::sleep(time).await;
            Ok(status(204, 0))
        }
        Behaviour::Answers(code, retry_after) => Ok(status(code, retry_after)),
        Behaviour::Hangs => std::future::pending().await,
        Behaviour::Resets => Err(io::Error::other("as it was told")),
    }
}

/// What an unreliable endpoint does this time.
fn chosen(behaviour: Behaviour) -> Behaviour {
    let Behaviour::Unreliable(share) = behaviour else { return behaviour };
    if !rand::random_bool(share) {
        return Behaviour::Takes;
    }
    let faults = [
        Behaviour::Slow(Duration::from_millis(100)),
        Behaviour::Answers(500, 0),
        Behaviour::Answers(503, 1),
        Behaviour::Hangs,
        Behaviour::Resets,
    ];
    faults[rand::random_range(..faults.len())]
}

fn status(code: u16, retry_after: u32) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("{}"));
    *response.status_mut() = StatusCode::from_u16(code).expect("a status");
    if retry_after > 0 {
        response.headers_mut().insert(RETRY_AFTER, retry_after.into());
    }
    if response.status().is_redirection() {
        response.headers_mut().insert(LOCATION, HeaderValue::from_static("/elsewhere"));
    }
    response
}
