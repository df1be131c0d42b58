//! Accepting connections and serving HTTP on them: HTTP/1.1, and HTTP/2 inside TLS.
//!
//! poem's own server has no bound for the time that a request's head may take, and what hyper refuses by itself (a head that
//! is not HTTP, too long or too slow) never reaches an endpoint. So the connections are hyper's, with poem's endpoint inside
//! and [`watched::Watched`] between hyper and the socket.

mod connection;
mod http2;
mod places;
mod tls;
mod watched;

pub use places::Places;
pub use tls::Tls;

use lendpay_api::{Clock, Side};
use poem::{Endpoint, Response};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long the head of a request may take to arrive.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How many refused connections may be kept open at once, so that their answers arrive, and for how long.
const LINGERING: usize = 64;
const LINGER: Duration = Duration::from_secs(1);

/// What the connections of a listener share.
pub struct Site<E> {
    /// What answers.
    pub endpoint: E,
    /// Which side it is, for answers that no endpoint makes.
    pub side: Side,
    /// The time, for answers that no endpoint makes.
    pub clock: Arc<dyn Clock>,
    /// How long a request may take.
    pub request_time: Duration,
    /// How long the head of one may take.
    pub head_time: Duration,
    /// How long a connection may do nothing, or its client take nothing of an answer.
    pub idle_time: Duration,
    /// TLS, if it is spoken here.
    pub tls: Option<Arc<Tls>>,
    /// Who may connect.
    pub places: Arc<Places>,
}

/// What holds for the connections of every listener.
#[derive(Clone)]
pub struct Manners {
    /// How long a request may take.
    pub request: Duration,
    /// How long a connection may do nothing.
    pub idle: Duration,
    /// TLS, if it is to be spoken.
    pub tls: Option<Arc<Tls>>,
}

impl<E> Site<E> {
    /// A site around an endpoint.
    pub fn new(endpoint: E, side: Side, clock: Arc<dyn Clock>, manners: Manners, places: Arc<Places>) -> Self {
        let Manners { request: request_time, idle: idle_time, tls } = manners;
        Self { endpoint, side, clock, request_time, head_time: request_time.min(HEAD_TIME), idle_time, tls, places }
    }
}

/// Raises the number of connections that the process may have to what it is allowed: the usual 1,024 at first is kept low
/// for programs that use `select`, which this is not. Gives what it is then.
pub fn raise_descriptor_limit() -> usize {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
    getrlimit(Resource::Nofile).current.and_then(|limit| limit.try_into().ok()).unwrap_or(usize::MAX)
}

/// Accepts and serves connections until `stop`, then closes the socket and returns those that are still open.
pub async fn accept<E: Endpoint<Output = Response> + 'static>(
    listener: TcpListener,
    site: Arc<Site<E>>,
    stop: CancellationToken,
) -> TaskTracker {
    let connections = TaskTracker::new();
    let lingering = Arc::new(Semaphore::new(LINGERING));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return connections,
        };
        match accepted {
            Ok((stream, peer)) => match site.places.take(peer.ip()) {
                Some(place) => {
                    let site = Arc::clone(&site);
                    connections.spawn(connection::serve(stream, peer, place, site, stop.clone()));
                }
                None => refuse(stream, &site, &lingering),
            },
            Err(error) => {
                // Out of file descriptors, as a rule: wait for some to come back instead of spinning.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Tells a client that there is no place for it.
fn refuse<E>(mut stream: TcpStream, site: &Site<E>, lingering: &Arc<Semaphore>) {
    if site.tls.is_some() {
        // It could not read it, and a handshake is what costs most.
        return;
    }
    let Ok(permit) = Arc::clone(lingering).try_acquire_owned() else { return };
    let answer = lendpay_api::refusal(site.side, 503, site.clock.now());
    // A socket that is closed with bytes unread is reset, and the client might not get to see the answer.
    let linger = async move {
        if stream.write_all(&answer).await.is_ok() && stream.shutdown().await.is_ok() {
            let mut unread = [0; 4_096];
            while stream.read(&mut unread).await.is_ok_and(|length| length > 0) {}
        }
    };
    tokio::spawn(async move {
        let _permit = permit;
        let _ = tokio::time::timeout(LINGER, linger).await;
    });
}

/// Lets the requests that run finish, for at most `grace`.
pub async fn drain(connections: TaskTracker, grace: Duration) {
    connections.close();
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "connections were cut off at the end of the grace period");
    }
}
