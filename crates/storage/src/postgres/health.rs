//! Whether the database works, how busy the store is, and telling both.

use super::OpenError;
use super::trouble::Trouble;
use crate::stats::StoreStats;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

#[derive(Default)]
pub(super) struct Health {
    /// Why the database cannot be used, while it cannot.
    trouble: Mutex<Option<String>>,
    /// Why this program cannot go on with this database.
    fatal: watch::Sender<Option<OpenError>>,
    pub(super) queued: AtomicUsize,
    commands: AtomicU64,
    groups: AtomicU64,
    largest: AtomicU64,
    committing: AtomicU64,
    events: [AtomicU64; 7],
    /// How many standbys a commit waits for.
    standbys: AtomicI64,
}

impl Health {
    /// Something did not work. Logged once, until something works again.
    pub(super) fn note(&self, trouble: &Trouble) {
        match trouble {
            // Part of the work.
            Trouble::Raced => {}
            Trouble::Damaged => tracing::error!("a stored row cannot be read"),
            Trouble::Refused(reason) => tracing::error!(reason, "a command is refused: the database cannot keep it"),
            Trouble::Again(reason) | Trouble::Unknown(reason) => {
                let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
                if known.replace(reason.clone()).is_none() {
                    tracing::error!(reason, "the database cannot be used; trying again");
                }
            }
        }
    }

    /// Something worked.
    pub(super) fn works(&self) {
        let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if known.take().is_some() {
            tracing::info!("the database works again");
        }
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.fatal()
            .map(|problem| problem.to_string())
            .or_else(|| self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// This program must not go on with this database.
    pub(super) fn fail(&self, problem: OpenError) {
        self.fatal.send_replace(Some(problem));
    }

    /// Why this program must not go on, if so.
    pub(super) fn fatal(&self) -> Option<OpenError> {
        self.fatal.borrow().clone()
    }

    pub(super) fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        let mut fatal = self.fatal.subscribe();
        async move {
            if let Ok(problem) = fatal.wait_for(Option::is_some).await
                && let Some(problem) = &*problem
            {
                return problem.to_string();
            }
            // The store is gone; nobody waits for its failure then.
            std::future::pending().await
        }
    }

    /// So many standbys were seen.
    pub(super) fn standbys(&self, count: i64) {
        self.standbys.store(count, Ordering::Relaxed);
    }

    /// A group is done; its commit took so long.
    pub(super) fn done(&self, commands: usize, committing: Duration, events: &[usize; 7]) {
        let commands = commands as u64;
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(commands, Ordering::Relaxed);
        let nanos = u64::try_from(committing.as_nanos()).unwrap_or(u64::MAX);
        self.committing.fetch_add(nanos, Ordering::Relaxed);
        for (counter, more) in self.events.iter().zip(events) {
            counter.fetch_add(*more as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn stats(&self) -> StoreStats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StoreStats {
            queued: self.queued.load(Ordering::Relaxed),
            commands: count(&self.commands),
            groups: count(&self.groups),
            largest_group: count(&self.largest),
            syncing: Duration::from_nanos(count(&self.committing)),
            events: self.events.each_ref().map(count),
            standbys: u64::try_from(self.standbys.load(Ordering::Relaxed)).ok(),
        }
    }
}
