//! Opening: settings, errors, and the threads of a store.

use super::EmbeddedStore;
use super::calls::{CALLS, Segments};
use super::health::Health;
use super::index::sled::{SledIndex, SledOpener};
use super::log::disk::{Directory, Disk as _, INDEX, LockedFile};
use super::log::frame::Kind;
use super::log::{FORMAT, Head};
use super::mark::State;
use super::problem::Problem;
use super::published::PublishedLog;
use super::recovery::{self, Opened};
use super::writer::checkpoint::{Checkpoints, checkpoint};
use super::writer::committer::Committer;
use super::writer::{Writer, watchdog};
use crate::calls::Recorder;
use crate::history::{new_history, random};
use crate::queue::Queue;
use crate::stats::Counters;
use crate::uses::Hours;
use lendpay_domain::calls::Keeping;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Settings of the embedded store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EmbeddedOptions {
    /// Memory for the index's cache, in bytes. The process takes two to four times that, and 60 bytes for each offer.
    /// Default 256 MiB.
    pub cache_capacity: u64,
    /// Commands that may wait; more are refused. Default 4096.
    pub queue: usize,
    /// How long a command may wait; one that has waited longer is refused, and not done. Shorter than callers wait for
    /// an answer, so that they learn that nothing was done. Default 10 s.
    pub patience: Duration,
    /// Rebuild the index whatever state it is in. Default false.
    pub rebuild_index: bool,
    /// How calls that changed nothing are kept.
    pub calls: Keeping,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        let patience = Duration::from_secs(10);
        let calls = Keeping::DEFAULT;
        Self { cache_capacity: 256 * 1024 * 1024, queue: 4096, patience, rebuild_index: false, calls }
    }
}

/// Why a store cannot be opened. Each is one sentence for the operator that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be created, read or written.
    #[error("The data directory {} cannot be used ({reason}); choose another one or correct its permissions.", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the operating system says, in words.
        reason: String,
    },
    /// Another process has the store open.
    #[error("The data directory {} is in use by another process; stop that process or choose another directory.", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The log is not what was written.
    #[error(
        "The log in {} is damaged ({reason}); move the directory away and restore it with `lendpay import` from an export.",
        path.display()
    )]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What was found; never content.
        reason: String,
    },
    /// The index cannot be used, and not be rebuilt.
    #[error("The index in {} cannot be used ({reason}); delete the directory `index` in it and start again.", path.display())]
    Index {
        /// The directory.
        path: PathBuf,
        /// What was found; never content.
        reason: String,
    },
    /// The data was written by another version of the program.
    #[error(
        "The log in {} has format {found} and this program knows format {FORMAT}; use the program that wrote it, or export with that \
         and restore with `lendpay import`.",
        path.display()
    )]
    Format {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u8,
    },
    /// The system gives no thread.
    #[error("The store's thread cannot be started ({reason}); raise the limit on processes.")]
    Thread {
        /// What the operating system says, in words.
        reason: String,
    },
}

/// Opens the store in a directory, which is created if it is absent.
pub(super) fn open(
    path: &Path,
    options: EmbeddedOptions,
) -> Result<(Directory, Opened<SledIndex, LockedFile>), Problem> {
    let disk = Directory::create(path)?;
    let opener = SledOpener { path: disk.join(INDEX), cache: options.cache_capacity };
    let new = Head { salt: random(), history: new_history().to_bytes() };
    let opened = recovery::open(&disk, &opener, new, options.rebuild_index)?;
    disk.sync_names()?;
    Ok((disk, opened))
}

impl EmbeddedStore {
    /// Opens the store in a directory, which is created if it is absent. Blocks until the index is up to date.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path, options: EmbeddedOptions) -> Result<Self, OpenError> {
        let opened = open(path, options).and_then(|(disk, opened)| {
            let identity = disk.identity(&opened.base.log.file);
            let writer = Writer::new(Arc::clone(&opened.base), Kind::Commands, opened.position)?;
            checkpoint(&opened.base, &disk, opened.position, State::Open(identity))?;
            let health = Arc::new(Health::new());
            let published = Arc::new(PublishedLog::open(&opened.base.log, &health, path)?);
            Ok((disk, opened, writer, identity, health, published))
        });
        let (disk, Opened { base, position, report }, writer, identity, health, published) =
            opened.map_err(|problem| open_error(path, problem))?;
        let thread_error = |error: io::Error| OpenError::Thread { reason: words(&error) };
        let queue = Arc::new(Queue::new(options.queue));
        let counters = Arc::new(Counters::default());
        let committer = Committer {
            writer,
            checkpoints: Checkpoints::start(Arc::clone(&base), disk, identity, &health).map_err(thread_error)?,
            queue: Arc::clone(&queue),
            patience: options.patience,
            health: Arc::clone(&health),
            counters: Arc::clone(&counters),
        };
        let thread = std::thread::Builder::new()
            .name("committer".to_owned())
            .spawn(move || committer.run())
            .map_err(thread_error)?;
        // Its thread ends by itself, soon after the store.
        watchdog::start(&health).map_err(thread_error)?;
        let kept_calls = (path.join(CALLS), options.calls);
        let calls = Recorder::start(Segments::open(kept_calls.0.clone(), kept_calls.1), &counters);
        Ok(Self {
            base,
            health,
            counters,
            queue,
            hours: Hours::default(),
            calls: Some(calls.map_err(thread_error)?),
            kept_calls,
            published,
            report,
            opened_at: position,
            thread: Some(thread),
        })
    }
}

pub(super) fn open_error(path: &Path, problem: Problem) -> OpenError {
    let path = path.into();
    match problem {
        Problem::InUse => OpenError::InUse { path },
        Problem::Disk(error) => OpenError::Directory { path, reason: words(&error) },
        Problem::Format(found) => OpenError::Format { path, found },
        Problem::Log(reason) => OpenError::Damaged { path, reason },
        Problem::Index(reason) => OpenError::Index { path, reason },
    }
}

/// An error of the operating system without its number.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}
