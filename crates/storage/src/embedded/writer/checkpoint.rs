//! Checkpoints: from time to time the index is handed to the operating system, and the mark says how far in the log it
//! had come.
//!
//! Opening a store that was not closed replays the log from there. The committer does not wait for a
//! checkpoint: a thread makes it while further groups are committed.

use super::Fault;
use crate::embedded::base::Base;
use crate::embedded::health::Health;
use crate::embedded::index::Index;
use crate::embedded::log::disk::{Disk, Identity};
use crate::embedded::mark::{Mark, Position};
use crate::embedded::panics;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The least time between two checkpoints. There are none without commands.
const EVERY: Duration = Duration::from_secs(1);

/// What a checkpoint needs.
pub(crate) struct Target<I, D: Disk> {
    pub(crate) base: Arc<Base<I, D::Log>>,
    pub(crate) disk: D,
    pub(crate) identity: Option<Identity>,
}

impl<I: Index, D: Disk> Target<I, D> {
    /// Hands the index to the operating system and marks how far that goes.
    pub(crate) fn checkpoint(&self, position: Position) -> Result<(), Fault> {
        self.base.index.flush()?;
        Ok(Mark::write_open(&self.disk, &self.base.log.head, position, self.identity)?)
    }

    /// Makes the index durable and marks that the store is closed.
    pub(crate) fn close(&self, position: Position) -> Result<(), Fault> {
        self.base.index.sync()?;
        Ok(Mark::write_clean(&self.disk, &self.base.log.head, position)?)
    }
}

/// The committer's side.
pub(crate) struct Checkpoints<I, D: Disk> {
    target: Arc<Target<I, D>>,
    since: Instant,
    /// `None` once the thread is to end.
    positions: Option<SyncSender<Position>>,
    thread: Option<JoinHandle<()>>,
}

impl<I: Index, D: Disk> Checkpoints<I, D> {
    pub(crate) fn start(target: Target<I, D>, health: &Arc<Health>) -> io::Result<Self> {
        let (positions, receiver) = sync_channel(1);
        let target = Arc::new(target);
        let thread = {
            let (target, health) = (Arc::clone(&target), Arc::clone(health));
            let run = move || checkpoints(&target, &receiver, &health);
            std::thread::Builder::new().name("checkpoints".to_owned()).spawn(run)?
        };
        Ok(Self { target, since: Instant::now(), positions: Some(positions), thread: Some(thread) })
    }

    /// Starts a checkpoint if one is due.
    pub(crate) fn checkpoint_if_due(&mut self, position: Position) {
        if self.since.elapsed() < EVERY {
            return;
        }
        self.since = Instant::now();
        if let Some(positions) = &self.positions {
            // If the last one is still under way, this one is skipped.
            let _ = positions.try_send(position);
        }
    }

    /// Makes the index durable, at the end.
    pub(crate) fn last(&mut self, position: Position) -> Result<(), Fault> {
        self.positions.take();
        if let Some(thread) = self.thread.take() {
            // It catches its panics: its result says nothing.
            drop(thread.join());
        }
        self.target.close(position)
    }

    /// The store has failed: its index cannot be trusted at the next opening.
    pub(crate) fn distrust(&self) {
        if let Err(error) = self.target.disk.remove_mark() {
            tracing::error!(%error, "the mark cannot be removed; open the store with --rebuild-index");
        }
    }
}

fn checkpoints<I: Index, D: Disk>(target: &Target<I, D>, positions: &Receiver<Position>, health: &Health) {
    for position in positions {
        health.checkpoint.start();
        let made = panics::caught(AssertUnwindSafe(|| target.checkpoint(position).map_err(|error| error.to_string())));
        health.checkpoint.stop();
        if let Err(reason) = made {
            return health.fail(&reason);
        }
    }
}
