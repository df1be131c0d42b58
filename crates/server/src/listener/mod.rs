//! Accepting connections and serving HTTP on them: HTTP/1.1, and HTTP/2 inside TLS.
//!
//! poem's own server has no bound for the time that a request's head may take, and what hyper refuses by itself (a head that
//! is not HTTP, too long or too slow) never reaches an endpoint. So the connections are hyper's, with poem's endpoint inside,
//! and [`watched::Watched`] (HTTP/1) or [`frames::FramedSocket`] (HTTP/2) between hyper and the socket.

mod activity;
mod answer;
mod connection;
mod frames;
mod http2;
mod slots;
mod tls;
mod watched;

pub use slots::ConnectionSlots;
pub use tls::Tls;

use activity::Timeouts;
use answer::Answer;
use lendpay_api::{Clock, Side};
use poem::http::{HeaderValue, header};
use poem::{Endpoint, Request, Response};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use slots::Slot;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long the head of a request may take to arrive.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How many refused connections may be kept open at once, so that their answers arrive.
const LINGERING: usize = 64;

/// What the connections of a listener share.
pub struct ListenerContext<E> {
    endpoint: E,
    /// Which side it is, and the time, for answers that no endpoint makes.
    side: Side,
    clock: Arc<dyn Clock>,
    timeouts: Timeouts,
    tls: Option<Arc<Tls>>,
    slots: Arc<ConnectionSlots>,
}

/// What holds for the connections of every listener.
#[derive(Clone)]
pub struct ConnectionLimits {
    /// How long a request may take.
    pub request: Duration,
    /// How long a connection may do nothing, or its client take nothing of an answer.
    pub idle: Duration,
    /// TLS, if it is to be spoken.
    pub tls: Option<Arc<Tls>>,
}

impl<E> ListenerContext<E> {
    /// The context of connections to an endpoint.
    pub fn new(
        endpoint: E,
        side: Side,
        clock: Arc<dyn Clock>,
        limits: ConnectionLimits,
        slots: Arc<ConnectionSlots>,
    ) -> Self {
        let ConnectionLimits { request, idle, tls } = limits;
        let timeouts = Timeouts { request, head: request.min(HEAD_TIME), idle };
        Self { endpoint, side, clock, timeouts, tls, slots }
    }

    /// What the endpoint makes of a request, which runs from now on. The body counts as held for the client.
    fn answer(self: Arc<Self>, request: Request, slot: Arc<Slot>) -> impl Future<Output = hyper::Response<Answer>>
    where
        E: Endpoint<Output = Response>,
    {
        let running = slot.activity.run();
        async move {
            // In a box of its own: hyper keeps the place of a connection's last request, and this takes kilobytes.
            let mut response = Box::pin(self.endpoint.get_response(request)).await;
            drop(running);
            if slot.activity.is_displaced() {
                // The client has to know that it is the last one. HTTP/2 has no such header: hyper leaves it out.
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            hyper::Response::from(response).map(|body| Answer::new(body, slot))
        }
    }

    /// A whole HTTP/1.1 response for a request that no endpoint sees.
    fn refusal(&self, status: u16) -> Vec<u8> {
        lendpay_api::refusal(self.side, self.tls.is_some(), status, self.clock.now())
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
    context: Arc<ListenerContext<E>>,
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
            Ok((stream, peer)) => match context.slots.take(peer.ip()) {
                Some(slot) => {
                    let context = Arc::clone(&context);
                    connections.spawn(connection::serve(stream, peer, slot, context, stop.clone()));
                }
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

/// Tells a client that there is no slot for it.
fn refuse<E>(mut stream: TcpStream, context: &ListenerContext<E>, lingering: &Arc<Semaphore>) {
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
            connection::linger(stream).await;
        }
    });
}

/// Lets the requests that run finish, for at most `grace`.
pub async fn drain(connections: TaskTracker, grace: Duration) {
    connections.close();
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "connections were cut off at the end of the grace period");
    }
}
