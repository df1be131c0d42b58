//! One connection, from accept to close.

use super::ListenerContext;
use super::activity::Due;
use super::http2;
use super::slots::Slot;
use super::watched::Watched;
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lendpay_api::FirstByte;
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Endpoint, Request, Response};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// The most bytes that a request's head may have. Twice the 16 KiB that access tokens may have: one that is too long, such as
/// of 20 KiB, is still refused as a token (401), and not as a head (431).
const HEAD_LIMIT: usize = 32 * 1024;

/// The most bytes that the kernel holds for a client beyond those that are under way to it.
const UNSENT_IN_KERNEL: u32 = 64 * 1024;

/// How long a client has to take the answer to a request that came too slowly.
const LAST_WORD: Duration = Duration::from_secs(1);

/// How long, and how many bytes, a client may go on sending after its last answer. A socket that is closed with bytes unread
/// is reset, and the client might not get to see the answer (RFC 9112, section 9.6).
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 1024 * 1024;

/// Between whom a connection is, and how.
#[derive(Clone)]
pub struct Ends {
    local: LocalAddr,
    remote: RemoteAddr,
    scheme: Scheme,
}

impl Ends {
    /// A request as the endpoint takes it.
    pub fn request(&self, request: hyper::Request<Incoming>, first_byte: Instant) -> Request {
        let ends = (self.local.clone(), self.remote.clone(), self.scheme.clone());
        let mut request = Request::from((request, ends.0, ends.1, ends.2));
        request.extensions_mut().insert(FirstByte(first_byte));
        request
    }
}

/// Why a connection is not served any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// One side closed it, or it broke.
    Closed,
    /// A request's head came too slowly.
    Slow,
    /// Nothing happened for too long, or others got its place.
    Dropped,
}

/// Serves one connection, inside TLS or not, to its end.
pub async fn serve<E: Endpoint<Output = Response> + 'static>(
    stream: TcpStream,
    peer: SocketAddr,
    slot: Arc<Slot>,
    context: Arc<ListenerContext<E>>,
    stop: CancellationToken,
) {
    // Answers are written whole; waiting to fill a segment would only delay them.
    let _ = stream.set_nodelay(true);
    let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_IN_KERNEL);
    let local = stream.local_addr().map_or_else(|_| LocalAddr::default(), |address| LocalAddr(address.into()));
    let remote = RemoteAddr(peer.into());
    let Some(tls) = &context.tls else {
        return http1(stream, Ends { local, remote, scheme: Scheme::HTTP }, slot, context, stop).await;
    };
    let ends = Ends { local, remote, scheme: Scheme::HTTPS };
    // In boxes, so that a connection takes no more memory than its own kind needs.
    let handshake = Box::pin(tokio::time::timeout(context.timeouts.head, tls.accept(stream)));
    let stream = tokio::select! {
        stream = handshake => stream,
        () = slot.activity.displaced() => return,
        () = stop.cancelled() => return,
    };
    match stream {
        Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
            Box::pin(http2::serve(stream, ends, slot, context, stop)).await
        }
        Ok(Ok(stream)) => Box::pin(http1(stream, ends, slot, context, stop)).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_elapsed) => drop(slot.slots().slow.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Runs a connection of either version of HTTP to its end.
pub async fn run<C, E>(
    mut connection: Pin<&mut C>,
    shut_down: impl Fn(Pin<&mut C>),
    slot: &Slot,
    context: &ListenerContext<E>,
    stop: &CancellationToken,
) -> End
where
    C: Future<Output = hyper::Result<()>>,
{
    let (mut stopping, mut displaced) = (false, false);
    loop {
        let wake = match slot.activity.due(&context.timeouts) {
            Due::At(wake) => wake,
            Due::Slow | Due::Idle => Instant::now(),
        };
        tokio::select! {
            // First: what has arrived while this task waited for its turn counts.
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return End::Closed;
            }
            () = slot.activity.displaced(), if !displaced => {
                if slot.activity.ends_at_once() {
                    return End::Dropped;
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
        let (counter, end) = match slot.activity.due(&context.timeouts) {
            Due::At(_) => continue,
            Due::Slow => (&slot.slots().slow, End::Slow),
            Due::Idle => (&slot.slots().idle, End::Dropped),
        };
        counter.fetch_add(1, Ordering::Relaxed);
        return end;
    }
}

/// Serves requests until either side closes, the client is too slow, or the process stops.
async fn http1<S, E>(stream: S, ends: Ends, slot: Arc<Slot>, context: Arc<ListenerContext<E>>, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    E: Endpoint<Output = Response> + 'static,
{
    let watched = TokioIo::new(Watched::new(stream, Arc::clone(&slot.activity), Arc::clone(&context)));
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let request = ends.request(request, slot.activity.take_head());
        Arc::clone(&context).answer(request, Arc::clone(&slot)).map(Ok::<_, Infallible>)
    });
    let mut connection = http1::Builder::new()
        .max_header_size(HEAD_LIMIT)
        .max_buf_size(2 * HEAD_LIMIT)
        // A client may close its side as soon as its request is sent.
        .half_close(true)
        .serve_connection(watched, service);
    let end = run(Pin::new(&mut connection), http1::Connection::graceful_shutdown, &slot, &context, &stop).await;
    let mut socket = connection.into_parts().io.into_inner().into_inner();
    match end {
        End::Closed if !stop.is_cancelled() => linger(socket).await,
        End::Slow => {
            // The client is slow or gone; it gets the answer if it takes it soon.
            let answer = context.refusal(408);
            let last_word = async { socket.write_all(&answer).await.and(socket.shutdown().await) };
            let _ = tokio::time::timeout(LAST_WORD, last_word).await;
        }
        End::Closed | End::Dropped => {}
    }
}

/// Reads what a client still sends, so that it gets to see its answer.
pub async fn linger(socket: impl AsyncRead + Unpin) {
    let (mut rest, mut nowhere) = (socket.take(LINGER_BYTES), tokio::io::sink());
    let _ = tokio::time::timeout(LINGER, pin!(tokio::io::copy(&mut rest, &mut nowhere))).await;
}
