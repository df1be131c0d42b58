//! How often partners may call, and how often an address may fail to authenticate (contract 2.11).

use crate::failure::Failure;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::{StateInformationMiddleware, StateSnapshot};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use lendpay_domain::PartnerId;
use poem::http::HeaderValue;
use std::fmt;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// So many requests in so much time. A caller may use all of them at once; they come back evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    requests: NonZeroU32,
    seconds: NonZeroU32,
}

/// What one address may fail to authenticate: enough for a client that has been given the wrong key, and no way to
/// guess.
pub(crate) const FAILURES: RateLimit = RateLimit {
    requests: NonZeroU32::new(1_000).expect("more than none"),
    seconds: NonZeroU32::new(300).expect("more than none"),
};

/// How many addresses are remembered before those that have nothing to answer for are forgotten.
const ADDRESSES: usize = 10_000;

impl RateLimit {
    /// The contract's: 2000 requests in 300 s.
    pub const DEFAULT: Self = Self {
        requests: NonZeroU32::new(2_000).expect("more than none"),
        seconds: NonZeroU32::new(300).expect("more than none"),
    };

    /// In which one request comes back.
    fn period(self) -> Duration {
        Duration::from_secs(self.seconds.get().into()) / self.requests.get()
    }

    fn quota(self) -> Quota {
        let quota = Quota::with_period(self.period()).expect("a period of nothing is refused when a limit is read");
        quota.allow_burst(self.requests)
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

type Keyed<K> = RateLimiter<K, HashMapStateStore<K>, DefaultClock, StateInformationMiddleware>;

fn keyed<K: Hash + Eq + Clone>(limit: RateLimit) -> Keyed<K> {
    RateLimiter::hashmap(limit.quota()).with_middleware()
}

/// Asks for one request. The error is how long to wait.
fn ask<K: Hash + Eq + Clone>(limiter: &Keyed<K>, key: &K) -> Result<StateSnapshot, Duration> {
    limiter.check_key(key).map_err(|until| until.wait_time_from(DefaultClock::default().now()))
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// What a partner has left; two headers (draft-ietf-httpapi-ratelimit-headers-10).
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    remaining: u32,
    /// Until everything is back.
    reset: Duration,
    policy: HeaderValue,
}

impl Allowance {
    /// `RateLimit`: requests that are left, seconds until all are.
    pub fn header(&self) -> HeaderValue {
        let left = format!("\"partner\";r={};t={}", self.remaining, whole_seconds(self.reset));
        left.try_into().expect("digits and ASCII")
    }

    /// `RateLimit-Policy`: the quota and its window in seconds.
    pub fn policy(&self) -> HeaderValue {
        self.policy.clone()
    }
}

/// The limit of a partner's requests.
pub(crate) struct Limiter {
    limit: RateLimit,
    policy: HeaderValue,
    partners: Keyed<PartnerId>,
    pub failures: Failures,
}

impl Limiter {
    pub fn new(limit: RateLimit) -> Self {
        let policy = format!("\"partner\";q={};w={}", limit.requests, limit.seconds);
        let policy = policy.try_into().expect("digits and ASCII");
        Self { limit, policy, partners: keyed(limit), failures: Failures::default() }
    }

    /// Takes a request of a partner into account; says what is left, and refuses when that was nothing.
    pub fn count(&self, partner: PartnerId) -> (Allowance, Result<(), Failure>) {
        let (remaining, wait) = match ask(&self.partners, &partner) {
            Ok(state) => (state.remaining_burst_capacity(), None),
            Err(wait) => (0, Some(wait)),
        };
        let used = self.limit.requests.get() - remaining.min(self.limit.requests.get());
        let allowance = Allowance { remaining, reset: self.limit.period() * used, policy: self.policy.clone() };
        let verdict = wait.map_or(Ok(()), |wait| Err(Failure::RateLimited(whole_seconds(wait).max(1))));
        (allowance, verdict)
    }
}

/// The limit of an address's failed authentications.
pub(crate) struct Failures(Keyed<IpAddr>);

impl Default for Failures {
    fn default() -> Self {
        Self(keyed(FAILURES))
    }
}

impl Failures {
    /// Counts a failed authentication of an address, if it is known; refuses when there were too many. Only failures
    /// are refused: whoever shares the address and has a key is not locked out.
    pub fn count(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        let Some(address) = address else { return Ok(()) };
        if self.0.len() >= ADDRESSES {
            self.0.retain_recent();
        }
        ask(&self.0, &network(address)).map(drop).map_err(|wait| Failure::RateLimited(whole_seconds(wait).max(1)))
    }
}

/// The address that limits count: whoever has one IPv6 address has 2^64.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
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
    fn each_partner_has_its_own_requests() {
        let limiter = Limiter::new(limit("2/3600s"));
        let [a, b] = [1, 2].map(|n| PartnerId::from_bytes([n; 16]));
        let count = |partner| {
            let (allowance, verdict) = limiter.count(partner);
            (allowance.header().to_str().expect("ASCII").to_owned(), verdict)
        };
        assert_eq!(count(a), ("\"partner\";r=1;t=1800".to_owned(), Ok(())));
        assert_eq!(count(a), ("\"partner\";r=0;t=3600".to_owned(), Ok(())));
        let (header, verdict) = count(a);
        assert_eq!(header, "\"partner\";r=0;t=3600");
        assert!(matches!(verdict, Err(Failure::RateLimited(1_790..=1_800))), "{verdict:?}");
        assert_eq!(count(b).1, Ok(()));
        assert_eq!(limiter.count(b).0.policy(), "\"partner\";q=2;w=3600");
    }

    #[test]
    fn failures_count_for_an_address_or_an_ipv6_network() {
        let failures = Failures::default();
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        for _ in 0..1_000 {
            assert_eq!(failures.count(Some(address("2001:db8::1"))), Ok(()));
        }
        assert!(matches!(failures.count(Some(address("2001:db8::2"))), Err(Failure::RateLimited(1))));
        assert_eq!(failures.count(Some(address("2001:db8:0:1::1"))), Ok(()));
        assert_eq!(failures.count(Some(address("192.0.2.1"))), Ok(()));
        assert_eq!(network(address("::ffff:192.0.2.1")), address("192.0.2.1"));
    }
}
