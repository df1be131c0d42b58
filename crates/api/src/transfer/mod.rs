//! The file that `lendpay export` writes and `lendpay import` reads: every kind of store as the same lines of JSON.
//!
//! # The format, version 1
//!
//! UTF-8, one JSON object a line, each with one member, whose name says what the line is.
//!
//! | line | holds |
//! |---|---|
//! | `export` | the first: `format`, `createdAt`, `program` |
//! | `partner` | `sequence`, `id`, `name`, `oauthClientId`, `createdAt`; the same id again is a change |
//! | `key` | `sequence`, `id`, `partnerId`, `hash`, `name`, `areas`, `createdAt`, `expiresAt`, `revokedAt`; the same again is a change |
//! | `application` | `sequence`, `id`, `partnerId` |
//! | `offer` | an offer is created: `event`, `applicationId`, `offerId`, `terms` |
//! | `terms` | an offer that is Offered gets new terms: `sequence`, `applicationId`, `offerId`, `terms` |
//! | `move` | an offer reaches another status: `event`, `applicationId`, `offerId`, `status` |
//! | `buyer` | a buyer is created: `event`, `buyerId`, `description`, `fingerprint` |
//! | `keyUse` | when a key was last used: `hash`, `at` |
//! | `end` | the last: the number of `records` of each kind, and the `sha256` of all lines between the first and this one |
//!
//! A line refers only to what is above it. An `event` is `sequence`, `id`, `occurredAt`, `partnerId`, `actor`, `operationId`;
//! sequences grow from line to line. Other changes have a sequence in stores that number them, else null. `hash` is the SHA-256
//! of a key in hex; the key itself is nowhere. Rates and amounts are decimal digits as strings, times RFC 3339 to the
//! nanosecond. A file without its last line is not whole. It holds bank details: keep it as you would keep those.

#[cfg(test)]
mod fuzz;
mod lines;
mod read;
mod records;
#[cfg(test)]
mod tests;

pub use lines::Lines;
pub use read::{Checked, Problem, Reader, check};

/// The version of the format.
const FORMAT: u32 = 1;

/// The kinds of records, in the order of the last line.
const KINDS: [&str; 8] = ["partner", "key", "application", "offer", "terms", "move", "buyer", "keyUse"];

/// How many records there are of each kind.
type Counts = [u64; KINDS.len()];

fn counted(counts: &Counts) -> std::collections::BTreeMap<String, u64> {
    KINDS.iter().map(|kind| (*kind).to_owned()).zip(*counts).collect()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
