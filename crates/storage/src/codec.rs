//! How a value is framed: one version byte, a postcard body, a CRC-32C of both (little-endian).
//!
//! The embedded store checks its own pages, but only when it reads them from disk; the checksum here also finds what goes
//! wrong above it, and lets a damaged value be told from a strange one.

use postcard::ser_flavors::Flavor;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The version of every record in this crate. A new one is read by code that knows both.
pub(crate) const VERSION: u8 = 1;

/// The longest value of a record. A leaf of the embedded store holds up to 17 values and must stay far from the size at which
/// it would move to a file of its own, which is never synced (see `sled::open`).
pub(crate) const MAX_VALUE: usize = 100 * 1024;

/// The longest value of the log: one command with the longest record, and its ids.
pub(crate) const MAX_LOG_VALUE: usize = MAX_VALUE + 1024;

const CRC: usize = 4;

/// Why a value cannot be written or read. Says nothing of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CodecError {
    #[error("the value is longer than the store keeps")]
    TooLong,
    #[error("the value has version {0}, which this program does not know")]
    Version(u8),
    #[error("the value is damaged")]
    Damaged,
}

/// Frames `record` into `buffer`, whose allocation is used again.
pub(crate) fn seal<T: Serialize>(record: &T, buffer: &mut Vec<u8>) -> Result<(), CodecError> {
    begin(buffer);
    append(record, buffer)?;
    finish(buffer, MAX_VALUE)
}

/// Starts a frame that is filled by [`append`] and ended by [`finish`].
pub(crate) fn begin(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.push(VERSION);
}

/// Adds the bytes of `part` to a buffer.
pub(crate) fn append<T: Serialize>(part: &T, buffer: &mut Vec<u8>) -> Result<(), CodecError> {
    // Postcard fails only for shapes that records do not have, such as sequences of unknown length.
    postcard::serialize_with_flavor(part, Buffer(buffer)).map_err(|_| CodecError::TooLong)
}

/// Ends a frame.
pub(crate) fn finish(buffer: &mut Vec<u8>, longest: usize) -> Result<(), CodecError> {
    if buffer.len() + CRC > longest {
        return Err(CodecError::TooLong);
    }
    let crc = crc32c::crc32c(buffer);
    buffer.extend_from_slice(&crc.to_le_bytes());
    Ok(())
}

/// Checks a frame and gives its body.
pub(crate) fn open(value: &[u8]) -> Result<&[u8], CodecError> {
    let (framed, crc) = value.split_last_chunk::<CRC>().ok_or(CodecError::Damaged)?;
    let (&version, body) = framed.split_first().ok_or(CodecError::Damaged)?;
    // The checksum comes first: a flipped bit in the version is damage, not a version.
    if crc32c::crc32c(framed) != u32::from_le_bytes(*crc) {
        return Err(CodecError::Damaged);
    }
    if version != VERSION {
        return Err(CodecError::Version(version));
    }
    Ok(body)
}

/// Reads one part of a body and gives what follows it.
pub(crate) fn take<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<(T, &'a [u8]), CodecError> {
    postcard::take_from_bytes(body).map_err(|_| CodecError::Damaged)
}

/// Reads a whole body; nothing may follow.
pub(crate) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, CodecError> {
    match take(body)? {
        (record, []) => Ok(record),
        (_, [_, ..]) => Err(CodecError::Damaged),
    }
}

/// Checks a frame and reads its whole body.
pub(crate) fn unseal<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Result<T, CodecError> {
    read(open(value)?)
}

/// Lets postcard write behind what a buffer already holds.
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

/// Bytes that are read without a copy and written as one run; serde alone takes a slice byte by byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = &'de [u8];

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_bytes(Borrowed).map(Bytes)
    }
}
