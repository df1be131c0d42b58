//! How many connections a listener may have, and whose they are.
//!
//! When all places are taken, whoever comes next is told so (503) instead of waiting for an answer that never comes. No
//! address gets more than half of them, so one client alone never keeps all others out. A proxy in front is one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The places of a listener.
#[derive(Debug)]
pub struct Places {
    most: usize,
    held: Mutex<Held>,
    /// Connections that found no place.
    pub full: AtomicU64,
    /// Connections of an address that had half of all places.
    pub greedy: AtomicU64,
    /// Connections that were ended because a request's head came too slowly.
    pub slow: AtomicU64,
    /// Connections that were ended because nothing happened on them.
    pub idle: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The place of one connection, free again when this is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Places {
    /// Room for so many connections, at least two.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most: most.max(2),
            held: Mutex::default(),
            full: AtomicU64::new(0),
            greedy: AtomicU64::new(0),
            slow: AtomicU64::new(0),
            idle: AtomicU64::new(0),
        })
    }

    /// A place for a connection from `peer`, if there is one for it.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let address = lendpay_api::network(peer);
        let mut held = self.held();
        let of_address = held.by_address.get(&address).copied().unwrap_or_default();
        let (full, greedy) = (held.all >= self.most, of_address >= self.most / 2);
        if full || greedy {
            drop(held);
            let counter = if greedy { &self.greedy } else { &self.full };
            counter.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        held.all += 1;
        held.by_address.insert(address, of_address + 1);
        drop(held);
        Some(Place { places: Arc::clone(self), address })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.held().all
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.places.held();
        held.all -= 1;
        if let Some(of_address) = held.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                held.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_gets_half_and_what_is_given_back_is_free_again() {
        let places = Places::new(4);
        let take = |address: &str| places.take(address.parse().expect("an address"));
        let first = take("192.0.2.1").expect("a place");
        let _second = take("192.0.2.1").expect("a place");
        assert!(take("192.0.2.1").is_none());
        let _third = take("2001:db8::1").expect("a place");
        let _fourth = take("2001:db8::2").expect("a place");
        assert!(take("192.0.2.2").is_none(), "all are taken");
        assert_eq!(
            (places.taken(), places.greedy.load(Ordering::Relaxed), places.full.load(Ordering::Relaxed)),
            (4, 1, 1)
        );
        drop(first);
        assert!(take("2001:db8::3").is_none(), "an IPv6 network is one address");
        assert!(take("192.0.2.1").is_some());
        assert_eq!(places.taken(), 3);
        assert!(places.held().by_address.len() == 2);
    }
}
