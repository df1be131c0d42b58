//! The clock of a sandbox.

use crate::system_clock::SystemClock;
use lendpay_api::Clock;
use lendpay_domain::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The system's clock, and how many seconds this one is ahead of it. The service asks it for the time of each request;
/// time limits, rate limits and the log have the system's time.
#[derive(Debug, Default)]
pub struct SandboxClock(AtomicU64);

impl SandboxClock {
    pub fn set_ahead(&self, ahead: Duration) {
        self.0.store(ahead.as_secs(), Ordering::Relaxed);
    }
}

impl Clock for SandboxClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.ahead()
    }

    fn ahead(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}
