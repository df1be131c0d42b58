//! Whether the database works, and telling it.

use super::OpenError;
use super::error::DbError;
use crate::stats::{Counters, StoreStats};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

#[derive(Default)]
pub(super) struct Health {
    /// Why the database cannot be used, while it cannot.
    problem: Mutex<Option<String>>,
    /// Why this program cannot go on with this database.
    fatal: watch::Sender<Option<OpenError>>,
    pub(super) counters: Arc<Counters>,
    /// How many standbys a commit waits for.
    standbys: AtomicI64,
}

impl Health {
    /// Something failed. Logged once, until something works again.
    pub(super) fn note(&self, error: &DbError) {
        match error {
            DbError::Raced | DbError::Locked => tracing::debug!(reason = error.reason(), "a transaction is repeated"),
            DbError::Damaged => tracing::error!("a stored row cannot be read"),
            DbError::Refused(reason) => tracing::error!(reason, "a command failed: the database rejects it"),
            DbError::Unavailable(reason) | DbError::Failed(reason) | DbError::Unknown(reason) => {
                let mut known = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
                if known.replace(reason.clone()).is_none() {
                    tracing::error!(reason, "the database cannot be used; trying again");
                }
            }
        }
    }

    /// As [`Self::note`], and gives what a caller learns.
    pub(super) fn noted(&self, error: &DbError) -> lendpay_domain::store::StoreError {
        self.note(error);
        error.answer()
    }

    /// Something worked.
    pub(super) fn works(&self) {
        let mut known = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if known.take().is_some() {
            tracing::info!("the database works again");
        }
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.fatal()
            .map(|problem| problem.to_string())
            .or_else(|| self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone())
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

    pub(super) fn stats(&self, queued: usize) -> StoreStats {
        let standbys = u64::try_from(self.standbys.load(Ordering::Relaxed)).ok();
        StoreStats { standbys, ..self.counters.stats(queued) }
    }
}
