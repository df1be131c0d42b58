//! A connection that speaks HTTP/2, which the client asks for inside TLS.

use super::Site;
use super::connection::{Ends, HEAD_LIMIT};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lendpay_api::FirstByte;
use poem::http::uri::Scheme;
use poem::{Endpoint, Request, Response};
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// How many requests a connection may have at a time. Each may have a body of 64 KiB.
const STREAMS: u32 = 100;

/// How long a client may leave a ping unanswered while requests run.
const PING: Duration = Duration::from_secs(20);

/// How many requests run, and since when it is so.
type Running = Arc<Mutex<(usize, Instant)>>;

fn change(running: &Running, by: isize) {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    *running = (running.0.saturating_add_signed(by), Instant::now());
}

/// Serves requests until either side closes, nothing has happened for too long, or the process stops.
pub async fn serve<S, E>(stream: S, ends: Ends, site: Arc<Site<E>>, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    E: Endpoint<Output = Response> + 'static,
{
    let running = Running::new(Mutex::new((0, Instant::now())));
    let service = service_fn(|request: hyper::Request<Incoming>| {
        change(&running, 1);
        let guard = Guard(Arc::clone(&running));
        let site = Arc::clone(&site);
        let mut request = Request::from((request, ends.local.clone(), ends.remote.clone(), Scheme::HTTPS));
        request.extensions_mut().insert(FirstByte(Instant::now()));
        async move {
            let _guard = guard;
            Ok::<_, Infallible>(hyper::Response::from(site.endpoint.get_response(request).await))
        }
    });
    let mut connection = std::pin::pin!(
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(u32::try_from(HEAD_LIMIT).unwrap_or(u32::MAX))
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut stopping = false;
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = tokio::time::sleep(site.idle_time.min(site.head_time)) => {
                let (count, since) = *running.lock().unwrap_or_else(PoisonError::into_inner);
                if count == 0 && since.elapsed() >= site.idle_time {
                    site.places.idle.fetch_add(1, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

/// A request that runs; one that the client gives up ends here too.
struct Guard(Running);

impl Drop for Guard {
    fn drop(&mut self) {
        change(&self.0, -1);
    }
}
