//! A socket of HTTP/2 that knows what passes through it: whether a request's head is incomplete, and whether the client
//! takes answers. Neither is to be learned from hyper.

use super::activity::Activity;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// RFC 9113: the connection preface of a client (3.4), and of frames (4.1, 6.1, 6.2, 6.10) what is needed here.
const PREFACE: usize = 24;
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// Follows the frames of one direction.
#[derive(Debug)]
struct Frames {
    header: [u8; HEADER],
    filled: usize,
    /// Bytes of the payload that are still to come; at first, of the preface.
    left: usize,
    /// Whether a head has begun and is not complete.
    in_head: bool,
}

/// What was among some bytes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Passed {
    data: bool,
    end_of_head: bool,
}

impl Frames {
    const fn after(preface: usize) -> Self {
        // A frame of no kind.
        Self { header: [u8::MAX; HEADER], filled: 0, left: preface, in_head: false }
    }

    fn pass(&mut self, mut bytes: &[u8]) -> Passed {
        let mut passed = Passed::default();
        while !bytes.is_empty() {
            if self.left > 0 {
                let length = self.left.min(bytes.len());
                bytes = &bytes[length..];
                self.left -= length;
                passed.data |= self.header[3] == DATA;
            } else {
                let length = (HEADER - self.filled).min(bytes.len());
                self.header[self.filled..][..length].copy_from_slice(&bytes[..length]);
                bytes = &bytes[length..];
                self.filled += length;
                if self.filled < HEADER {
                    break;
                }
                self.filled = 0;
                let [a, b, c, kind, ..] = self.header;
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                self.in_head |= kind == HEADERS;
            }
            let [.., kind, flags, _, _, _, _] = self.header;
            if self.left == 0 && matches!(kind, HEADERS | CONTINUATION) && flags & END_HEADERS != 0 && self.filled == 0
            {
                passed.end_of_head |= self.in_head;
                self.in_head = false;
            }
        }
        passed
    }
}

/// The socket.
pub struct FramedSocket<S> {
    socket: S,
    activity: Arc<Activity>,
    read: Frames,
    written: Frames,
}

impl<S> FramedSocket<S> {
    pub fn new(socket: S, activity: Arc<Activity>) -> Self {
        Self { socket, activity, read: Frames::after(PREFACE), written: Frames::after(0) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FramedSocket<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.socket).poll_read(cx, buffer);
        let bytes = &buffer.filled()[before..];
        if !bytes.is_empty() {
            let passed = this.read.pass(bytes);
            this.activity.received_frames(passed.end_of_head, this.read.in_head);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FramedSocket<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.socket).poll_write_vectored(cx, slices);
        if let Poll::Ready(Ok(mut written)) = polled {
            let mut data = false;
            for slice in slices {
                let length = written.min(slice.len());
                data |= this.written.pass(&slice[..length]).data;
                written -= length;
            }
            // Pings and the like say nothing about the answers.
            if data {
                this.activity.sent();
            }
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
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

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    #[test]
    fn frames_are_followed_however_they_are_cut() {
        let bytes = [
            vec![b'P'; PREFACE],
            frame(4, 0, b""),
            frame(DATA, 0, b""),
            frame(HEADERS, 0, b"one"),
            frame(CONTINUATION, END_HEADERS, b""),
            frame(DATA, 0, b"two"),
            frame(HEADERS, END_HEADERS, b"three"),
        ]
        .concat();
        for size in [1, 2, 7, bytes.len()] {
            let mut frames = Frames::after(PREFACE);
            let passed: Vec<_> = bytes.chunks(size).map(|chunk| frames.pass(chunk)).collect();
            assert!(passed.iter().any(|passed| passed.data), "{size}");
            let ends = passed.iter().filter(|passed| passed.end_of_head).count();
            assert_eq!(ends, if size == bytes.len() { 1 } else { 2 }, "{size}");
            assert!(!frames.in_head, "{size}");
        }
    }

    #[test]
    fn a_head_is_incomplete_until_the_last_byte_of_its_last_frame() {
        let mut frames = Frames::after(0);
        assert_eq!(frames.pass(&frame(HEADERS, 0, b"head")), Passed::default());
        assert!(frames.in_head);
        let rest = frame(CONTINUATION, END_HEADERS, b"rest");
        let (most, last) = rest.split_at(rest.len() - 1);
        assert_eq!(frames.pass(most), Passed::default());
        assert!(frames.in_head);
        assert_eq!(frames.pass(last), Passed { data: false, end_of_head: true });
        assert!(!frames.in_head);
    }
}
