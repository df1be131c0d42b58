//! Counters of a store.

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
    pub events: [u64; 7],
    /// Standbys of the database that a commit waits for, as seen at the last [`check`](lendpay_domain::Store::check); none for a
    /// store that has no such thing.
    pub standbys: Option<u64>,
}
