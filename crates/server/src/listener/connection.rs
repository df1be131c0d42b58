//! One connection, from accept to close.

use super::Site;
use super::http2;
use super::places::Place;
use super::watched::{Phase, SharedPhase, Watched};
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
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// The most bytes that a request's head may have. Twice the 16 KiB that access tokens may have: one that is too long, such as
/// of 20 KiB, is still refused as a token (401), and not as a head (431).
pub const HEAD_LIMIT: usize = 32 * 1024;

/// How long a client has to take the answer to a request that came too slowly.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Between whom a connection is.
pub struct Ends {
    pub local: LocalAddr,
    pub remote: RemoteAddr,
}

/// Serves one connection, inside TLS or not, to its end.
pub async fn serve<E: Endpoint<Output = Response> + 'static>(
    stream: TcpStream,
    peer: SocketAddr,
    _place: Place,
    site: Arc<Site<E>>,
    stop: CancellationToken,
) {
    // Answers are written whole; waiting to fill a segment would only delay them.
    let _ = stream.set_nodelay(true);
    let local = stream.local_addr().map_or_else(|_| LocalAddr::default(), |address| LocalAddr(address.into()));
    let ends = Ends { local, remote: RemoteAddr(peer.into()) };
    let Some(tls) = &site.tls else { return http1(stream, Scheme::HTTP, ends, site, stop).await };
    let handshake = tokio::time::timeout(site.head_time, tls.acceptor().accept(stream));
    let stream = tokio::select! {
        stream = handshake => stream,
        () = stop.cancelled() => return,
    };
    match stream {
        Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
            http2::serve(stream, ends, site, stop).await
        }
        Ok(Ok(stream)) => http1(stream, Scheme::HTTPS, ends, site, stop).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_elapsed) => drop(site.places.slow.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Serves requests until either side closes, the client is too slow, or the process stops.
async fn http1<S, E>(stream: S, scheme: Scheme, ends: Ends, site: Arc<Site<E>>, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    E: Endpoint<Output = Response> + 'static,
{
    let Ends { local, remote } = ends;
    let phase = SharedPhase::new();
    let watched = TokioIo::new(Watched::new(stream, phase.clone(), Arc::clone(&site.clock), site.side));

    let service = service_fn(|request: hyper::Request<Incoming>| {
        let (site, phase) = (Arc::clone(&site), phase.clone());
        let first_byte = FirstByte(phase.begin());
        let mut request = Request::from((request, local.clone(), remote.clone(), scheme.clone()));
        request.extensions_mut().insert(first_byte);
        async move {
            let response = site.endpoint.get_response(request).await;
            phase.set(Phase::Idle(Instant::now()));
            Ok::<_, Infallible>(hyper::Response::from(response))
        }
    });
    let mut connection = http1::Builder::new()
        .max_header_size(HEAD_LIMIT)
        .max_buf_size(8 * HEAD_LIMIT)
        .serve_connection(watched, service);

    let mut stopping = false;
    loop {
        let wake = match phase.get() {
            // A head may begin any time after; its time is up no earlier than this.
            Phase::Idle(_) => Instant::now() + site.head_time.min(site.idle_time),
            Phase::Head(since) => since + site.head_time,
            // The endpoint times itself.
            Phase::Busy => Instant::now() + site.request_time,
        };
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            () = tokio::time::sleep_until(wake.into()) => {
                match phase.get() {
                    Phase::Idle(since) if since.elapsed() >= site.idle_time => {
                        site.places.idle.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    Phase::Head(since) if since.elapsed() >= site.head_time => break,
                    Phase::Idle(_) | Phase::Head(_) | Phase::Busy => {}
                }
            }
        }
    }
    site.places.slow.fetch_add(1, Ordering::Relaxed);
    let mut socket = connection.into_parts().io.into_inner().into_inner();
    // The client is slow or gone; it gets the answer if it takes it soon.
    let answer = lendpay_api::refusal(site.side, 408, site.clock.now());
    let _ = tokio::time::timeout(LAST_WORD, async {
        socket.write_all(&answer).await?;
        socket.shutdown().await
    })
    .await;
}
