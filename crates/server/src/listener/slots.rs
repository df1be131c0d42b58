//! How many connections a listener may have, whose they are, and how much they may hold.
//!
//! When all slots are taken, the connection that is oldest among those that never made a request ends to make room,
//! else the one that has been idle longest; while requests run on all of them, whoever comes next is told so (503). No
//! address gets more than half of the slots, so one client alone never keeps all others out. A proxy in front is one
//! address.

use super::activity::{Activity, Rank};
use bytes::Bytes;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many bytes of answers may be held for all clients together, which have yet to take them. Beyond that, the
/// connection whose client has taken nothing for the longest ends. The kernel holds some more for each connection.
const UNSENT: usize = 20 * 1024 * 1024;

/// Answers below this size are not counted.
const SMALL: usize = 4 * 1024;

/// How many busy connections are passed over to find an idle one. They are looked at last next time, so this bounds the
/// time of one search, not its success in the end. Those that had made no request when they were looked at last are
/// passed over without a bound: that happens to each of them once, and the ones that are silent still come after them.
const BUSY: usize = 64;

/// The slots of a listener.
#[derive(Debug, Default)]
pub struct ConnectionSlots {
    most: usize,
    held: Mutex<Held>,
    unsent: AtomicUsize,
    /// Connections that found no slot.
    pub full: AtomicU64,
    /// Connections of an address that had half of all slots.
    pub greedy: AtomicU64,
    /// Connections that were ended because a request's head came too slowly.
    pub slow: AtomicU64,
    /// Connections that were ended because nothing happened on them.
    pub idle: AtomicU64,
    /// Connections that were ended to make room for others.
    pub displaced: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    connections: HashMap<u64, Holder>,
    by_address: HashMap<IpAddr, usize>,
    /// By the rank that each had when it was looked at last. Ranks only grow, so the first whose rank still holds is
    /// first.
    order: BTreeSet<(Rank, u64)>,
    next: u64,
}

#[derive(Debug)]
struct Holder {
    address: IpAddr,
    rank: Rank,
    activity: Arc<Activity>,
}

/// The slot of one connection, free again when this is dropped.
#[derive(Debug)]
pub struct Slot {
    pub slots: Arc<ConnectionSlots>,
    id: u64,
    pub activity: Arc<Activity>,
}

impl ConnectionSlots {
    /// Room for so many connections, at least two.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(2), ..Self::default() })
    }

    /// A slot for a connection from `peer`, if there is one for it.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Arc<Slot>> {
        let address = lendpay_api::network(peer);
        let mut held = self.held();
        let greedy = held.by_address.get(&address).is_some_and(|count| *count >= self.most / 2);
        if greedy || (held.connections.len() >= self.most && !self.make_room(&mut held)) {
            (if greedy { &self.greedy } else { &self.full }).fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let (id, activity) = (held.next, Activity::new());
        let rank = activity.rank().expect("nothing runs on it yet");
        held.next += 1;
        held.order.insert((rank, id));
        *held.by_address.entry(address).or_default() += 1;
        held.connections.insert(id, Holder { address, rank, activity: Arc::clone(&activity) });
        Some(Arc::new(Slot { slots: Arc::clone(self), id, activity }))
    }

    /// Ends a connection on which nothing runs, if there is one.
    fn make_room(&self, held: &mut Held) -> bool {
        let mut busy = 0;
        while busy < BUSY
            && let Some(&(noted, id)) = held.order.first()
        {
            let holder = held.connections.get_mut(&id).expect("what is in the order is held");
            let rank = holder.activity.rank();
            if rank == Some(noted) {
                self.displace(held, id);
                return true;
            }
            // What has a new rank has made a request since it was looked at; a busy one would be idle from now on.
            holder.rank = rank.unwrap_or_else(|| {
                let (requested, _) = noted;
                busy += usize::from(requested);
                (true, Instant::now())
            });
            let renewed = (holder.rank, id);
            held.order.remove(&(noted, id));
            held.order.insert(renewed);
        }
        false
    }

    /// Ends connections until no more bytes are held than may be.
    fn shed(&self) {
        let mut held = self.held();
        while self.unsent.load(Ordering::Relaxed) > UNSENT {
            let stalled = held.connections.iter().filter_map(|(id, holder)| Some((holder.activity.stalled()?, *id)));
            let Some((_, id)) = stalled.min() else { return };
            self.displace(&mut held, id);
        }
    }

    fn displace(&self, held: &mut Held, id: u64) {
        if let Some(holder) = held.remove(id) {
            self.unsent.fetch_sub(holder.activity.displace(), Ordering::Relaxed);
            self.displaced.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.held().connections.len()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn remove(&mut self, id: u64) -> Option<Holder> {
        let holder = self.connections.remove(&id)?;
        self.order.remove(&(holder.rank, id));
        let count = self.by_address.get_mut(&holder.address).expect("addresses of connections are counted");
        *count -= 1;
        if *count == 0 {
            self.by_address.remove(&holder.address);
        }
        Some(holder)
    }
}

impl Slot {
    /// Counts bytes as held for the client until they are dropped. Bytes that others share cost nothing and do not
    /// count.
    pub fn hold(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        let length = bytes.len();
        if length < SMALL || !bytes.is_unique() || !self.activity.change_unsent(length.cast_signed()) {
            return bytes;
        }
        if self.slots.unsent.fetch_add(length, Ordering::Relaxed) + length > UNSENT {
            self.slots.shed();
        }
        Bytes::from_owner(Unsent { bytes, slot: Arc::clone(self) })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // It is gone already if it was displaced.
        self.slots.held().remove(self.id);
    }
}

/// Bytes that are held for a client.
struct Unsent {
    bytes: Bytes,
    slot: Arc<Slot>,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        let length = self.bytes.len();
        if self.slot.activity.change_unsent(-length.cast_signed()) {
            self.slot.slots.unsent.fetch_sub(length, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(slots: &Arc<ConnectionSlots>, address: &str) -> Option<Arc<Slot>> {
        slots.take(address.parse().expect("an address"))
    }

    #[test]
    fn one_address_gets_half_and_what_is_given_back_is_free_again() {
        let slots = ConnectionSlots::new(4);
        let take = |address: &str| take(&slots, address).inspect(|slot| std::mem::forget(slot.activity.run()));
        let first = take("192.0.2.1").expect("a slot");
        let _second = take("192.0.2.1").expect("a slot");
        assert!(take("192.0.2.1").is_none());
        let _third = take("2001:db8::1").expect("a slot");
        let _fourth = take("2001:db8:1::2").expect("a slot");
        assert!(take("192.0.2.2").is_none(), "requests run on all of them");
        assert_eq!(
            (slots.taken(), slots.greedy.load(Ordering::Relaxed), slots.full.load(Ordering::Relaxed)),
            (4, 1, 1)
        );
        drop(first);
        assert!(take("192.0.2.1").is_some());
        assert_eq!(slots.taken(), 3);
        assert_eq!(slots.held().by_address.len(), 3);
    }

    #[test]
    fn room_is_made_by_the_oldest_without_a_request_then_by_the_longest_idle() {
        let slots = ConnectionSlots::new(4);
        let [busy, early, late, silent] =
            ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map(|address| take(&slots, address).expect("a slot"));
        let _running = busy.activity.run();
        drop(late.activity.run());
        drop(early.activity.run());
        let mut more = Vec::new();
        for (n, displaced) in [&silent, &late, &early].into_iter().enumerate() {
            assert!(!displaced.activity.displaced.is_cancelled());
            let new = take(&slots, &format!("198.51.100.{n}")).expect("room");
            drop(new.activity.run());
            more.push(new);
            assert!(displaced.activity.displaced.is_cancelled(), "{n}");
            assert_eq!(slots.taken(), 4);
        }
        assert!(!busy.activity.displaced.is_cancelled());
        drop([silent, late, early]);
        assert_eq!((slots.taken(), slots.displaced.load(Ordering::Relaxed)), (4, 3));
    }

    #[test]
    fn who_comes_next_gets_the_place_of_a_silent_one_however_many_are_busy() {
        let slots = ConnectionSlots::new(4 * BUSY);
        let address = |n: usize| format!("192.0.2.{}", n % 8);
        let busy: Vec<_> = (0..2 * BUSY).map(|n| take(&slots, &address(n)).expect("a slot")).collect();
        let _running: Vec<_> = busy.iter().map(|slot| slot.activity.run()).collect();
        let silent: Vec<_> = (0..2 * BUSY).map(|n| take(&slots, &address(n)).expect("a slot")).collect();
        let _next = take(&slots, "198.51.100.1").expect("room");
        assert!(silent[0].activity.displaced.is_cancelled());
    }

    #[test]
    fn what_clients_do_not_take_is_bounded_and_the_longest_stalled_ends() {
        let slots = ConnectionSlots::new(4);
        let [first, second] = ["192.0.2.1", "192.0.2.2"].map(|address| take(&slots, address).expect("a slot"));
        let bytes = || Bytes::from(vec![0; UNSENT / 2]);
        let shared = bytes();
        let _free = first.hold(shared.clone());
        let _one = first.hold(bytes());
        let two = second.hold(bytes());
        first.activity.sent();
        assert!(!first.activity.displaced.is_cancelled() && !second.activity.displaced.is_cancelled());
        let _running = second.activity.run();
        let _three = first.hold(bytes());
        assert!(second.activity.ends_at_once(), "whatever else it does");
        assert!(second.activity.displaced.is_cancelled() && !first.activity.displaced.is_cancelled());
        assert_eq!(slots.unsent.load(Ordering::Relaxed), UNSENT);
        drop(two);
        assert_eq!(slots.unsent.load(Ordering::Relaxed), UNSENT, "it was given back already");
    }
}
