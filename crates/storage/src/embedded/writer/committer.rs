//! The thread that drives the writer.
//!
//! It waits for a command, takes what else is queued, commits all of it as one group, and answers everyone. There is no
//! timer: the next group forms while this one syncs.
//!
//! A failed write or sync, or a panic, ends the store. After a failed fsync the kernel may have dropped what was
//! written, so a sync is never repeated, and nothing that is in memory is trusted any more.

use super::Writer;
use super::checkpoint::Checkpoints;
use crate::embedded::base::Overlay;
use crate::embedded::health::Health;
use crate::embedded::index::Index;
use crate::embedded::log::disk::{Disk, LogIo};
use crate::embedded::panics;
use crate::embedded::problem::Problem;
use crate::job::BoxedWork;
use crate::queue::{Queue, Queued};
use crate::stats::Counters;
use lendpay_domain::store::StoreError;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most commands of a group: bounds the time that the first of them waits for the last.
const GROUP: usize = 512;

/// A command that waits for the committer.
pub(crate) type Job<I, F> = BoxedWork<Overlay<I, F>>;

pub(crate) struct Committer<I: Index, D: Disk> {
    pub(crate) writer: Writer<I, D::Log>,
    pub(crate) checkpoints: Checkpoints<I, D>,
    pub(crate) queue: Arc<Queue<Job<I, D::Log>>>,
    /// How long a command may have waited; one that has waited longer is not carried out.
    pub(crate) patience: Duration,
    pub(crate) health: Arc<Health>,
    pub(crate) counters: Arc<Counters>,
}

impl<I: Index, D: Disk> Committer<I, D> {
    /// Works until the queue is closed and empty, or the store fails.
    pub(crate) fn run(mut self) {
        let (mut queued, mut group) = (Vec::with_capacity(GROUP), Vec::with_capacity(GROUP));
        loop {
            self.queue.take_blocking(&mut queued, GROUP);
            if queued.is_empty() {
                break;
            }
            let now = Instant::now();
            for Queued { mut item, since } in queued.drain(..) {
                if now.saturating_duration_since(since) > self.patience {
                    item.fail(StoreError::Overloaded);
                    item.answer();
                } else {
                    group.push(item);
                }
            }
            if self.health.failure_reason().is_some() {
                // A reader found the index broken. Nothing of this group was done.
                return self.stop("the index failed under a reader", group, StoreError::Unavailable);
            }
            self.health.group.start();
            let committed = panics::caught(|| commit(&mut self.writer, &mut group, &self.counters));
            if let Err(problem) = committed {
                return self.stop(&problem.to_string(), group, StoreError::OutcomeUnknown);
            }
            self.health.group.stop();
            if self.health.failure_reason().is_some() {
                // The watchdog has failed the store while this group was under way; its callers were told.
                return self.stop("a write came too late", group, StoreError::OutcomeUnknown);
            }
            group.drain(..).for_each(|job| job.answer());
            self.checkpoints.checkpoint_if_due(self.writer.position());
        }
        if self.health.failure_reason().is_some() {
            return self.stop("the index failed under a reader", group, StoreError::Unavailable);
        }
        let position = self.writer.position();
        match panics::caught(|| self.checkpoints.last(position)) {
            Ok(()) => self.health.close(),
            Err(problem) => self.stop(&problem.to_string(), group, StoreError::OutcomeUnknown),
        }
    }

    /// Ends the store. Commands that are still queued are dropped; nothing was done about them. The failure is told
    /// last: the process may end then.
    fn stop(self, reason: &str, group: Vec<Job<I, D::Log>>, answer: StoreError) {
        self.queue.clear();
        self.checkpoints.distrust();
        for mut job in group {
            job.fail(answer);
            job.answer();
        }
        self.health.fail(reason);
        // Dropping the index would write and sync once more; it stays open until the process ends.
        std::mem::forget(self);
    }
}

/// Decides a group, and makes it durable and readable.
fn commit<I: Index, F: LogIo>(
    writer: &mut Writer<I, F>,
    group: &mut [Job<I, F>],
    counters: &Counters,
) -> Result<(), Problem> {
    for job in group.iter_mut() {
        writer.decide(job.as_mut())?;
    }
    counters.decided(group.len());
    let start = Instant::now();
    if writer.write()? {
        writer.sync()?;
        let took = start.elapsed();
        counters.durable(took, writer.publish()?);
    }
    Ok(())
}
