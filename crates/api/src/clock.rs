//! The clock, which tests and the sandbox replace.

use lendpay_domain::Timestamp;
use std::time::Duration;

/// Tells the time. Read once for each request; commands carry it.
pub trait Clock: Send + Sync + 'static {
    /// The present moment, by which offers and keys expire and changes are dated.
    fn now(&self) -> Timestamp;

    /// How far `now` is ahead of the system's time: more than nothing only in a sandbox whose clock was moved.
    fn ahead(&self) -> Duration {
        Duration::ZERO
    }
}
