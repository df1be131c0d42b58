//! When keys were last used.
//!
//! Every request notes its key. What is remembered here makes all but the first note of a minute cost one look into a map;
//! the first is handed to the committer, which keeps it beside whatever else it writes.

use super::queue::Queue;
use super::work::{KeyUse, Work};
use lendpay_domain::Timestamp;
use lendpay_domain::key::KeyHash;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};
use tokio::sync::oneshot;

/// The minute of each key's last noted use, counted from 1970.
#[derive(Default)]
pub(super) struct Uses(RwLock<HashMap<KeyHash, AtomicI64>>);

impl Uses {
    /// Notes a use. A full queue loses the note; the next minute brings another.
    pub(super) fn note(&self, key: KeyHash, at: Timestamp, queue: &Queue) {
        let minute = at.timestamp().div_euclid(60);
        if self.is_new(key, minute)
            && let Some(at) = Timestamp::from_timestamp(minute * 60, 0)
        {
            let (reply, _nobody_waits) = oneshot::channel();
            let _ = queue.send(Work::Use(KeyUse { hash: key, at }, reply));
        }
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
        let uses = Uses::default();
        let (a, b) = (KeyHash::of("a"), KeyHash::of("b"));
        let seen = [(a, 1), (a, 1), (b, 1), (a, 2), (a, 2), (b, 1), (a, 1)].map(|(key, at)| uses.is_new(key, at));
        assert_eq!(seen, [true, false, true, true, false, false, true]);
    }
}
