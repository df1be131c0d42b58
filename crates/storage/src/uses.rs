//! Which uses of a key are the first of their minute: only those are written.

use lendpay_domain::Timestamp;
use lendpay_domain::key::KeyHash;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};

/// The minute of each key's last use, counted from 1970.
#[derive(Default)]
pub(crate) struct Minutes(RwLock<HashMap<KeyHash, AtomicI64>>);

impl Minutes {
    /// The minute of a use, if it is another than that of the use before.
    pub(crate) fn new_minute(&self, key: KeyHash, at: Timestamp) -> Option<Timestamp> {
        let minute = at.timestamp().div_euclid(60);
        let new = self.is_new(key, minute);
        Timestamp::from_timestamp(minute * 60, 0).filter(|_| new)
    }

    fn is_new(&self, key: KeyHash, minute: i64) -> bool {
        if let Some(last) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            // A plain look first: writing would take the memory from the other threads.
            return last.load(Ordering::Relaxed) != minute && last.swap(minute, Ordering::Relaxed) != minute;
        }
        let mut minutes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        minutes.insert(key, AtomicI64::new(minute)).is_none_or(|last| last.into_inner() != minute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_new_once() {
        let minutes = Minutes::default();
        let (a, b) = (KeyHash::of("a"), KeyHash::of("b"));
        let seen = [(a, 1), (a, 1), (b, 1), (a, 2), (a, 2), (b, 1), (a, 1)].map(|(key, at)| minutes.is_new(key, at));
        assert_eq!(seen, [true, false, true, true, false, false, true]);
        let at = Timestamp::from_timestamp(200, 5).expect("in range");
        assert_eq!(minutes.new_minute(a, at), Timestamp::from_timestamp(180, 0));
        assert_eq!(minutes.new_minute(a, at), None);
    }
}
