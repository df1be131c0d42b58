//! Checkpoints: from time to time the index is handed to the operating system, and the mark says how far in the log it
//! had come.
//!
//! Opening a store that was not closed replays the log from there. The committer does not wait for a
//! checkpoint: a thread makes it while further groups are committed.

use crate::embedded::base::Base;
use crate::embedded::health::Health;
use crate::embedded::index::Index;
use crate::embedded::log::disk::{Disk, Identity};
use crate::embedded::mark::{Mark, Position, State};
use crate::embedded::panics;
use crate::embedded::problem::Problem;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The least time between two checkpoints. There are none without commands.
const EVERY: Duration = Duration::from_secs(1);

/// Hands the index to the operating system, or makes it durable for a clean stop, and then marks how far that goes.
pub(crate) fn checkpoint<I: Index, D: Disk>(
    base: &Base<I, D::Log>,
    disk: &D,
    position: Position,
    state: State,
) -> Result<(), Problem> {
    match state {
        State::Clean => base.index.sync()?,
        State::Open(_) => base.index.flush()?,
    }
    Ok(Mark::write(disk, &base.log.head, position, state)?)
}

/// The committer's side.
pub(crate) struct Checkpoints<I, D: Disk> {
    base: Arc<Base<I, D::Log>>,
    disk: Arc<D>,
    since: Instant,
    /// `None` once the thread is to end.
    positions: Option<SyncSender<Position>>,
    thread: Option<JoinHandle<()>>,
}

impl<I: Index, D: Disk> Checkpoints<I, D> {
    pub(crate) fn start(
        base: Arc<Base<I, D::Log>>,
        disk: D,
        identity: Option<Identity>,
        health: &Arc<Health>,
    ) -> io::Result<Self> {
        let (positions, receiver) = sync_channel(1);
        let checkpoints =
            Self { disk: Arc::new(disk), base, since: Instant::now(), positions: Some(positions), thread: None };
        let (base, disk, health) = (Arc::clone(&checkpoints.base), Arc::clone(&checkpoints.disk), Arc::clone(health));
        let run = move || {
            for position in receiver {
                health.checkpoint.start();
                let made = panics::caught(|| checkpoint(&base, &*disk, position, State::Open(identity)));
                health.checkpoint.stop();
                if let Err(problem) = made {
                    return health.fail(&problem.to_string());
                }
            }
        };
        let thread = std::thread::Builder::new().name("checkpoints".to_owned()).spawn(run)?;
        Ok(Self { thread: Some(thread), ..checkpoints })
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
    pub(crate) fn last(&mut self, position: Position) -> Result<(), Problem> {
        self.positions.take();
        if let Some(thread) = self.thread.take() {
            // It catches its panics: its result says nothing.
            drop(thread.join());
        }
        checkpoint(&self.base, &*self.disk, position, State::Clean)
    }

    /// The store has failed: its index cannot be trusted at the next opening.
    pub(crate) fn distrust(&self) {
        if let Err(error) = self.disk.remove_mark() {
            tracing::error!(%error, "the mark cannot be removed; open the store with --rebuild-index");
        }
    }
}
