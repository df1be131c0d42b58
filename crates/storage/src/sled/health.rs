//! What the committer and the callers tell each other: how far the store is, whether it works, and how busy it is.

use super::trees::Kind;
use crate::stats::StoreStats;
use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// A tree, as far as a reader of unsynced data is concerned.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    State(Kind),
    Log,
}

impl Seen {
    const fn index(self) -> usize {
        match self {
            Self::State(kind) => kind as usize,
            Self::Log => Kind::ALL.len(),
        }
    }
}

#[derive(Clone)]
enum State {
    Working,
    Closed,
    Failed(Arc<str>),
}

#[derive(Clone)]
struct Progress {
    /// The last group that is durable.
    synced: u64,
    state: State,
}

/// Shared by the store and its committer.
pub(super) struct Health {
    /// For each tree the last group that wrote, or is about to write, to it.
    applied: [AtomicU64; Kind::ALL.len() + 1],
    /// The same as in `progress`, for readers that need not wait.
    synced: AtomicU64,
    progress: watch::Sender<Progress>,
    queued: AtomicUsize,
    commands: AtomicU64,
    groups: AtomicU64,
    largest: AtomicU64,
    syncing: AtomicU64,
    events: [AtomicU64; 7],
    began: Instant,
    /// When the present group was begun, in milliseconds after `began` and one more; 0 between groups.
    group_since: AtomicU64,
}

impl Health {
    pub(super) fn new() -> Self {
        Self {
            applied: Default::default(),
            synced: AtomicU64::new(0),
            progress: watch::Sender::new(Progress { synced: 0, state: State::Working }),
            queued: AtomicUsize::new(0),
            commands: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            syncing: AtomicU64::new(0),
            events: Default::default(),
            began: Instant::now(),
            group_since: AtomicU64::new(0),
        }
    }

    /// The committer begins to write a group.
    pub(super) fn begins_group(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.group_since.store(since + 1, Ordering::SeqCst);
    }

    /// The group is durable, or there was nothing to write.
    pub(super) fn ends_group(&self) {
        self.group_since.store(0, Ordering::SeqCst);
    }

    /// How long the committer has been at the present group.
    pub(super) fn committing_for(&self) -> Option<Duration> {
        let since = self.group_since.load(Ordering::SeqCst).checked_sub(1)?;
        Some(self.began.elapsed().saturating_sub(Duration::from_millis(since)))
    }

    /// Whether the store is closed or has failed.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.progress.borrow().state, State::Working)
    }

    pub(super) fn enqueued(&self) {
        self.queued.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn dequeued(&self, commands: usize) {
        self.queued.fetch_sub(commands, Ordering::Relaxed);
    }

    /// `group` is about to write to a tree. Comes before the write, so that whoever sees the data sees this too.
    pub(super) fn applies(&self, group: u64, seen: Seen) {
        self.applied[seen.index()].store(group, Ordering::SeqCst);
    }

    pub(super) fn decided(&self, commands: u64) {
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.largest.fetch_max(commands, Ordering::Relaxed);
    }

    /// `group` and all before it are durable, with these events.
    pub(super) fn synced(&self, group: u64, took: Duration, events: [u64; 7]) {
        for (total, more) in self.events.iter().zip(events) {
            total.fetch_add(more, Ordering::Relaxed);
        }
        self.groups.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.syncing.fetch_add(nanoseconds, Ordering::Relaxed);
        self.synced.store(group, Ordering::SeqCst);
        self.progress.send_modify(|progress| progress.synced = group);
    }

    /// Waits until what a reader has just seen is durable: nobody is told of what a crash could take back. Trees that the
    /// current group does not touch cost nothing.
    pub(super) async fn settled(&self, seen: Seen) -> Answer<()> {
        let wanted = self.applied[seen.index()].load(Ordering::SeqCst);
        if self.synced.load(Ordering::SeqCst) >= wanted {
            return Ok(());
        }
        let mut progress = self.progress.subscribe();
        let reached = progress.wait_for(|now| now.synced >= wanted || matches!(now.state, State::Failed(_))).await;
        match reached {
            Ok(now) if now.synced >= wanted => Ok(()),
            Ok(_) | Err(_) => Err(StoreError::Unavailable),
        }
    }

    /// The store stops for good. The first reason is kept.
    pub(super) fn fail(&self, reason: &str) {
        tracing::error!(reason, "the store has failed and takes no more commands");
        self.progress.send_modify(|progress| {
            if !matches!(progress.state, State::Failed(_)) {
                progress.state = State::Failed(reason.into());
            }
        });
    }

    pub(super) fn close(&self) {
        self.progress.send_modify(|progress| {
            if matches!(progress.state, State::Working) {
                progress.state = State::Closed;
            }
        });
    }

    pub(super) fn failure_reason(&self) -> Option<Arc<str>> {
        match &self.progress.borrow().state {
            State::Failed(reason) => Some(reason.clone()),
            State::Working | State::Closed => None,
        }
    }

    /// Waits until the committer has ended: an error if it failed.
    pub(super) async fn ended(&self) -> Answer<()> {
        let mut progress = self.progress.subscribe();
        match progress.wait_for(|now| !matches!(now.state, State::Working)).await.map(|now| now.state.clone()) {
            Ok(State::Closed) => Ok(()),
            Ok(State::Failed(_) | State::Working) | Err(_) => Err(StoreError::Unavailable),
        }
    }

    /// Is ready when the store fails, and never if it does not.
    pub(super) fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        let mut progress = self.progress.subscribe();
        async move {
            let failed = progress.wait_for(|now| matches!(now.state, State::Failed(_))).await;
            if let Ok(now) = failed.map(|now| now.state.clone())
                && let State::Failed(reason) = now
            {
                return reason.to_string();
            }
            // The store is gone and did not fail.
            std::future::pending().await
        }
    }

    pub(super) fn stats(&self) -> StoreStats {
        StoreStats {
            queued: self.queued.load(Ordering::Relaxed),
            commands: self.commands.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            largest_group: self.largest.load(Ordering::Relaxed),
            syncing: Duration::from_nanos(self.syncing.load(Ordering::Relaxed)),
            events: self.events.each_ref().map(|count| count.load(Ordering::Relaxed)),
            standbys: None,
        }
    }
}
