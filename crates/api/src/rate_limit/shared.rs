//! A limit that several processes keep together: each lets in what it has leased from what all of them share.
//!
//! A process leases a [`PART`] of the limit at a time, and the next one while it has some of the last, so that a
//! request waits for a lease only if it is the first, or if almost nothing is left. What a process has leased and not
//! used is all that a partner can get over its limit.

use super::Counted;
use crate::failure::Failure;
use lendpay_domain::PartnerId;
use lendpay_domain::rate::{Lease, Leases, RateLimit};
use lendpay_domain::store::StoreError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Which part of the limit is leased at a time.
const PART: u32 = 64;

/// How long no lease is asked for at least, when there was less than was asked for.
const REST: Duration = Duration::from_millis(10);

/// How long no lease is asked for after a failure.
const REST_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The requests of all partners.
pub(super) struct Shared {
    limit: RateLimit,
    leases: Arc<dyn Leases>,
    partners: Mutex<HashMap<PartnerId, Arc<Partner>>>,
}

/// The requests of a partner.
struct Partner {
    id: PartnerId,
    limit: RateLimit,
    leases: Arc<dyn Leases>,
    state: Mutex<State>,
    /// Held by whoever asks for a lease.
    asks: Arc<tokio::sync::Mutex<()>>,
}

/// What is known of them.
#[derive(Default)]
struct State {
    /// Leased, and not used yet.
    held: u32,
    /// When all that the processes share were back, as of the last lease.
    full_at: Option<Instant>,
    /// Until when no lease is asked for, and why.
    rests: Option<(Instant, Result<(), StoreError>)>,
}

impl State {
    /// Whether a request can be counted with what is known.
    fn is_enough(&self, now: Instant) -> bool {
        self.held > 0 || self.rests(now).is_some()
    }

    /// Until when no lease is asked for, and why.
    fn rests(&self, now: Instant) -> Option<(Instant, Result<(), StoreError>)> {
        self.rests.filter(|(until, _)| *until > now)
    }

    /// Lets a request in or refuses it, if what is known is enough for that.
    fn count(&mut self, limit: RateLimit, now: Instant) -> Option<Result<Counted, StoreError>> {
        if self.held > 0 {
            self.held -= 1;
            return Some(Ok(Ok(self.held.saturating_add(limit.left(self.full_in(now))))));
        }
        let (until, why) = self.rests(now)?;
        Some(why.map(|()| Err(until - now)))
    }

    fn full_in(&self, now: Instant) -> Duration {
        self.full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now))
    }

    fn take(&mut self, limit: RateLimit, wanted: u32, lease: Result<Lease, StoreError>, now: Instant) {
        self.rests = match lease {
            Ok(Lease { granted, full_in }) => {
                self.held += granted;
                self.full_at = Some(now + full_in);
                (granted < wanted).then(|| (now + limit.wait(full_in).max(REST), Ok(())))
            }
            Err(error) => Some((now + REST_AFTER_FAILURE, Err(error))),
        };
    }
}

impl Partner {
    /// How many requests the process holds at most.
    fn part(&self) -> u32 {
        (self.limit.requests.get() / PART).max(1)
    }

    /// Asks for what lacks of a part. Only for who holds `asks`.
    async fn ask(&self) {
        let wanted = self.part() - locked(&self.state).held;
        let lease = self.leases.lease(self.id, self.limit, wanted).await;
        locked(&self.state).take(self.limit, wanted, lease, Instant::now());
    }
}

impl Shared {
    pub(super) fn new(limit: RateLimit, leases: Arc<dyn Leases>) -> Self {
        Self { limit, leases, partners: Mutex::default() }
    }

    /// Takes a request of a partner into account. Fails if the store does.
    pub(super) async fn count(&self, id: PartnerId) -> Result<Counted, Failure> {
        let partner = self.partner(id);
        loop {
            let now = Instant::now();
            let (counted, is_low) = {
                let mut state = locked(&partner.state);
                (state.count(self.limit, now), state.held < partner.part() / 2 && state.rests(now).is_none())
            };
            if let Some(counted) = counted {
                if is_low && let Ok(asks) = Arc::clone(&partner.asks).try_lock_owned() {
                    tokio::spawn(async move {
                        partner.ask().await;
                        drop(asks);
                    });
                }
                return Ok(counted?);
            }
            let _asks = partner.asks.lock().await;
            // Another may have asked meanwhile.
            if !locked(&partner.state).is_enough(Instant::now()) {
                partner.ask().await;
            }
        }
    }

    fn partner(&self, id: PartnerId) -> Arc<Partner> {
        let new = || {
            let (limit, leases) = (self.limit, Arc::clone(&self.leases));
            Arc::new(Partner { id, limit, leases, state: Mutex::default(), asks: Arc::default() })
        };
        Arc::clone(locked(&self.partners).entry(id).or_insert_with(new))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::rate::Leasing;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    /// So many requests, none of which comes back, and an hour until all would be.
    #[derive(Default)]
    struct Left {
        requests: AtomicU32,
        fails: AtomicBool,
        asked: AtomicU32,
    }

    impl Leases for Left {
        fn lease(&self, _: PartnerId, limit: RateLimit, want: u32) -> Leasing<'_> {
            Box::pin(async move {
                tokio::task::yield_now().await;
                self.asked.fetch_add(1, Ordering::SeqCst);
                if self.fails.load(Ordering::SeqCst) {
                    return Err(StoreError::Unavailable);
                }
                let take = |left: u32| Some(left.saturating_sub(want));
                let before = self.requests.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).expect("always");
                let left = before.saturating_sub(want);
                Ok(Lease { granted: before - left, full_in: limit.period() * (limit.requests.get() - left) })
            })
        }
    }

    fn shared(requests: u32) -> (Arc<Left>, Arc<Shared>) {
        let left = Arc::new(Left { requests: requests.into(), ..Left::default() });
        let limit = "640/36000s".parse().expect("a limit");
        (Arc::clone(&left), Arc::new(Shared::new(limit, left)))
    }

    const PARTNER: PartnerId = PartnerId::from_bytes([1; 16]);

    #[tokio::test(flavor = "multi_thread")]
    async fn callers_at_once_get_every_request_and_no_more() {
        let (left, shared) = shared(640);
        let callers: Vec<_> = (0..16)
            .map(|_| {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let mut let_in = 0;
                    for _ in 0..80 {
                        let_in += u32::from(shared.count(PARTNER).await.expect("nothing fails").is_ok());
                    }
                    let_in
                })
            })
            .collect();
        let mut let_in = 0;
        for caller in callers {
            let_in += caller.await.expect("no caller panics");
        }
        assert_eq!((let_in, left.requests.load(Ordering::SeqCst)), (640, 0));
        let asked = left.asked.load(Ordering::SeqCst);
        assert!(asked < 640 / 4, "{asked} leases");
    }

    #[tokio::test]
    async fn what_another_process_holds_is_not_there() {
        let (left, shared) = shared(320);
        assert_eq!(shared.count(PARTNER).await, Ok(Ok(319)));
        left.requests.store(0, Ordering::SeqCst);
        while shared.count(PARTNER).await.expect("nothing fails").is_ok() {}
        let wait = shared.count(PARTNER).await.expect("nothing fails").expect_err("nothing is left");
        assert!(wait <= Duration::from_secs(57), "{wait:?}");
        let asked = left.asked.load(Ordering::SeqCst);
        for _ in 0..100 {
            assert!(shared.count(PARTNER).await.expect("nothing fails").is_err());
        }
        assert_eq!(left.asked.load(Ordering::SeqCst), asked, "nobody asks while nothing can be left");
    }

    #[tokio::test]
    async fn a_store_that_fails_is_not_asked_by_everybody_and_works_again() {
        let (left, shared) = shared(640);
        left.fails.store(true, Ordering::SeqCst);
        for _ in 0..1_000 {
            assert_eq!(shared.count(PARTNER).await, Err(StoreError::Unavailable.into()));
        }
        assert!(left.asked.load(Ordering::SeqCst) < 1_000);
        left.fails.store(false, Ordering::SeqCst);
        while shared.count(PARTNER).await.is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(left.requests.load(Ordering::SeqCst), 630);
    }
}
