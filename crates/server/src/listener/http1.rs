//! A connection that speaks HTTP/1.1.

use super::activity::End;
use super::connection::Connection;
use super::watched::Watched;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

/// The most bytes that a request's head may have. Twice the 16 KiB that access tokens may have: one that is too long,
/// such as of 20 KiB, is still refused as a token (401), and not as a head (431).
const HEAD_LIMIT: usize = 32 * 1024;

/// How long a client has to take the answer to a request that no endpoint sees.
const LAST_WORD: Duration = Duration::from_secs(1);

/// How long, and how many bytes, a client may go on sending after its last answer. A socket that is closed with bytes
/// unread is reset, and the client might not get to see the answer (RFC 9112, section 9.6).
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 1024 * 1024;

/// Serves requests until either side closes, the client is too slow, or the process stops.
pub async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, connection: Connection) {
    let activity = Arc::clone(&connection.slot.activity);
    let service = service_fn(|request: hyper::Request<Incoming>| connection.answer(request, activity.take_head()));
    let (crowd, watched) = (Arc::clone(&connection.crowd), Arc::clone(&activity));
    let mut socket = Watched { socket: stream, activity: watched, crowd, refused: None };
    let mut http = http1::Builder::new()
        .max_header_size(HEAD_LIMIT)
        .max_buf_size(2 * HEAD_LIMIT)
        // A client may close its side as soon as its request is sent.
        .half_close(true)
        .serve_connection(TokioIo::new(&mut socket), service);
    let end = connection.run(Pin::new(&mut http), http1::Connection::graceful_shutdown).await;
    drop(http);
    let Watched { socket: mut stream, refused, .. } = socket;
    if let Some(status) = refused.or((end == Err(End::Slow)).then_some(408)) {
        // The client may be slow or gone; it gets the answer if it takes it soon.
        let answer = connection.context.refusal(status);
        let last_word = async { stream.write_all(&answer).await.and(stream.shutdown().await) };
        let _ = timeout(LAST_WORD, last_word).await;
    }
    if end.is_ok() && !connection.context.stop.is_cancelled() {
        linger(stream).await;
    }
}

/// Reads what a client still sends, so that it gets to see its answer.
pub async fn linger(socket: impl AsyncRead + Unpin) {
    let (mut rest, mut nowhere) = (socket.take(LINGER_BYTES), tokio::io::sink());
    let _ = timeout(LINGER, pin!(tokio::io::copy(&mut rest, &mut nowhere))).await;
}
