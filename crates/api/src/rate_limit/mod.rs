//! How often partners may call, and how often an address may fail to authenticate (contract 2.11).

mod shared;

use crate::failure::Failure;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::{StateInformationMiddleware, StateSnapshot};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use lendpay_domain::PartnerId;
use lendpay_domain::rate::{Leases, RateLimit};
use poem::http::HeaderValue;
use shared::Shared;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// What one address may fail to authenticate: enough for a client that has been given the wrong key, and no way to
/// guess.
pub(crate) const FAILURES: RateLimit = RateLimit {
    requests: NonZeroU32::new(1_000).expect("more than none"),
    seconds: NonZeroU32::new(300).expect("more than none"),
};

/// How many addresses are remembered before those that have nothing to answer for are forgotten.
const ADDRESSES: usize = 10_000;

type Keyed<K> = RateLimiter<K, HashMapStateStore<K>, DefaultClock, StateInformationMiddleware>;

fn keyed<K: Hash + Eq + Clone>(limit: RateLimit) -> Keyed<K> {
    let quota = Quota::with_period(limit.period()).expect("a period of nothing is refused when a limit is read");
    RateLimiter::hashmap(quota.allow_burst(limit.requests)).with_middleware()
}

/// Asks for one request. The error is how long to wait.
fn ask<K: Hash + Eq + Clone>(limiter: &Keyed<K>, key: &K) -> Result<StateSnapshot, Duration> {
    limiter.check_key(key).map_err(|until| until.wait_time_from(DefaultClock::default().now()))
}

fn too_many(wait: Duration) -> Failure {
    Failure::RateLimited(whole_seconds(wait).max(1))
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

/// What is left after a request that is let in; how long to wait otherwise.
type Counted = Result<u32, Duration>;

/// The limit of a partner's requests.
pub(crate) struct Limiter {
    limit: RateLimit,
    policy: HeaderValue,
    partners: Partners,
    pub failures: Failures,
}

/// Where requests of partners are counted.
enum Partners {
    /// In this process.
    Here(Keyed<PartnerId>),
    /// In the store, for all processes.
    Shared(Shared),
}

impl Limiter {
    /// With `leases` the limit holds for all processes that share them.
    pub fn new(limit: RateLimit, leases: Option<Arc<dyn Leases>>) -> Self {
        let policy = format!("\"partner\";q={};w={}", limit.requests, limit.seconds);
        let policy = policy.try_into().expect("digits and ASCII");
        let partners =
            leases.map_or_else(|| Partners::Here(keyed(limit)), |leases| Partners::Shared(Shared::new(limit, leases)));
        Self { limit, policy, partners, failures: Failures::default() }
    }

    /// Takes a request of a partner into account; says what is left, and refuses when that was nothing.
    pub async fn count(&self, partner: PartnerId) -> Result<(Allowance, Result<(), Failure>), Failure> {
        let counted = match &self.partners {
            Partners::Here(partners) => ask(partners, &partner).map(|state| state.remaining_burst_capacity()),
            Partners::Shared(partners) => partners.count(partner).await?,
        };
        let remaining = counted.unwrap_or(0).min(self.limit.requests.get());
        let used = self.limit.requests.get() - remaining;
        let allowance = Allowance { remaining, reset: self.limit.period() * used, policy: self.policy.clone() };
        Ok((allowance, counted.map(drop).map_err(too_many)))
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
        ask(&self.0, &network(address)).map(drop).map_err(too_many)
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

    #[tokio::test]
    async fn each_partner_has_its_own_requests() {
        let limiter = Limiter::new(limit("2/3600s"), None);
        let [a, b] = [1, 2].map(|n| PartnerId::from_bytes([n; 16]));
        let count = async |partner| {
            let (allowance, verdict) = limiter.count(partner).await.expect("nothing fails");
            (allowance.header().to_str().expect("ASCII").to_owned(), verdict)
        };
        assert_eq!(count(a).await, ("\"partner\";r=1;t=1800".to_owned(), Ok(())));
        assert_eq!(count(a).await, ("\"partner\";r=0;t=3600".to_owned(), Ok(())));
        let (header, verdict) = count(a).await;
        assert_eq!(header, "\"partner\";r=0;t=3600");
        assert!(matches!(verdict, Err(Failure::RateLimited(1_790..=1_800))), "{verdict:?}");
        assert_eq!(count(b).await.1, Ok(()));
        let (allowance, _) = limiter.count(b).await.expect("nothing fails");
        assert_eq!(allowance.policy(), "\"partner\";q=2;w=3600");
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
