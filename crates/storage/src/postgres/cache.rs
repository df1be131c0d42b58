//! A cache of keys and clients: every request asks for one, and neither changes often.
//!
//! A revocation in this process is known at once; one in another process after [`AGE`] at most. What is not there is
//! not remembered, so that guessing fills nothing.

use lendpay_domain::PartnerId;
use lendpay_domain::key::{KeyHash, KeyRecord};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// For how long an entry is used.
const AGE: Duration = Duration::from_secs(2);

/// How many entries are kept.
const MOST: usize = 10_000;

pub(super) type Keys = Cache<KeyHash, KeyRecord>;

pub(super) type Clients = Cache<String, PartnerId>;

pub(super) struct Cache<K, V>(RwLock<State<K, V>>);

struct State<K, V> {
    known: HashMap<K, (V, Instant)>,
    /// Counts what was forgotten, so that an answer that is older than that is not kept.
    forgotten: u64,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(RwLock::new(State { known: HashMap::new(), forgotten: 0 }))
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    /// What is known, if it is young enough; else whom to tell what was found.
    pub(super) fn get<Q>(&self, key: &Q) -> Result<V, Asked>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match state.known.get(key) {
            Some((value, at)) if at.elapsed() < AGE => Ok(value.clone()),
            _ => Err(Asked { at: Instant::now(), forgotten: state.forgotten }),
        }
    }

    /// Keeps what the database said.
    pub(super) fn put(&self, asked: &Asked, key: K, value: V) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if state.forgotten != asked.forgotten {
            return;
        }
        if state.known.len() >= MOST {
            state.known.retain(|_, (_, at)| at.elapsed() < AGE);
            if state.known.len() >= MOST {
                return;
            }
        }
        state.known.insert(key, (value, asked.at));
    }

    /// Forgets everything, since something has changed.
    pub(super) fn forget(&self) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        state.known.clear();
        state.forgotten += 1;
    }
}

/// A question to the database, and when it was put.
pub(super) struct Asked {
    at: Instant,
    forgotten: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_from_before_a_change_is_not_kept() {
        let cache = Cache::<u8, u8>::default();
        let early = cache.get(&1).expect_err("unknown");
        cache.forget();
        cache.put(&early, 1, 1);
        let late = cache.get(&1).expect_err("unknown");
        cache.put(&late, 1, 2);
        assert!(matches!(cache.get(&1), Ok(2)));
        cache.forget();
        assert!(cache.get(&1).is_err());
    }

    #[test]
    fn what_is_old_is_not_believed_and_there_is_never_too_much() {
        let cache = Cache::<usize, u8>::default();
        let old = Asked { at: Instant::now().checked_sub(AGE).expect("it is not that early"), forgotten: 0 };
        cache.put(&old, 0, 1);
        assert!(cache.get(&0).is_err());
        for n in 0..2 * MOST {
            let asked = cache.get(&n).expect_err("unknown");
            cache.put(&asked, n, 1);
        }
        assert!(cache.0.read().expect("unpoisoned").known.len() <= MOST);
    }
}
