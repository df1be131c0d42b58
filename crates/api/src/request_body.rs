//! Reading a request's body within bounds, once its caller is known.

use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use futures_util::FutureExt as _;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use poem::Body;
use std::io;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most bytes that a body may have, but for that of a batch.
pub(crate) const BODY: usize = 64 * 1024;

/// How much of a body that nobody wants is read and thrown away.
const DISCARDED: usize = 1024 * 1024;

type Bytes = BoxBody<bytes::Bytes, io::Error>;

/// A request's body, which an operation reads after it has checked the caller.
pub(crate) struct RequestBody {
    state: Mutex<State>,
    /// The most bytes that it may have.
    limit: usize,
}

enum State {
    Unread(Bytes),
    /// It is being read, or whoever read it gave up.
    Reading,
    Read,
}

/// The length of a body, as far as it is known before it is read.
fn known_length(body: &impl BodyExt) -> u64 {
    body.size_hint().lower()
}

impl RequestBody {
    pub fn new(body: Body, limit: usize) -> Self {
        let state = Mutex::new(if body.is_empty() { State::Read } else { State::Unread(body.into()) });
        Self { state, limit }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Bytes> {
        let mut state = self.state();
        match mem::replace(&mut *state, State::Reading) {
            State::Unread(body) => Some(body),
            other => {
                *state = other;
                None
            }
        }
    }

    /// Whether nobody has asked for it.
    pub fn is_unread(&self) -> bool {
        matches!(*self.state(), State::Unread(_))
    }

    /// Fails if the body says itself that it is too long.
    pub fn check_known_length(&self) -> Result<(), Failure> {
        match &*self.state() {
            State::Unread(body) if known_length(body) > self.limit as u64 => Err(self.too_large()),
            _ => Ok(()),
        }
    }

    fn too_large(&self) -> Failure {
        if self.limit == BODY { Failure::TooLarge } else { OperatorFailure::BatchTooLarge.into() }
    }

    /// Reads the whole body; nothing if it was read before.
    pub async fn read(&self) -> Result<Vec<u8>, Failure> {
        let Some(mut body) = self.take() else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Failure::BadRequest)?.into_data() else { continue };
            if bytes.len() + data.len() > self.limit {
                *self.state() = State::Unread(body);
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&data);
        }
        *self.state() = State::Read;
        Ok(bytes)
    }

    /// Throws away what has arrived of a body that nobody has read, without waiting for more. True if that was all of
    /// it, so that the connection can be used again.
    pub async fn discard(&self) -> bool {
        let Some(mut body) = self.take() else { return matches!(*self.state(), State::Read) };
        let (mut discarded, mut waited) = (0, false);
        while discarded <= DISCARDED {
            match body.frame().now_or_never() {
                Some(None) => return true,
                Some(Some(Err(_))) => return false,
                Some(Some(Ok(frame))) => {
                    discarded += frame.data_ref().map_or(0, bytes::Bytes::len);
                    waited = false;
                }
                // The connection gets to hand over what it has.
                None if !waited => {
                    tokio::task::yield_now().await;
                    waited = true;
                }
                None => return false,
            }
        }
        false
    }
}
