//! Counters of a store.

use lendpay_domain::event::{EventCounts, Subject};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Commands that wait to be carried out now.
    pub queued: usize,
    /// Commands that were decided.
    pub commands: u64,
    /// Groups that were made durable.
    pub groups: u64,
    /// The most commands that one group held.
    pub largest_group: u64,
    /// The time spent waiting for the disk, or for the database's commit.
    pub syncing: Duration,
    /// Events that were made durable, by their place in [`Subject::TYPES`](lendpay_domain::event::Subject::TYPES).
    pub events: EventCounts,
    /// Calls that changed nothing (see [`lendpay_domain::calls`]) and are not kept, since there were too many or they
    /// could not be written.
    pub calls_lost: u64,
    /// Standbys of the database that a commit waits for, as seen at the last
    /// [`check`](lendpay_domain::store::Commands::check); none for a store that has no such thing.
    pub standbys: Option<u64>,
}

/// What a store counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    commands: AtomicU64,
    groups: AtomicU64,
    largest: AtomicU64,
    syncing: AtomicU64,
    events: [AtomicU64; Subject::TYPES.len()],
    calls_lost: AtomicU64,
}

impl Counters {
    /// A group was decided.
    pub(crate) fn decided(&self, commands: usize) {
        self.commands.fetch_add(commands as u64, Ordering::Relaxed);
        self.largest.fetch_max(commands as u64, Ordering::Relaxed);
    }

    /// A group with these events became durable; `took` is the time of write and sync, or of the commit.
    pub(crate) fn durable(&self, took: Duration, events: EventCounts) {
        for (total, more) in self.events.iter().zip(events) {
            total.fetch_add(more, Ordering::Relaxed);
        }
        self.groups.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).expect("less than 584 years");
        self.syncing.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// So many calls that changed nothing are not kept.
    pub(crate) fn calls_lost(&self, count: usize) {
        self.calls_lost.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub(crate) fn stats(&self, queued: usize) -> StoreStats {
        StoreStats {
            queued,
            commands: self.commands.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            largest_group: self.largest.load(Ordering::Relaxed),
            syncing: Duration::from_nanos(self.syncing.load(Ordering::Relaxed)),
            events: self.events.each_ref().map(|count| count.load(Ordering::Relaxed)),
            calls_lost: self.calls_lost.load(Ordering::Relaxed),
            standbys: None,
        }
    }
}
