//! Checkpoints: from time to time the trees are made durable, and the mark tells how far in the log they had come.
//!
//! Opening a store that was not closed brings the trees up to date from there. The committer does not wait for a checkpoint: a
//! thread makes it, beside the groups that follow.

use super::fault::Broken;
use super::health::Health;
use super::mark::{self, Mark};
use super::quiet;
use super::trees::Trees;
use std::fs::File;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often there is one, while there is something to write.
const EVERY: Duration = Duration::from_secs(1);

/// What makes trees durable.
pub(super) struct Index {
    pub(super) trees: Arc<Trees>,
    pub(super) directory: PathBuf,
    /// `<path>/db`, opened by us.
    pub(super) file: File,
}

impl Index {
    /// Makes durable what is in the trees, and marks how far that goes.
    pub(super) fn settle(&self, mark: Mark) -> Result<(), Broken> {
        self.sync()?;
        Ok(mark::write(&self.directory, mark)?)
    }

    /// Makes durable what is in the trees.
    pub(super) fn sync(&self) -> Result<(), Broken> {
        // Writes the buffers out …
        self.trees.db.flush()?;
        // … and this syncs them, whatever the database takes for a sync.
        Ok(self.file.sync_data()?)
    }
}

/// The committer's side.
pub(super) struct Checkpoints {
    index: Arc<Index>,
    since: Instant,
    /// `None` once the thread is to end.
    marks: Option<SyncSender<Mark>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(super) fn start(index: Index, health: &Arc<Health>) -> io::Result<Self> {
        let (marks, receiver) = sync_channel(1);
        let index = Arc::new(index);
        let thread = {
            let (index, health) = (Arc::clone(&index), Arc::clone(health));
            std::thread::Builder::new()
                .name("checkpoints".to_owned())
                .spawn(move || make(&index, &receiver, &health))?
        };
        Ok(Self { index, since: Instant::now(), marks: Some(marks), thread: Some(thread) })
    }

    /// Has a checkpoint made of what is in the trees, if it is time.
    pub(super) fn perhaps(&mut self, next: u64) -> Result<(), Broken> {
        if self.since.elapsed() < EVERY {
            return Ok(());
        }
        self.since = Instant::now();
        let mark = self.reach(next)?;
        if let Some(marks) = &self.marks {
            // A disk that is still at the last one has no time for another.
            let _ = marks.try_send(mark);
        }
        Ok(())
    }

    /// Makes the last one.
    pub(super) fn last(&mut self, next: u64) -> Result<(), Broken> {
        self.marks.take();
        if let Some(thread) = self.thread.take() {
            // It catches its panics; there is nothing to hear here.
            drop(thread.join());
        }
        let mark = self.reach(next)?;
        self.index.settle(mark)
    }

    /// Notes how far the trees have come.
    fn reach(&self, next: u64) -> Result<Mark, Broken> {
        let end = self.index.trees.log.end();
        self.index.trees.note_reached(end)?;
        Ok(Mark { next, end })
    }
}

fn make(index: &Index, marks: &Receiver<Mark>, health: &Health) {
    for mark in marks {
        health.checkpoint.start();
        let settled = quiet::caught(AssertUnwindSafe(|| index.settle(mark).map_err(|error| error.to_string())));
        health.checkpoint.stop();
        if let Err(reason) = settled {
            return health.fail(&reason);
        }
    }
}
