//! What the committer and the callers tell each other: whether the store works, and how busy it is.

use crate::stats::StoreStats;
use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

#[derive(Clone)]
enum State {
    Working,
    Closed,
    Failed(Arc<str>),
}

/// Shared by the store and its committer.
pub(super) struct Health {
    state: watch::Sender<State>,
    queued: AtomicUsize,
    commands: AtomicU64,
    groups: AtomicU64,
    largest: AtomicU64,
    syncing: AtomicU64,
    events: [AtomicU64; 7],
    /// The present group, which callers wait for.
    pub(super) group: Stopwatch,
    /// The present checkpoint, which nobody waits for.
    pub(super) checkpoint: Stopwatch,
}

/// How long something has been going on.
pub(super) struct Stopwatch {
    made: Instant,
    /// When it began, in milliseconds after `made` and one more; 0 if nothing goes on.
    since: AtomicU64,
}

impl Stopwatch {
    fn new() -> Self {
        Self { made: Instant::now(), since: AtomicU64::new(0) }
    }

    pub(super) fn start(&self) {
        let since = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.since.store(since + 1, Ordering::SeqCst);
    }

    pub(super) fn stop(&self) {
        self.since.store(0, Ordering::SeqCst);
    }

    pub(super) fn time(&self) -> Option<Duration> {
        let since = self.since.load(Ordering::SeqCst).checked_sub(1)?;
        Some(self.made.elapsed().saturating_sub(Duration::from_millis(since)))
    }
}

impl Health {
    pub(super) fn new() -> Self {
        Self {
            state: watch::Sender::new(State::Working),
            queued: AtomicUsize::new(0),
            commands: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            syncing: AtomicU64::new(0),
            events: Default::default(),
            group: Stopwatch::new(),
            checkpoint: Stopwatch::new(),
        }
    }

    /// Whether the store is closed or has failed.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(*self.state.borrow(), State::Working)
    }

    pub(super) fn enqueued(&self) {
        self.queued.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn dequeued(&self, commands: usize) {
        self.queued.fetch_sub(commands, Ordering::Relaxed);
    }

    pub(super) fn decided(&self, commands: u64) {
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.largest.fetch_max(commands, Ordering::Relaxed);
    }

    /// A group is durable, after a sync that took so long, with these events.
    pub(super) fn synced(&self, took: Duration, events: [u64; 7]) {
        for (total, more) in self.events.iter().zip(events) {
            total.fetch_add(more, Ordering::Relaxed);
        }
        self.groups.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.syncing.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// The store stops for good. The first reason is kept.
    pub(super) fn fail(&self, reason: &str) {
        tracing::error!(reason, "the store has failed and takes no more commands");
        self.state.send_modify(|state| {
            if !matches!(state, State::Failed(_)) {
                *state = State::Failed(reason.into());
            }
        });
    }

    pub(super) fn close(&self) {
        self.state.send_modify(|state| {
            if matches!(state, State::Working) {
                *state = State::Closed;
            }
        });
    }

    /// An error once the store has failed.
    pub(super) fn working(&self) -> Answer<()> {
        if self.failure_reason().is_some() { Err(StoreError::Unavailable) } else { Ok(()) }
    }

    pub(super) fn failure_reason(&self) -> Option<Arc<str>> {
        match &*self.state.borrow() {
            State::Failed(reason) => Some(reason.clone()),
            State::Working | State::Closed => None,
        }
    }

    /// Waits until the committer has ended: an error if it failed.
    pub(super) async fn ended(&self) -> Answer<()> {
        let mut state = self.state.subscribe();
        match state.wait_for(|now| !matches!(now, State::Working)).await.map(|now| now.clone()) {
            Ok(State::Closed) => Ok(()),
            Ok(State::Failed(_) | State::Working) | Err(_) => Err(StoreError::Unavailable),
        }
    }

    /// Is ready when the store fails, and never if it does not.
    pub(super) fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        let mut state = self.state.subscribe();
        async move {
            let failed = state.wait_for(|now| matches!(now, State::Failed(_))).await;
            if let Ok(now) = failed.map(|now| now.clone())
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
