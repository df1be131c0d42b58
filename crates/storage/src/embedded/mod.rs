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
//! | `webhooks` | endpoints of webhooks |
//! | `filters` | which events a block of the log can hold |
//! | `due` | which offers expire when |
//! | `expired` | which offers have expired |
//! | `work` | what a page may cost |
//! | `export`, `import` | all records, out and in |
//! | `calls` | calls that changed nothing, in files beside the log |
//! | `published`, `backup` | the log as it is copied while the store runs; the copy |
//! | `verify` | checks a stopped store |
//! | `health`, `problem`, `panics` | whether the store works; what can be wrong with it; panics of the index |
//!
//! This crate's README.md has the layout of the files and what opening does in each state.

mod backup;
mod base;
mod calls;
mod due;
mod events;
mod expired;
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
mod published;
mod read;
mod recovery;
#[cfg(test)]
mod simulation;
mod verify;
mod webhooks;
mod work;
mod writer;

pub use backup::{BackupError, EmbeddedBackup};
pub use export::EmbeddedExport;
pub use import::EmbeddedImport;
pub use open::{EmbeddedOptions, OpenError};
pub use verify::{Finding, Verified, verify};

use crate::calls::Recorder;
use crate::job::{Done, job};
use crate::queue::Queue;
use crate::stats::{Counters, StoreStats};
use crate::uses::Hours;
use base::{Base, Overlay};
use health::Health;
use index::sled::SledIndex;
use lendpay_domain::calls::{Call, Keeping};
use lendpay_domain::command::{Command, Decided, Decision, Reads, Stamp, UseKey, Values};
use lendpay_domain::key::KeyHash;
use lendpay_domain::log::Log;
use lendpay_domain::query::DueCursor;
use lendpay_domain::store::{Answer, Calls, Commands, StoreError};
use lendpay_domain::view::View;
use lendpay_domain::{HistoryId, OperationId, Timestamp};
use log::disk::LockedFile;
use mark::Position;
use published::PublishedLog;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use writer::committer::Job;

/// The embedded store. One process can have it open.
///
/// Dropping it does what waits in the queue, and returns when that is durable and the files are closed.
pub struct EmbeddedStore {
    /// Its last owner closes the files, and waits until they are free.
    base: Arc<Base<SledIndex, LockedFile>>,
    health: Arc<Health>,
    counters: Arc<Counters>,
    queue: Arc<Queue<Job<SledIndex, LockedFile>>>,
    hours: Hours,
    /// `None` while the store is being dropped.
    calls: Option<Recorder>,
    /// Where calls are kept, and for how long.
    kept_calls: (PathBuf, Keeping),
    published: Arc<PublishedLog>,
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
        self.recorder().hand_on().await;
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

    /// The log, for backups. It stays open, and the directory in use, until this is dropped too.
    pub fn log(&self) -> Arc<dyn Log> {
        self.published.clone()
    }

    /// Where it keeps its files.
    pub fn directory(&self) -> &Path {
        self.published.directory()
    }

    /// How long rebuilding the index would take now.
    pub fn rebuild_estimate(&self) -> Duration {
        /// For one change: about what it costs to read it and to insert it into the index (README.md, "What it costs").
        const CHANGE: Duration = Duration::from_micros(8);
        let changes = self.opened_at.next - 1 + self.stats().events.iter().sum::<u64>();
        CHANGE.saturating_mul(u32::try_from(changes).unwrap_or(u32::MAX))
    }

    const fn recorder(&self) -> &Recorder {
        self.calls.as_ref().expect("only dropping the store takes it")
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
        self.calls.take().into_iter().for_each(Recorder::end);
    }
}

impl Commands for EmbeddedStore {
    async fn run<C: Command>(&self, mut command: C) -> Answer<C::Outcome> {
        loop {
            self.health.working()?;
            // On this thread: the committer reads no terms.
            let read = match command.terms() {
                Some((application, offer)) => self.read(|base| base.terms_of(application, offer))?,
                None => None,
            };
            let (job, waiting) = job::<C, Overlay<SledIndex, LockedFile>>(command, read);
            self.queue.push(job.partner(), job)?;
            let done = tokio::select! {
                biased;
                // Without an answer the committer ended before it took the command.
                done = waiting.done(StoreError::Unavailable, self) => done,
                // A committer that blocks for ever gives no answer.
                _ = self.health.failure() => return Err(StoreError::OutcomeUnknown),
            };
            match done {
                Done::Answer(answer) => return answer,
                // Another command has replaced the terms, so that each time round one of all is done.
                Done::Again(again) => command = again,
            }
        }
    }

    async fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        self.expire_due(after, now, most, stamp).await
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        if let Some(at) = self.hours.new_hour(key, at) {
            let (job, _nobody_waits) = job::<_, Overlay<SledIndex, LockedFile>>(UseKey { key, at }, None);
            // If the queue is full the note is lost; the use in the next hour is noted again.
            let _ = self.queue.push(None, job);
        }
    }

    async fn check(&self) -> Answer<()> {
        self.run(Ping).await?;
        if self.base.log.damage.is_found() { Err(StoreError::Corrupt) } else { Ok(()) }
    }
}

impl Calls for EmbeddedStore {
    fn note_call(&self, call: Call) {
        self.recorder().note(call);
    }

    async fn calls_of(&self, operation: OperationId, now: Timestamp) -> Answer<Vec<Call>> {
        self.recorder().hand_on().await;
        let (directory, keeping) = self.kept_calls.clone();
        let find = move || calls::find(&directory, operation, keeping.since(now));
        tokio::task::spawn_blocking(find).await.map_err(|_panic| StoreError::Unavailable)
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
