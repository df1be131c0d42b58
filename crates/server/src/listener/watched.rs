//! A socket that knows what hyper does with it.
//!
//! It notices when the first byte of a request arrives, so that a head that drips in can be timed, and it holds back
//! the responses that hyper makes by itself, which have no body and none of the headers that every response must carry.

use super::activity::Activity;
use lendpay_api::Crowd;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket under watch.
pub struct Watched<S> {
    pub socket: S,
    pub activity: Arc<Activity>,
    /// Says when the next request may be read.
    pub crowd: Arc<Crowd>,
    /// The status of hyper's own response, which is its last. The socket stays open for one in its place.
    pub refused: Option<u16>,
}

/// The status of a response that hyper made by itself: a short head without a body, and without the id that every
/// response of ours has.
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
        let (before, rests) = (buffer.filled().len(), self.activity.rests());
        if rests {
            ready!(self.crowd.poll_enter(cx));
        }
        let polled = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if polled.is_ready() && buffer.filled().len() > before {
            self.activity.received();
        } else if rests {
            self.crowd.leave();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    /// Vectored, so that hyper hands over bodies as they are: it would copy them into a buffer that it keeps.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A head is always the first slice.
        if let Some(status) = slices.first().and_then(|head| made_by_hyper(head)) {
            self.refused = Some(status);
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let written = ready!(Pin::new(&mut self.socket).poll_write_vectored(cx, slices));
        self.activity.sent();
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.refused {
            Some(_) => Poll::Ready(Ok(())),
            None => Pin::new(&mut self.socket).poll_shutdown(cx),
        }
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
