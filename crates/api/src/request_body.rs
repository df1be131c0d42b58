//! Reading a request's body within bounds.

use crate::failure::Failure;
use futures_util::StreamExt as _;
use poem::Body;
use std::pin::pin;

/// The most bytes that a body may have.
pub(crate) const LIMIT: usize = 64 * 1024;

/// How much of a body that is too long is read and thrown away, so that the client gets to read the answer.
const DRAIN: usize = 1024 * 1024;

/// Reads the whole body.
pub(crate) async fn read(body: Body) -> Result<Vec<u8>, Failure> {
    if body.is_empty() {
        return Ok(Vec::new());
    }
    let mut stream = pin!(body.into_bytes_stream());
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Failure::BadRequest)?;
        length += chunk.len();
        if length <= LIMIT {
            bytes.extend_from_slice(&chunk);
        } else if length > DRAIN {
            break;
        }
    }
    if length > LIMIT { Err(Failure::TooLarge) } else { Ok(bytes) }
}
