//! What passes through a socket of HTTP/2: whether a request's head is incomplete, and whether the client
//! takes answers. Neither is to be learned from hyper.

use super::activity::Activity;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::{InspectReader, InspectWriter};

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

/// A socket that tells what passes.
pub fn watch<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    activity: Arc<Activity>,
) -> impl AsyncRead + AsyncWrite + Unpin {
    let (mut read, mut written, sending) = (Frames::after(PREFACE), Frames::after(0), Arc::clone(&activity));
    let socket = InspectWriter::new(socket, move |bytes| {
        // Pings and the like say nothing about the answers.
        if written.pass(bytes).data {
            sending.sent();
        }
    });
    InspectReader::new(socket, move |bytes| {
        let ended = read.pass(bytes).end_of_head;
        activity.received_frames(ended, read.in_head);
    })
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
