//! Accepting connections and serving HTTP/1.1 on them.
//!
//! poem's own server has no bound for the time that a request's head may take, and what hyper refuses by itself (a head that
//! is not HTTP, too long or too slow) never reaches an endpoint. So the connections are hyper's, with poem's endpoint inside
//! and [`watched::Watched`] between hyper and the socket.

mod connection;
mod watched;

use lendpay_api::{Clock, Side};
use poem::{Endpoint, Response};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1_024;

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
    /// How long a connection may do nothing.
    pub idle_time: Duration,
}

impl<E> Site<E> {
    /// A site around an endpoint.
    pub fn new(endpoint: E, side: Side, clock: Arc<dyn Clock>, request_time: Duration) -> Self {
        Self { endpoint, side, clock, request_time, idle_time: Duration::from_secs(75) }
    }
}

/// Opens a listening socket.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restart must not wait for the last run's connections to fade.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Raises the number of connections that the process may have to what it is allowed: the usual 1,024 at first is kept low
/// for programs that use `select`, which this is not.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}

/// Accepts and serves connections until `stop`, then closes the socket and returns those that are still open.
pub async fn accept<E: Endpoint<Output = Response> + 'static>(
    listener: TcpListener,
    site: Arc<Site<E>>,
    stop: CancellationToken,
) -> TaskTracker {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return connections,
        };
        match accepted {
            Ok((stream, peer)) => {
                connections.spawn(connection::serve(stream, peer, Arc::clone(&site), stop.clone()));
            }
            Err(error) => {
                // Out of file descriptors, as a rule: wait for some to come back instead of spinning.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Lets the requests that run finish, for at most `grace`.
pub async fn drain(connections: TaskTracker, grace: Duration) {
    connections.close();
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "connections were cut off at the end of the grace period");
    }
}
