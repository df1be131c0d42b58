//! The body of an answer, on its way to the client.

use super::slots::Slot;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A body whose bytes count as held for the client until hyper is done with them.
pub struct Answer {
    pub body: BoxBody<Bytes, io::Error>,
    pub slot: Arc<Slot>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        polled.map_ok(|frame| frame.map_data(|bytes| self.slot.hold(bytes)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
