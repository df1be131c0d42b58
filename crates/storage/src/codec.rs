//! How a record becomes bytes: its postcard form and a CRC-32C of that (little-endian).
//!
//! The version of the format is that of the file or table that holds the bytes.

use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};

/// The longest sealed record: a buyer with as much text as may be imported, and its ids.
pub(crate) const LONGEST: usize = lendpay_domain::import::TEXT_LIMIT + 1024;

const CRC: usize = 4;

/// Why a record cannot be written or read. Says nothing of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CodecError {
    #[error("the record is longer than the store keeps")]
    TooLong,
    #[error("the record is damaged")]
    Damaged,
}

/// Appends a record to a buffer and returns how many bytes that took. After an error the buffer is as it was.
pub(crate) fn seal<T: Serialize>(record: &T, buffer: &mut Vec<u8>) -> Result<usize, CodecError> {
    let start = buffer.len();
    postcard::serialize_with_flavor(record, Buffer(buffer))
        .expect("records hold no sequences of unknown length, and a Vec takes every byte");
    let length = buffer.len() - start + CRC;
    if length > LONGEST {
        buffer.truncate(start);
        return Err(CodecError::TooLong);
    }
    let crc = crc32c::crc32c(&buffer[start..]);
    buffer.extend_from_slice(&crc.to_le_bytes());
    Ok(length)
}

/// Reads a record from the start of `bytes` and gives what follows it.
pub(crate) fn take<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), CodecError> {
    let (record, rest) = postcard::take_from_bytes(bytes).map_err(|_| CodecError::Damaged)?;
    let body = &bytes[..bytes.len() - rest.len()];
    let (crc, rest) = rest.split_first_chunk::<CRC>().ok_or(CodecError::Damaged)?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
        return Err(CodecError::Damaged);
    }
    Ok((record, rest))
}

/// Reads a record; nothing may follow it.
pub(crate) fn unseal<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, CodecError> {
    match take(bytes)? {
        (record, []) => Ok(record),
        (_, [_, ..]) => Err(CodecError::Damaged),
    }
}

/// Lets postcard write after what a buffer already holds.
struct Buffer<'a>(&'a mut Vec<u8>);

impl Flavor for Buffer<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
