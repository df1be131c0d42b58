//! What the committer and the callers tell each other: whether the store works, and which group is under way.

use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

#[derive(Clone)]
enum State {
    Working,
    Closed,
    Failed(Arc<str>),
}

/// Shared by the store and its committer.
pub(crate) struct Health {
    state: watch::Sender<State>,
    /// The present group, which callers wait for.
    pub(crate) group: Rounds,
    /// The present checkpoint, which no caller waits for.
    pub(crate) checkpoint: Rounds,
}

/// The first damage that a read or a decision has found. The store goes on: what can be read is served.
#[derive(Default)]
pub(crate) struct Damage(OnceLock<String>);

impl Damage {
    /// The log cannot be read at a byte.
    pub(crate) fn note_log(&self, at: u64) {
        let first = self.0.get_or_init(|| format!("the log is damaged at byte {at}"));
        tracing::error!(at, first, "a part of the log cannot be read");
    }

    /// The index has a value that cannot be read, or does not fit the log. Never shows the value.
    pub(crate) fn note_index(&self, table: &str, key: &str) {
        let first = self.0.get_or_init(|| format!("a value of the index's table {table} is damaged"));
        tracing::error!(table, key, first, "a stored record cannot be read");
    }

    pub(crate) fn is_found(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Counts the starts and stops of something that is done again and again: an odd number while it goes on.
#[derive(Default)]
pub(crate) struct Rounds(AtomicU64);

impl Rounds {
    pub(crate) fn start(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn stop(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// The number of the present round, which no other has; `None` between two rounds.
    pub(crate) fn present(&self) -> Option<u64> {
        Some(self.0.load(Ordering::SeqCst)).filter(|count| count % 2 == 1)
    }
}

impl Health {
    pub(crate) fn new() -> Self {
        let state = watch::Sender::new(State::Working);
        Self { state, group: Rounds::default(), checkpoint: Rounds::default() }
    }

    /// Whether the store is closed or has failed.
    pub(crate) fn has_ended(&self) -> bool {
        !matches!(*self.state.borrow(), State::Working)
    }

    /// The store stops for good. The first reason is kept.
    pub(crate) fn fail(&self, reason: &str) {
        tracing::error!(reason, "the store has failed and takes no more commands");
        self.state.send_modify(|state| {
            if !matches!(state, State::Failed(_)) {
                *state = State::Failed(reason.into());
            }
        });
    }

    pub(crate) fn close(&self) {
        self.state.send_modify(|state| {
            if matches!(state, State::Working) {
                *state = State::Closed;
            }
        });
    }

    /// An error once the store has failed.
    pub(crate) fn working(&self) -> Answer<()> {
        if self.failure_reason().is_some() { Err(StoreError::Unavailable) } else { Ok(()) }
    }

    /// Why the store has failed, if it has, or else what is damaged.
    pub(crate) fn problem(&self, damage: &Damage) -> Option<String> {
        let failed = self.failure_reason().map(|reason| reason.to_string());
        failed.or_else(|| damage.0.get().cloned())
    }

    pub(crate) fn failure_reason(&self) -> Option<Arc<str>> {
        match &*self.state.borrow() {
            State::Failed(reason) => Some(reason.clone()),
            State::Working | State::Closed => None,
        }
    }

    /// Waits until the committer has ended: an error if it failed.
    pub(crate) async fn ended(&self) -> Answer<()> {
        let mut state = self.state.subscribe();
        match state.wait_for(|now| !matches!(now, State::Working)).await.map(|now| now.clone()) {
            Ok(State::Closed) => Ok(()),
            Ok(State::Failed(_) | State::Working) | Err(_) => Err(StoreError::Unavailable),
        }
    }

    /// Is ready when the store fails, and never if it does not.
    pub(crate) fn failure(&self) -> impl Future<Output = String> + Send + use<> {
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
}
