//! Time, as the one thing that tests must be able to hold still.

use lendpay_domain::Timestamp;

/// Tells the time. Asked once for each request; the answer travels in the command.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}
