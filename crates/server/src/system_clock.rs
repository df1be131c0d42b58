//! The one place that asks the system for the time.

use chrono::SubsecRound as _;
use lendpay_api::Clock;
use lendpay_domain::Timestamp;

/// The system's clock, in microseconds: what every store can keep.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Timestamp {
        chrono::Utc::now().trunc_subsecs(6)
    }
}
