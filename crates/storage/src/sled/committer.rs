//! The one thread that writes.
//!
//! It waits for a command, takes what else is queued, decides everything, writes the group to the log, syncs, brings the trees up
//! to date, and answers everyone. There is no timer: the next group forms while this one syncs.
//!
//! The trees come after the sync, so that nobody reads what a crash could take back, and are not synced themselves: what a crash
//! takes from them is in the log (see `redo`).
//!
//! A failed write or sync, or a panic, is the end: what the kernel has dropped after a failed fsync cannot be had back, so it
//! is never tried again, and nothing that is in memory is believed any more.

use super::checkpoint::Checkpoints;
use super::decide::Stage;
use super::fault::Broken;
use super::health::Health;
use super::queue::Queued;
use super::quiet;
use super::trees::Trees;
use super::work::{Decided, Work};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// The most commands of a group: bounds the time that the first of them waits for the last.
const GROUP: usize = 512;

pub(super) struct Committer {
    pub(super) trees: Arc<Trees>,
    pub(super) checkpoints: Checkpoints,
    pub(super) receiver: Receiver<Queued>,
    pub(super) patience: Duration,
    pub(super) health: Arc<Health>,
    pub(super) stage: Stage,
}

impl Committer {
    /// Works until the queue is closed and empty, or the store fails.
    pub(super) fn run(mut self) {
        let mut work = Vec::with_capacity(GROUP);
        let mut decided = Vec::with_capacity(GROUP);
        while let Ok(first) = self.receiver.recv() {
            let mut taken = 0;
            let now = Instant::now();
            for Queued { work: command, since } in std::iter::once(first).chain(self.receiver.try_iter()).take(GROUP) {
                taken += 1;
                if now.saturating_duration_since(since) > self.patience {
                    command.refuse();
                } else {
                    work.push(command);
                }
            }
            self.health.dequeued(taken);
            if self.health.failure_reason().is_some() {
                // A reader found the database broken.
                return self.stop("the database failed under a reader", decided);
            }
            self.health.group.start();
            let committed = || self.commit(&mut work, &mut decided).map_err(|error| error.to_string());
            if let Err(reason) = quiet::caught(AssertUnwindSafe(committed)) {
                return self.stop(&reason, decided);
            }
            self.health.group.stop();
            if self.health.failure_reason().is_some() {
                // The watchdog gave this group up, and its callers with it.
                return self.stop("a write came too late", decided);
            }
            decided.drain(..).for_each(Decided::tell);
        }
        let next = self.stage.log.following();
        match quiet::caught(AssertUnwindSafe(|| self.checkpoints.last(next).map_err(|error| error.to_string()))) {
            Ok(()) => self.health.close(),
            Err(reason) => self.stop(&reason, decided),
        }
    }

    /// Fails for good. Commands that are still queued are dropped with the queue: their callers learn that nothing was done.
    fn stop(self, reason: &str, decided: Vec<Decided>) {
        drop(self.receiver);
        self.health.fail(reason);
        decided.into_iter().for_each(Decided::tell_unknown);
        // Dropping the database would write and sync once more; it stays open until the process ends.
        std::mem::forget(Arc::clone(&self.trees));
    }

    fn commit(&mut self, work: &mut Vec<Work>, decided: &mut Vec<Decided>) -> Result<(), Broken> {
        for work in work.drain(..) {
            decided.push(self.stage.decide(work)?);
        }
        self.health.decided(decided.len() as u64);
        let Stage { log, states, .. } = &mut self.stage;
        let committed = self.trees.commit(log, states)?;
        if let Some((took, events)) = committed.synced {
            self.health.synced(took, events);
        }
        self.trees.log.publish(committed.end);
        self.checkpoints.perhaps(self.stage.log.following())?;
        Ok(())
    }
}
