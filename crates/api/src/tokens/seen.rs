//! A cache of verified tokens, so that only the first use of a token costs a signature.
//!
//! Kept by SHA-256, for no longer than the token is valid and the key set that verified it is the present one. Two
//! halves bound them: when the young half is full it becomes the old one, and what nobody asked for since is forgotten.

use super::Verified;
use lendpay_domain::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How many tokens a half holds.
const HALF: usize = 5_000;

pub(super) type TokenHash = [u8; 32];

#[derive(Default)]
pub(super) struct Seen(Mutex<Halves>);

#[derive(Default)]
struct Halves {
    /// The key set that everything in here was verified with.
    generation: u64,
    young: HashMap<TokenHash, Verified>,
    old: HashMap<TokenHash, Verified>,
}

impl Seen {
    /// What a token says that was verified with this key set and is still valid.
    pub fn get(&self, generation: u64, hash: &TokenHash, now: Timestamp) -> Option<Verified> {
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if halves.generation != generation {
            return None;
        }
        let verified = match halves.young.get(hash) {
            Some(verified) => verified.clone(),
            None => {
                let verified = halves.old.remove(hash)?;
                halves.insert(*hash, verified.clone());
                verified
            }
        };
        (now.timestamp_micros() < verified.until).then_some(verified)
    }

    /// Keeps what a token says.
    pub fn put(&self, generation: u64, hash: TokenHash, verified: Verified) {
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if halves.generation > generation {
            return;
        }
        if halves.generation < generation {
            *halves = Halves { generation, ..Halves::default() };
        }
        halves.insert(hash, verified);
    }
}

impl Halves {
    fn insert(&mut self, hash: TokenHash, verified: Verified) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash, verified);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::scheme::Scopes;

    fn verified(until: i64) -> Verified {
        Verified { client: "client".into(), scopes: Scopes::default(), until: until * 1_000_000 }
    }

    fn hash(n: usize) -> TokenHash {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&n.to_be_bytes());
        hash
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).expect("in range")
    }

    #[test]
    fn a_token_is_forgotten_at_its_end_and_with_its_key_set() {
        let seen = Seen::default();
        seen.put(1, hash(1), verified(10));
        assert_eq!(seen.get(1, &hash(1), at(9)), Some(verified(10)));
        assert_eq!(seen.get(1, &hash(1), at(10)), None);
        assert_eq!(seen.get(1, &hash(2), at(9)), None);
        assert_eq!(seen.get(2, &hash(1), at(9)), None, "the keys have changed");
        seen.put(2, hash(2), verified(10));
        seen.put(1, hash(3), verified(10));
        assert_eq!(seen.get(1, &hash(1), at(9)), None);
        assert_eq!(seen.get(2, &hash(3), at(9)), None, "verified with keys that are gone");
        assert_eq!(seen.get(2, &hash(2), at(9)), Some(verified(10)));
    }

    #[test]
    fn there_are_never_more_than_two_halves_and_what_is_asked_for_stays() {
        let seen = Seen::default();
        for n in 0..4 * HALF {
            seen.put(1, hash(n), verified(10));
            assert!(seen.get(1, &hash(0), at(1)).is_some(), "{n}");
            let halves = seen.0.lock().expect("unpoisoned");
            assert!(halves.young.len() + halves.old.len() <= 2 * HALF);
        }
        assert_eq!(seen.get(1, &hash(1), at(1)), None);
    }
}
