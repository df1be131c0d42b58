//! A connection that speaks HTTP/2, which the client asks for inside TLS.

use super::connection::Connection;
use super::frames;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};

/// How many requests a connection may have at a time.
const STREAMS: u32 = 32;

/// The most bytes of a request's head, with 32 for each field (RFC 9113, section 6.5.2). What is longer gets a 431
/// without a body from h2; so this is more than the endpoint's own limit, whose 431 has the contract's body.
const HEAD_LIMIT: u32 = 48 * 1024;

/// How much of the bodies of a request, and of all requests of a connection, may arrive before they are read.
const BODY_WINDOW: u32 = 64 * 1024;
const BODIES_WINDOW: u32 = 2 * BODY_WINDOW;

/// How many bytes of an answer wait inside h2 for the client's window.
const SEND_BUFFER: usize = 64 * 1024;

/// How long a client may leave a ping unanswered.
const PING: Duration = Duration::from_secs(20);

/// Serves requests until either side closes, nothing has happened for too long, or the process stops.
pub async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, connection: Connection) {
    let service = service_fn(|request: hyper::Request<Incoming>| connection.answer(request, Instant::now()));
    let socket = frames::watch(stream, Arc::clone(&connection.slot.activity));
    let http = pin!(
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEAD_LIMIT)
            .initial_stream_window_size(BODY_WINDOW)
            .initial_connection_window_size(BODIES_WINDOW)
            .max_send_buf_size(SEND_BUFFER)
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING)
            .serve_connection(TokioIo::new(socket), service)
    );
    let _ended = connection.run(http, http2::Connection::graceful_shutdown).await;
}
