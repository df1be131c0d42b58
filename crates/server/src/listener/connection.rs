//! What a connection has in either version of HTTP: its requests, and what ends it.

use super::activity::End;
use super::answer::Answer;
use super::context::ListenerContext;
use super::slots::Slot;
use hyper::body::Incoming;
use lendpay_api::sandbox::LostReply;
use lendpay_api::{Arrival, Crowd};
use poem::Request;
use poem::endpoint::DynEndpoint;
use poem::http::uri::Scheme;
use poem::http::{HeaderValue, header};
use poem::web::{LocalAddr, RemoteAddr};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::net::TcpStream;

/// The most bytes that the kernel holds for a client beyond those that are under way to it.
const UNSENT_IN_KERNEL: u32 = 64 * 1024;

/// A connection, but for its socket.
pub struct Connection {
    local: LocalAddr,
    remote: RemoteAddr,
    scheme: Scheme,
    pub crowd: Arc<Crowd>,
    pub slot: Arc<Slot>,
    pub context: Arc<ListenerContext>,
}

impl Connection {
    pub fn new(stream: &TcpStream, peer: SocketAddr, slot: Arc<Slot>, context: Arc<ListenerContext>) -> Self {
        // Answers are written whole; waiting to fill a segment would only delay them.
        let _ = stream.set_nodelay(true);
        let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_IN_KERNEL);
        let local = stream.local_addr().map_or_else(|_| LocalAddr::default(), |address| LocalAddr(address.into()));
        let scheme = if context.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
        Self { local, remote: RemoteAddr(peer.into()), scheme, crowd: Arc::default(), slot, context }
    }

    /// What the endpoint makes of a request, which runs from now on. The body counts as held for the client. An error
    /// makes hyper close the connection without an answer.
    pub fn answer(
        &self,
        request: hyper::Request<Incoming>,
        first_byte: Instant,
    ) -> impl Future<Output = Result<hyper::Response<Answer>, LostReply>> + use<> {
        let mut request = Request::from((request, self.local.clone(), self.remote.clone(), self.scheme.clone()));
        request.extensions_mut().insert(Arrival { first_byte, crowd: Arc::clone(&self.crowd) });
        let (slot, context, running) = (Arc::clone(&self.slot), Arc::clone(&self.context), self.slot.activity.run());
        async move {
            let answer = DynEndpoint::call(context.endpoint.as_ref(), request).await;
            let mut response = answer.unwrap_or_else(poem::Error::into_response);
            drop(running);
            if let Some(lost) = response.data::<LostReply>() {
                return Err(*lost);
            }
            if slot.activity.displaced.is_cancelled() {
                // The client has to know that it is the last one. HTTP/2 has no such header: hyper leaves it out.
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(hyper::Response::from(response).map(|body| Answer { body, slot }))
        }
    }

    /// Runs a connection of either version of HTTP until one side closes it, or it has to end.
    pub async fn run<C>(&self, mut connection: Pin<&mut C>, shut_down: impl Fn(Pin<&mut C>)) -> Result<(), End>
    where
        C: Future<Output = hyper::Result<()>>,
    {
        let (activity, timeouts) = (&self.slot.activity, &self.context.timeouts);
        let (mut stopping, mut displaced) = (false, false);
        // A token of its own: each poll of one that waits takes that token's lock.
        let stop = self.context.stop.child_token();
        loop {
            let wake = activity.due(timeouts).unwrap_or_else(|_| Instant::now());
            tokio::select! {
                // First: what has arrived while this task waited for its turn counts.
                biased;
                ended = &mut connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended early");
                    }
                    return Ok(());
                }
                () = activity.displaced.cancelled(), if !displaced => {
                    if activity.ends_at_once() {
                        return Err(End::Dropped);
                    }
                    // A request came at the same moment: it is answered, and no other.
                    displaced = true;
                    shut_down(connection.as_mut());
                }
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    shut_down(connection.as_mut());
                }
                () = tokio::time::sleep_until(wake.into()) => {}
            }
            if let Err(end) = activity.due(timeouts) {
                let slots = &self.slot.slots;
                (if end == End::Slow { &slots.slow } else { &slots.idle }).fetch_add(1, Ordering::Relaxed);
                return Err(end);
            }
        }
    }
}
