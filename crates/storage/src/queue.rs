//! The queue of a store: bounded, and fair to partners.
//!
//! Commands are taken round robin by partner, so that a partner that sends many delays another by one command at most.
//! A partner holds at most half of the queue. The operator's commands have a lane of their own, without that limit.

use lendpay_domain::PartnerId;
use lendpay_domain::store::{Answer, StoreError};
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Who waits: a partner, or the operator.
type Lane = Option<PartnerId>;

/// Something that waits.
pub(crate) struct Queued<T> {
    pub(crate) item: T,
    /// Since when.
    pub(crate) since: Instant,
}

/// A bounded queue with a lane for each partner.
pub(crate) struct Queue<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    /// Wakes a thread that waits in [`Self::take_blocking`].
    filled: Condvar,
    /// Wakes a task that waits in [`Self::take`].
    notify: Notify,
}

struct State<T> {
    lanes: HashMap<Lane, VecDeque<Queued<T>>>,
    /// The lanes that are not empty, the next one first.
    turns: VecDeque<Lane>,
    length: usize,
    closed: bool,
    /// Whether the thread that takes items waits, and nobody has woken it yet.
    asleep: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { lanes: HashMap::new(), turns: VecDeque::new(), length: 0, closed: false, asleep: false };
        Self { capacity, state: Mutex::new(state), filled: Condvar::new(), notify: Notify::new() }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// `Overloaded` if the queue, or the partner's half of it, is full; `Unavailable` if it is closed.
    pub(crate) fn push(&self, lane: Lane, item: T) -> Answer<()> {
        self.push_since(lane, item, Instant::now())
    }

    /// As [`Self::push`], for an item that has waited since some time.
    pub(crate) fn push_since(&self, lane: Lane, item: T, since: Instant) -> Answer<()> {
        let mut state = self.state();
        if state.closed {
            return Err(StoreError::Unavailable);
        }
        let held = state.lanes.get(&lane).map_or(0, VecDeque::len);
        if state.length >= self.capacity || (lane.is_some() && held >= self.capacity.div_ceil(2)) {
            return Err(StoreError::Overloaded);
        }
        if held == 0 {
            state.turns.push_back(lane);
        }
        state.lanes.entry(lane).or_default().push_back(Queued { item, since });
        state.length += 1;
        // Woken once: until it runs, there is nobody else to wake.
        let wake = std::mem::take(&mut state.asleep);
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        self.notify.notify_one();
        Ok(())
    }

    /// Waits for items and moves up to `most` of them to `items`. None come once the queue is closed and empty. For one
    /// thread.
    pub(crate) fn take_blocking(&self, items: &mut Vec<Queued<T>>, most: usize) {
        let waits = |state: &mut State<T>| {
            state.asleep = state.length == 0 && !state.closed;
            state.asleep
        };
        let mut state = self.filled.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.take(items, most);
    }

    /// As [`Self::take_blocking`], for a task.
    pub(crate) async fn take(&self, items: &mut Vec<Queued<T>>, most: usize) {
        loop {
            {
                let mut state = self.state();
                state.take(items, most);
                if state.length > 0 || state.closed {
                    // Another task may take the rest, or has to see the end.
                    self.notify.notify_one();
                }
                if !items.is_empty() || state.closed {
                    return;
                }
            }
            self.notify.notified().await;
        }
    }

    /// Takes no more items. Those that are there can still be taken.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
        self.notify.notify_one();
    }

    /// Closes the queue and drops what is in it.
    pub(crate) fn clear(&self) {
        self.close();
        let mut dropped = Vec::new();
        self.state().take(&mut dropped, usize::MAX);
    }

    /// How many items wait.
    pub(crate) fn len(&self) -> usize {
        self.state().length
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// Moves up to `most` items, one of each lane in turn.
    fn take(&mut self, items: &mut Vec<Queued<T>>, most: usize) {
        for _ in 0..most {
            let Some(lane) = self.turns.pop_front() else { return };
            let queue = self.lanes.get_mut(&lane).expect("a lane that has a turn is not empty");
            items.extend(queue.pop_front());
            self.length -= 1;
            if queue.is_empty() {
                self.lanes.remove(&lane);
            } else {
                self.turns.push_back(lane);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(n: u8) -> Lane {
        Some(PartnerId::from_bytes([n; 16]))
    }

    fn taken(queue: &Queue<u8>, most: usize) -> Vec<u8> {
        let mut items = Vec::new();
        queue.take_blocking(&mut items, most);
        items.into_iter().map(|queued| queued.item).collect()
    }

    #[test]
    fn partners_take_turns() {
        let queue = Queue::new(100);
        for n in 0..5 {
            queue.push(lane(1), n).expect("room");
        }
        queue.push(lane(2), 10).expect("room");
        queue.push(None, 20).expect("room");
        assert_eq!(taken(&queue, 4), [0, 10, 20, 1]);
        queue.push(lane(2), 11).expect("room");
        assert_eq!(taken(&queue, 100), [2, 11, 3, 4]);
    }

    #[test]
    fn a_partner_has_half_and_the_operator_the_rest() {
        let queue = Queue::new(4);
        queue.push(lane(1), 0).expect("room");
        queue.push(lane(1), 1).expect("room");
        assert_eq!(queue.push(lane(1), 2), Err(StoreError::Overloaded));
        queue.push(None, 3).expect("room");
        queue.push(None, 4).expect("room");
        assert_eq!(queue.push(lane(2), 5), Err(StoreError::Overloaded), "the queue is full");
        assert_eq!(queue.len(), 4);
    }

    #[test]
    fn a_closed_queue_is_emptied_and_ends() {
        let queue = Queue::new(4);
        queue.push(None, 1).expect("room");
        queue.close();
        assert_eq!(queue.push(None, 2), Err(StoreError::Unavailable));
        assert_eq!(taken(&queue, 10), [1]);
        assert!(taken(&queue, 10).is_empty());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tasks_and_threads_get_everything_once() {
        let queue = std::sync::Arc::new(Queue::new(10_000));
        let takers: Vec<_> = (0..3)
            .map(|_| {
                let queue = std::sync::Arc::clone(&queue);
                tokio::spawn(async move {
                    let (mut got, mut some) = (Vec::new(), Vec::new());
                    loop {
                        queue.take(&mut some, 7).await;
                        if some.is_empty() {
                            return got;
                        }
                        got.extend(some.drain(..).map(|queued| queued.item));
                    }
                })
            })
            .collect();
        for n in 0..2_000_u32 {
            queue.push(lane((n % 5) as u8), n).expect("room");
            if n % 100 == 0 {
                tokio::task::yield_now().await;
            }
        }
        queue.close();
        let mut all = Vec::new();
        for taker in takers {
            all.extend(taker.await.expect("no panic"));
        }
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..2_000));
    }
}
