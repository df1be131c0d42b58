//! What delivery counts, for `/metrics`.

use lendpay_domain::webhook::Problem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters of attempts, and the state as it was seen last.
#[derive(Debug, Default)]
pub struct DeliveryCounts {
    /// Taken; refused with a status; each of [`Problem::OTHERS`].
    results: [AtomicU64; 2 + Problem::OTHERS.len()],
    given_up: AtomicU64,
    state: Mutex<DeliveryState>,
}

/// The state of deliveries.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryState {
    /// Endpoints that are active, paused and disabled, in the whole store.
    pub endpoints: [u64; 3],
    /// Of those that this process serves: how many it has.
    pub served: u64,
    /// How many events are set aside.
    pub aside: u64,
    /// How many events the last endpoint is behind.
    pub lag_events: u64,
    /// How long ago the oldest event happened that waits to be sent for the first time.
    pub lag: Duration,
}

impl DeliveryCounts {
    /// Counts an attempt by what went wrong, if something did.
    pub fn count(&self, problem: Option<Problem>) {
        let index = match problem {
            None => 0,
            Some(Problem::Status(_)) => 1,
            Some(other) => 2 + Problem::OTHERS.iter().position(|known| *known == other).expect("all others are there"),
        };
        self.results[index].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an event that is not sent again.
    pub fn count_given_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// Attempts by result.
    pub fn results(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = ["delivered", "status"].into_iter().chain(Problem::OTHERS.iter().map(|problem| problem.names().0));
        names.zip(self.results.each_ref().map(|count| count.load(Ordering::Relaxed)))
    }

    /// Events that were given up.
    pub fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// The state as it was seen last.
    pub fn state(&self) -> DeliveryState {
        *self.state.lock().expect("nobody panics with it")
    }

    /// Changes the state.
    pub fn set_state(&self, change: impl FnOnce(&mut DeliveryState)) {
        change(&mut self.state.lock().expect("nobody panics with it"));
    }
}
