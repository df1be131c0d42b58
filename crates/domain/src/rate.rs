//! How often a partner may call (contract 2.11), and the port to requests that processes share.

use crate::PartnerId;
use crate::store::Answer;
use std::fmt;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::str::FromStr;
use std::time::Duration;

/// So many requests in so much time. A caller may use all of them at once; they come back evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// How many.
    pub requests: NonZeroU32,
    /// In how many seconds all of them come back.
    pub seconds: NonZeroU32,
}

impl RateLimit {
    /// The contract's: 2000 requests in 300 s.
    pub const DEFAULT: Self = Self {
        requests: NonZeroU32::new(2_000).expect("more than none"),
        seconds: NonZeroU32::new(300).expect("more than none"),
    };

    /// In which one request comes back.
    pub fn period(self) -> Duration {
        Duration::from_secs(self.seconds.get().into()) / self.requests.get()
    }

    /// How many requests are left when all of them are back after `full_in`.
    pub fn left(self, full_in: Duration) -> u32 {
        let used = full_in.as_nanos().div_ceil(self.period().as_nanos());
        self.requests.get().saturating_sub(u32::try_from(used).unwrap_or(u32::MAX))
    }

    /// How long it takes until one is left.
    pub fn wait(self, full_in: Duration) -> Duration {
        full_in.saturating_sub(self.period() * (self.requests.get() - 1))
    }
}

/// Why a text is no rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRateLimit;

impl fmt::Display for BadRateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write requests/seconds, for example 2000/300s")
    }
}

impl std::error::Error for BadRateLimit {}

impl FromStr for RateLimit {
    type Err = BadRateLimit;

    fn from_str(text: &str) -> Result<Self, BadRateLimit> {
        let (requests, time) = text.split_once('/').ok_or(BadRateLimit)?;
        let number = |text: &str| -> Result<NonZeroU32, BadRateLimit> { text.parse().map_err(|_| BadRateLimit) };
        let limit = Self { requests: number(requests)?, seconds: number(time.strip_suffix('s').ok_or(BadRateLimit)?)? };
        if limit.period().is_zero() { Err(BadRateLimit) } else { Ok(limit) }
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}s", self.requests, self.seconds)
    }
}

/// Requests that a process may let in, taken from those that all processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// How many: no more than were asked for, and none if none is left.
    pub granted: u32,
    /// When all that the processes share are back, if nobody takes more.
    pub full_in: Duration,
}

/// A lease that is asked for.
pub type Leasing<'a> = Pin<Box<dyn Future<Output = Answer<Lease>> + Send + 'a>>;

/// Where processes of one service lease requests of partners.
pub trait Leases: Send + Sync + 'static {
    /// Takes up to `want` requests of a partner. They are used up then, whether the process lets them in or not; if the
    /// answer is lost they are lost too. After a failure of the store all requests may be back at once.
    fn lease(&self, partner: PartnerId, limit: RateLimit, want: u32) -> Leasing<'_>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> RateLimit {
        text.parse().expect("a limit")
    }

    #[test]
    fn a_limit_is_written_as_requests_and_seconds() {
        assert_eq!(limit("2000/300s"), RateLimit::DEFAULT);
        assert_eq!(RateLimit::DEFAULT.to_string(), "2000/300s");
        for bad in ["", "2000", "0/1s", "1/0s", "-1/1s", "2000/300", "2000/5m", "1/1s/1s", "4294967295/1s "] {
            assert_eq!(bad.parse::<RateLimit>(), Err(BadRateLimit), "{bad:?}");
        }
        assert_eq!("4294967295/1s".parse::<RateLimit>(), Err(BadRateLimit), "less than a nanosecond each");
    }

    #[test]
    fn what_is_left_follows_from_the_time_until_all_are_back() {
        let of = limit("3/30s");
        let millis = Duration::from_millis;
        for (full_in, left, wait) in [
            (0, 3, 0),
            (1, 2, 0),
            (10_000, 2, 0),
            (10_001, 1, 0),
            (20_000, 1, 0),
            (20_001, 0, 1),
            (30_000, 0, 10_000),
            (60_000, 0, 40_000),
        ] {
            assert_eq!((of.left(millis(full_in)), of.wait(millis(full_in))), (left, millis(wait)), "{full_in} ms");
        }
    }
}
