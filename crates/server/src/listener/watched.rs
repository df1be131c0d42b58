//! A socket that knows what hyper does with it.
//!
//! It notices when the first byte of a request arrives, so that a head that drips in can be timed, and it replaces the
//! responses that hyper makes by itself, which have no body and none of the headers that every response must carry.

use lendpay_api::{Clock, Side};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a connection is doing.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// Nothing, since then.
    Idle(Instant),
    /// Receiving a request's head, since then.
    Head(Instant),
    /// Answering.
    Busy,
}

/// The phase of a connection, shared by its socket, its service and its timer.
#[derive(Clone, Debug)]
pub struct SharedPhase(Arc<Mutex<Phase>>);

impl SharedPhase {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Phase::Idle(Instant::now()))))
    }

    pub fn get(&self) -> Phase {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set(&self, phase: Phase) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// Bytes have arrived: if nothing was going on, a request has begun.
    fn received(&self) {
        let mut phase = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*phase, Phase::Idle(_)) {
            *phase = Phase::Head(Instant::now());
        }
    }

    /// Bytes of an answer went out: a long one that the client takes is not idleness.
    fn sent(&self) {
        let mut phase = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*phase, Phase::Idle(_)) {
            *phase = Phase::Idle(Instant::now());
        }
    }

    /// Takes a request whose head is complete, and says when it began.
    pub fn begin(&self) -> Instant {
        let mut phase = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = match *phase {
            Phase::Head(start) => start,
            // The head came in the same read as the end of the request before.
            Phase::Idle(_) | Phase::Busy => Instant::now(),
        };
        *phase = Phase::Busy;
        start
    }
}

/// A socket under watch.
pub struct Watched<S> {
    socket: S,
    phase: SharedPhase,
    clock: Arc<dyn Clock>,
    side: Side,
    /// What is written in place of hyper's own response, and how much of it is out.
    replacement: Option<(Vec<u8>, usize)>,
}

impl<S> Watched<S> {
    pub fn new(socket: S, phase: SharedPhase, clock: Arc<dyn Clock>, side: Side) -> Self {
        Self { socket, phase, clock, side, replacement: None }
    }

    pub fn into_inner(self) -> S {
        self.socket
    }
}

/// The status of a response that hyper made by itself: a short head without a body, and without the id that every response
/// of ours has.
fn made_by_hyper(bytes: &[u8]) -> Option<u16> {
    const ID: &[u8] = b"x-request-id";
    let short = bytes.len() < 200 && bytes.starts_with(b"HTTP/1.1 4");
    if !short || bytes.windows(ID.len()).any(|window| window == ID) {
        return None;
    }
    std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if polled.is_ready() && buffer.filled().len() > before {
            self.phase.received();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.replacement.is_none() {
            match made_by_hyper(bytes) {
                None => {
                    let written = ready!(Pin::new(&mut this.socket).poll_write(cx, bytes));
                    this.phase.sent();
                    return Poll::Ready(written);
                }
                Some(status) => {
                    this.replacement = Some((lendpay_api::refusal(this.side, status, this.clock.now()), 0));
                }
            }
        }
        if let Some((replacement, written)) = &mut this.replacement {
            while *written < replacement.len() {
                match ready!(Pin::new(&mut this.socket).poll_write(cx, &replacement[*written..]))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    n => *written += n,
                }
            }
        }
        this.replacement = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hypers_own_refusals_are_replaced() {
        let own = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: Sat, 21 Nov 2026 00:00:00 GMT\r\n\r\n";
        assert_eq!(made_by_hyper(own), Some(431));
        for ours in [
            &b"HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"",
        ] {
            assert_eq!(made_by_hyper(ours), None);
        }
    }
}
