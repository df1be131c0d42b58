//! Accepting connections and serving HTTP on them: HTTP/1.1, and HTTP/2 inside TLS.
//!
//! poem's own server has no bound for the time that a request's head may take, and what hyper refuses by itself (a head
//! that is not HTTP, too long or too slow) never reaches an endpoint. So the connections are hyper's, with poem's
//! endpoint inside, and [`watched::Watched`] (HTTP/1) or [`frames::watch`] (HTTP/2) between hyper and the socket.

mod activity;
mod answer;
mod connection;
mod context;
mod frames;
mod http1;
mod http2;
mod slots;
mod tls;
mod watched;

pub use activity::Timeouts;
pub use context::ListenerContext;
pub use slots::ConnectionSlots;
pub use tls::Tls;

use connection::Connection;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use slots::Slot;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many refused connections may be kept open at once, so that their answers arrive.
const LINGERING: usize = 64;

/// Raises the number of connections that the process may have to what it is allowed: the usual 1,024 at first is kept
/// low for programs that use `select`, which this is not. Gives what it is then.
pub fn raise_descriptor_limit() -> usize {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize)
}

/// A socket whose connections are accepted and served.
pub struct Listener {
    pub address: SocketAddr,
    accepting: JoinHandle<TaskTracker>,
    stop: CancellationToken,
}

impl Listener {
    /// Begins to accept connections.
    pub fn start(socket: TcpListener, context: ListenerContext) -> Result<Self, String> {
        let address = socket.local_addr().map_err(|error| format!("the listener has no address: {error}"))?;
        let stop = context.stop.clone();
        let accepting = tokio::spawn(accept(socket, Arc::new(context)));
        Ok(Self { address, accepting, stop })
    }

    /// Closes the socket, and lets the requests that run finish until `end`.
    pub async fn end(self, end: Instant) -> Result<(), String> {
        self.stop.cancel();
        let connections = self.accepting.await.map_err(|error| format!("the listener ended early: {error}"))?;
        connections.close();
        if tokio::time::timeout_at(end, connections.wait()).await.is_err() {
            tracing::warn!(open = connections.len(), "connections were cut off at the end of the grace period");
        }
        Ok(())
    }
}

/// Accepts and serves connections until the listener stops, then returns those that are still open.
async fn accept(listener: TcpListener, context: Arc<ListenerContext>) -> TaskTracker {
    let connections = TaskTracker::new();
    let lingering = Arc::new(Semaphore::new(LINGERING));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = context.stop.cancelled() => return connections,
        };
        match accepted {
            Ok((stream, peer)) => match context.slots.take(peer.ip()) {
                Some(slot) => drop(connections.spawn(serve(stream, peer, slot, Arc::clone(&context)))),
                None => refuse(stream, &context, &lingering),
            },
            Err(error) => {
                // Out of file descriptors, as a rule: wait for some to come back instead of spinning.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves one connection, inside TLS or not, to its end.
async fn serve(stream: TcpStream, peer: SocketAddr, slot: Arc<Slot>, context: Arc<ListenerContext>) {
    let connection = Connection::new(&stream, peer, slot, context);
    let Connection { slot, context, .. } = &connection;
    let Some(tls) = &context.tls else { return http1::serve(stream, connection).await };
    // In boxes, so that a connection takes no more memory than its own kind needs.
    let handshake = Box::pin(tokio::time::timeout(context.timeouts.head, tls.accept(stream)));
    let stream = tokio::select! {
        stream = handshake => stream,
        () = slot.activity.displaced.cancelled() => return,
        () = context.stop.cancelled() => return,
    };
    match stream {
        Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
            Box::pin(http2::serve(stream, connection)).await
        }
        Ok(Ok(stream)) => Box::pin(http1::serve(stream, connection)).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_elapsed) => drop(slot.slots.slow.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Tells a client that there is no slot for it.
fn refuse(mut stream: TcpStream, context: &ListenerContext, lingering: &Arc<Semaphore>) {
    if context.tls.is_some() {
        // It could not read it, and a handshake is what costs most.
        return;
    }
    let Ok(permit) = Arc::clone(lingering).try_acquire_owned() else { return };
    let answer = context.refusal(503);
    tokio::spawn(async move {
        let _permit = permit;
        // The kernel takes so little at once.
        if stream.write_all(&answer).await.is_ok() && stream.shutdown().await.is_ok() {
            http1::linger(stream).await;
        }
    });
}
