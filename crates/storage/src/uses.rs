//! Which use of a key is the first of its hour: only that one is written.

use lendpay_domain::Timestamp;
use lendpay_domain::key::{KeyHash, hour_of};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};

/// The hour of each key's last use, counted from 1970.
#[derive(Default)]
pub(crate) struct Hours(RwLock<HashMap<KeyHash, AtomicI64>>);

impl Hours {
    /// The hour of a use, if it differs from the hour of the last use.
    pub(crate) fn new_hour(&self, key: KeyHash, at: Timestamp) -> Option<Timestamp> {
        let hour = hour_of(at);
        self.is_new(key, hour.timestamp()).then_some(hour)
    }

    fn is_new(&self, key: KeyHash, hour: i64) -> bool {
        if let Some(last) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            // Read first: a write would take the cache line from the other threads.
            return last.load(Ordering::Relaxed) != hour && last.swap(hour, Ordering::Relaxed) != hour;
        }
        let mut hours = self.0.write().unwrap_or_else(PoisonError::into_inner);
        hours.insert(key, AtomicI64::new(hour)).is_none_or(|last| last.into_inner() != hour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_new_once() {
        let hours = Hours::default();
        let (a, b) = (KeyHash::of("a"), KeyHash::of("b"));
        let seen = [(a, 1), (a, 1), (b, 1), (a, 2), (a, 2), (b, 1), (a, 1)].map(|(key, at)| hours.is_new(key, at));
        assert_eq!(seen, [true, false, true, true, false, false, true]);
        let at = Timestamp::from_timestamp(4_000, 5).expect("in range");
        assert_eq!(hours.new_hour(a, at), Timestamp::from_timestamp(3_600, 0));
        assert_eq!(hours.new_hour(a, at), None);
    }
}
