//! The embedded store: a log that is the store, and an index over it.
//!
//! | module | subject |
//! |---|---|
//! | `log` | the file that holds every change, its frames, and the disk that it is on |
//! | `index` | what is where in the log, in sled; can be rebuilt |
//! | `base` | what reads see: the log up to its published end, with the index |
//! | `writer` | decides groups, writes and syncs them, applies them; its thread, checkpoints, the watchdog |
//! | `mark`, `recovery` | what can be trusted when a store is opened; rebuilding the rest from the log |
//! | `open` | settings, errors of opening, the threads of a store |
//! | `read`, `list`, `events` | reads, on the caller's thread |
//! | `filters` | which events a block of the log can hold |
//! | `work` | what a page may cost |
//! | `export`, `import` | all records, out and in |
//! | `verify` | checks a stopped store |
//! | `health`, `problem`, `panics` | whether the store works; what can be wrong with it; panics of the index |
//!
//! This crate's README.md has the layout of the files and what opening does in each state.

mod base;
mod events;
mod export;
mod filters;
mod health;
mod import;
mod index;
mod list;
mod log;
mod mark;
mod open;
mod panics;
mod problem;
mod read;
mod recovery;
#[cfg(test)]
mod simulation;
mod verify;
mod work;
mod writer;

pub use export::EmbeddedExport;
pub use import::EmbeddedImport;
pub use open::{EmbeddedOptions, OpenError};
pub use verify::{Finding, Verified, verify};

use crate::job::job;
use crate::queue::Queue;
use crate::stats::{Counters, StoreStats};
use crate::uses::Hours;
use base::{Base, Overlay};
use health::Health;
use index::sled::SledIndex;
use lendpay_domain::command::{Command, Decided, Decision, Reads, UseKey, Values};
use lendpay_domain::key::KeyHash;
use lendpay_domain::store::{Answer, Commands, StoreError};
use lendpay_domain::view::View;
use lendpay_domain::{HistoryId, Timestamp};
use mark::Position;
use std::fs::File;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use writer::committer::Job;

/// The embedded store. One process can have it open.
///
/// Dropping it does what waits in the queue, and returns when that is durable and the files are closed.
pub struct EmbeddedStore {
    /// Its last owner closes the files, and waits until they are free.
    base: Arc<Base<SledIndex, File>>,
    health: Arc<Health>,
    counters: Arc<Counters>,
    queue: Arc<Queue<Job<SledIndex, File>>>,
    hours: Hours,
    report: OpenReport,
    /// Where the log ended when the store was opened.
    opened_at: Position,
    /// `None` while the store is being dropped.
    thread: Option<JoinHandle<()>>,
}

/// What opening a store did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// Whether the index was rebuilt from the log.
    pub rebuilt: bool,
    /// How many bytes were cut off the end of the log. No caller had got an answer about them.
    pub cut_bytes: u64,
    /// How many complete frames were among them.
    pub cut_frames: u64,
}

impl EmbeddedStore {
    /// Takes no more commands, does those that wait, syncs, and ends the committer. Later commands get
    /// [`Unavailable`](StoreError::Unavailable); reads still work. The files are closed, and the directory is free
    /// for another process, when the store is dropped.
    ///
    /// # Errors
    /// `Unavailable` if the store has failed.
    pub async fn close(&self) -> Answer<()> {
        self.queue.close();
        self.health.ended().await
    }

    /// Completes, with the reason, when the store has failed and stopped for good; never otherwise. The program should
    /// end then: what is acknowledged is on disk, and only a new start finds out what else is.
    pub fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        self.health.failure()
    }

    /// Why the store has failed, if it has.
    pub fn failure_reason(&self) -> Option<String> {
        self.health.failure_reason().map(|reason| reason.to_string())
    }

    /// Why the store has failed, if it has, or else what is damaged, if a read or a decision has found that.
    pub fn problem(&self) -> Option<String> {
        self.health.problem(&self.base.log.damage)
    }

    /// Counters.
    pub fn stats(&self) -> StoreStats {
        self.counters.stats(self.queue.len())
    }

    /// What opening the store did.
    pub const fn open_report(&self) -> OpenReport {
        self.report
    }

    /// How long rebuilding the index would take now.
    pub fn rebuild_estimate(&self) -> Duration {
        /// For one change: about what it costs to read it and to insert it into the index (README.md, "What it costs").
        const CHANGE: Duration = Duration::from_micros(13);
        let changes = self.opened_at.next - 1 + self.stats().events.iter().sum::<u64>();
        CHANGE.saturating_mul(u32::try_from(changes).unwrap_or(u32::MAX))
    }

    /// The history that the log is in. Only an import begins another, and it needs the store for itself.
    const fn history(&self) -> HistoryId {
        HistoryId::from_bytes(self.opened_at.history)
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        self.queue.close();
        // The committer of a store that has failed may block for ever; its files stay open until the process ends.
        if self.health.failure_reason().is_some() {
            return;
        }
        if let Some(thread) = self.thread.take() {
            // The committer catches its panics: its result says nothing.
            drop(thread.join());
        }
    }
}

impl Commands for EmbeddedStore {
    async fn run<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        self.health.working()?;
        let (job, waiting) = job::<C, Overlay<SledIndex, File>>(command);
        self.queue.push(job.partner(), job)?;
        tokio::select! {
            biased;
            // Without an answer the committer ended before it took the command.
            answer = waiting.outcome(StoreError::Unavailable, self) => answer,
            // A committer that blocks for ever gives no answer.
            _ = self.health.failure() => Err(StoreError::OutcomeUnknown),
        }
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        if let Some(at) = self.hours.new_hour(key, at) {
            let (job, _nobody_waits) = job::<_, Overlay<SledIndex, File>>(UseKey { key, at });
            // If the queue is full the note is lost; the use in the next hour is noted again.
            let _ = self.queue.push(None, job);
        }
    }

    async fn check(&self) -> Answer<()> {
        self.run(Ping).await?;
        if self.base.log.damage.is_found() { Err(StoreError::Corrupt) } else { Ok(()) }
    }
}

/// Asks whether commands are carried out.
#[derive(Clone)]
struct Ping;

impl Command for Ping {
    type Outcome = ();
    type Decided<T: Send + 'static, B: Send + 'static> = ();

    fn reads(&self, _: &mut Reads) {}

    fn decide<V: View>(&self, _: &V) -> Decided<()> {
        Ok(Decision { outcome: (), changes: Vec::new() })
    }

    fn outcome<T: Send + 'static, B: Send + 'static>(self, (): (), _: &impl Values<T, B>) -> Answer<()> {
        Ok(())
    }
}
