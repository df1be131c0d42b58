//! The one thread that writes.
//!
//! It waits for a command, takes what else is queued, decides everything, writes the group's log and then its states, syncs,
//! and answers everyone. There is no timer: the next group forms while this one syncs.
//!
//! A failed write or sync, or a panic, is the end: what the kernel has dropped after a failed fsync cannot be had back, so it
//! is never tried again, and nothing that is in memory is believed any more.

use super::decide::Stage;
use super::health::{Health, Seen};
use super::queue::Queued;
use super::trees::Trees;
use super::work::{Decided, Work};
use super::{mark, quiet};
use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// The most commands of a group: bounds the time that the first of them waits for the last.
const GROUP: usize = 512;

pub(super) struct Committer {
    pub(super) trees: Arc<Trees>,
    pub(super) directory: PathBuf,
    /// `<path>/db`, opened by us: the database itself never syncs it before answering.
    pub(super) file: File,
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
        let mut group = 0;
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
            group += 1;
            self.health.begins_group();
            if let Err(reason) = quiet::caught(AssertUnwindSafe(|| self.commit(group, &mut work, &mut decided))) {
                return self.stop(&reason, decided);
            }
            self.health.ends_group();
            if self.health.failure_reason().is_some() {
                // The watchdog gave this group up, and its callers with it.
                return self.stop("a write came too late", decided);
            }
            decided.drain(..).for_each(Decided::tell);
        }
        match quiet::caught(AssertUnwindSafe(|| self.sync())) {
            Ok(()) => {
                // Everything is durable; a mark that is older than it could be finds a little less, that is all.
                if let Err(error) = mark::write(&self.directory, self.stage.log.next()) {
                    tracing::warn!(%error, "the file that marks the length of the log cannot be written");
                }
                self.health.close();
            }
            Err(reason) => self.stop(&reason, decided),
        }
    }

    /// Fails for good. Commands that are still queued are dropped with the queue: their callers learn that nothing was done.
    fn stop(self, reason: &str, decided: Vec<Decided>) {
        self.health.fail(reason);
        decided.into_iter().for_each(Decided::tell_unknown);
        // Dropping the database would write and sync once more; it stays open until the process ends.
        std::mem::forget(Arc::clone(&self.trees));
    }

    fn commit(&mut self, group: u64, work: &mut Vec<Work>, decided: &mut Vec<Decided>) -> Result<(), String> {
        for work in work.drain(..) {
            decided.push(self.stage.decide(work).map_err(|error| said(&error))?);
        }
        self.health.decided(decided.len() as u64);
        if self.stage.states.is_empty() {
            return Ok(());
        }
        self.health.applies(group, Seen::Log);
        for key in self.stage.states.keys() {
            self.health.applies(group, Seen::State(key.kind));
        }
        // First the log of the whole group, then the states: see `redo`.
        for (sequence, value) in self.stage.log.end_group().map_err(|error| error.to_string())? {
            self.trees.log.insert(sequence.to_be_bytes(), value.as_slice()).map_err(|error| said(&error))?;
        }
        for (key, value) in self.stage.states.drain() {
            self.trees.insert(&key, value).map_err(|error| said(&error))?;
        }
        let start = Instant::now();
        self.sync()?;
        let events = self.stage.log.clear();
        self.health.synced(group, start.elapsed(), events);
        Ok(())
    }

    fn sync(&self) -> Result<(), String> {
        // Writes the buffers out, but does not sync on Linux…
        self.trees.db.flush().map_err(|error| said(&error))?;
        // … so this does.
        self.file.sync_data().map_err(|error| format!("the sync of the database file failed: {error}"))
    }
}

/// An error of the database without what it may quote of the data.
pub(super) fn said(error: &sled::Error) -> String {
    match error {
        sled::Error::Io(error) => format!("a write to or read from the disk failed: {error}"),
        sled::Error::Corruption { .. } => "the database is damaged".to_owned(),
        sled::Error::CollectionNotFound(_) | sled::Error::Unsupported(_) | sled::Error::ReportableBug(_) => {
            "the database failed".to_owned()
        }
    }
}
