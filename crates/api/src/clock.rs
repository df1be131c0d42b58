//! The clock, which tests replace.

use lendpay_domain::Timestamp;

/// Tells the time. Read once for each request; commands carry it.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}
