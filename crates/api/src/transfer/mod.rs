//! The file that `lendpay export` writes and `lendpay import` reads: every kind of store as the same lines of JSON.
//!
//! # The format, version 2
//!
//! UTF-8, one JSON object a line, each with one member, whose name says what the line is.
//!
//! | line | a record of | holds, besides `sequence` and `cause` |
//! |---|---|---|
//! | `export` | the header: the first line | `format`, `createdAt`, `program`, `history` |
//! | `partner` | a partner that is created or changed | `id`, `name`, `oauthClientId`, `createdAt` |
//! | `key` | a key that is added | `id`, `partnerId`, `hash`, `name`, `areas`, `access` (absent: `full`), `createdAt`, `expiresAt`, `revokedAt` |
//! | `keyRevoked` | a key that is revoked | `partnerId`, `keyId`, `at` |
//! | `keyExpiry` | a key that gets an earlier expiry | `partnerId`, `keyId`, `at` |
//! | `keyUsed` | the last use of a key | `hash`, `at` |
//! | `application` | an application | `id`, `partnerId` |
//! | `offer` | an offer that is created | `partnerId`, `applicationId`, `offerId`, `terms`, `at` |
//! | `terms` | an offer that is Offered and gets new terms | `partnerId`, `applicationId`, `offerId`, `terms`, and the terms `before` (absent: not known) |
//! | `move` | an offer that reaches another status | `partnerId`, `applicationId`, `offerId`, `status`, `at` |
//! | `buyer` | a buyer that is created | `partnerId`, `buyerId`, `description`, `fingerprint`, `at` |
//! | `webhook` | an endpoint of webhooks that is added, changed or deleted | `step` (the type of its event), `endpoint`: `id`, `partnerId` (null: the lender's), `url`, `types`, `inFlight`, `state`, `reason`, `createdAt` |
//! | `deliveries` | how far deliveries have come | `endpoints`: of each `endpointId`, `generation`, `cursor`, `lastSuccessAt`, and what is set `aside` and no more (`done`) since the line before |
//! | `end` | the last line | the number of `records` of each kind, and the `sha256` of all lines between the first and this one |
//! | `error` | the last line of an export that could not go on, in place of `end` | the `reason` |
//!
//! A line refers only to what is above it. `sequence` grows from line to line; it is null where a record has none.
//! `cause` is
//! `id`, `occurredAt`, `actor`, `operationId`, the first two those of the event; it is null for `keyUsed`, for `deliveries` and
//! for what format 1 had without it. `actor` has the name of an operator that has one. `history` is the id of the
//! history that the sequences belong to, or null. `hash` is the SHA-256 of a key in hex; the key itself is not in the
//! file, nor are secrets of endpoints: an endpoint without one is paused. Rates and amounts are decimal digits as
//! strings, times RFC 3339 to the nanosecond. A file without its last line is not complete. It holds bank details:
//! protect it as you would protect those.
//!
//! Files that were written before there was a kind of line (`keyExpiry`, `webhook`, `deliveries`) are read
//! too: they do not count it.
//!
//! Format 1 is read too: `format_1` says what differs.

mod format_1;
#[cfg(test)]
mod fuzz;
mod lines;
mod read;
mod records;
#[cfg(test)]
mod tests;
mod values;
mod webhooks;

pub use lines::Lines;
pub use read::{Checked, Problem, Reader, check};

use records::Line;

/// The version of the format that is written.
const FORMAT: u32 = 2;

/// How many records there are of each kind.
type Counts = std::collections::BTreeMap<String, u64>;

fn no_records() -> Counts {
    Line::KINDS.iter().map(|kind| ((*kind).to_owned(), 0)).collect()
}
