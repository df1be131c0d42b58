//! What the committer and the callers tell each other: how far the store is, whether it works, and how busy it is.

use super::trees::Kind;
use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Counters since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SledStats {
    /// Commands that wait for the committer now.
    pub queued: usize,
    /// Commands that were decided.
    pub commands: u64,
    /// Groups that were written and synced.
    pub groups: u64,
    /// The most commands that one group held.
    pub largest_group: u64,
    /// The time spent waiting for the disk.
    pub syncing: Duration,
    /// Events that were made durable, by their place in [`Subject::TYPES`](lendpay_domain::event::Subject::TYPES).
    pub events: [u64; 7],
}

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
        }
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

    pub(super) fn stats(&self) -> SledStats {
        SledStats {
            queued: self.queued.load(Ordering::Relaxed),
            commands: self.commands.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            largest_group: self.largest.load(Ordering::Relaxed),
            syncing: Duration::from_nanos(self.syncing.load(Ordering::Relaxed)),
            events: self.events.each_ref().map(|count| count.load(Ordering::Relaxed)),
        }
    }
}
