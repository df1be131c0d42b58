//! Opening: settings, what can be wrong, and the threads of a store.

use super::checkpoint::{Checkpoints, Index};
use super::committer::Committer;
use super::decide::Stage;
use super::frame::GroupLog;
use super::health::Health;
use super::log::{FORMAT, NAME as LOG};
use super::prepare::prepare;
use super::queue::Queue;
use super::release::Release;
use super::uses::Uses;
use super::watchdog;
use super::{SledStore, mark};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Settings of the embedded store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SledOptions {
    /// Memory for pages, in bytes. The process takes two to four times that, and 60 bytes for each offer. Default 256 MiB.
    pub cache_capacity: u64,
    /// Commands that may wait; more are refused. Default 4096.
    pub queue: usize,
    /// How long a command may wait; one that has waited longer is refused, and not done. Shorter than callers wait for an
    /// answer, so that they learn that nothing was done. Default 10 s.
    pub patience: Duration,
}

impl Default for SledOptions {
    fn default() -> Self {
        Self { cache_capacity: 256 * 1024 * 1024, queue: 4096, patience: Duration::from_secs(10) }
    }
}

/// Why a store cannot be opened. Each is one sentence for the operator that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be created, read or written.
    #[error("The data directory {} cannot be used ({reason}); choose another one or mend its permissions.", path.display())]
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
    /// The files are not what was written.
    #[error(
        "The data in {} is damaged ({reason}); move the directory away and restore it with `lendpay import` from an export.",
        path.display()
    )]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What was found; never content.
        reason: String,
    },
    /// The data was written by a newer program.
    #[error(
        "The data in {} has format {found} and this program knows up to {FORMAT}; use the newer program that wrote it.",
        path.display()
    )]
    Newer {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The data was written by an older program.
    #[error(
        "The data in {} has format {found} and this program knows only {FORMAT} and 1; export it with the program that wrote it and \
         restore it with `lendpay import`.",
        path.display()
    )]
    Older {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The system gives no thread.
    #[error("The store's thread cannot be started ({reason}); raise the limit on processes.")]
    Thread {
        /// What the operating system says, in words.
        reason: String,
    },
}

impl SledStore {
    /// Opens the store in a directory, which is created if it is not there. Blocks until the end of the log is made good.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path, options: SledOptions) -> Result<Self, OpenError> {
        let directory = |error: io::Error| OpenError::Directory { path: path.into(), reason: words(&error) };
        let (trees, mark) = prepare(path, options)?;
        let trees = Arc::new(trees);
        let index =
            Index { trees: Arc::clone(&trees), directory: path.into(), file: sync_all(path).map_err(directory)? };
        // After the sync: the mark never claims more than is durable.
        mark::write(path, mark).map_err(directory)?;
        let health = Arc::new(Health::new());
        let (queue, receiver) = Queue::new(options.queue, Arc::clone(&health));
        let Some(stage) = Stage::new(Arc::clone(&trees), GroupLog::new(mark.next, mark.end)) else {
            return Err(OpenError::Damaged { path: path.into(), reason: "no offer can be made".to_owned() });
        };
        let checkpoints =
            Checkpoints::start(index, &health).map_err(|error| OpenError::Thread { reason: words(&error) })?;
        let committer = Committer {
            trees: Arc::clone(&trees),
            checkpoints,
            receiver,
            patience: options.patience,
            health: Arc::clone(&health),
            stage,
        };
        let thread = std::thread::Builder::new()
            .name("committer".to_owned())
            .spawn(move || committer.run())
            .map_err(|error| OpenError::Thread { reason: words(&error) })?;
        // It ends by itself, soon after the store.
        watchdog::start(&health).map_err(|error| OpenError::Thread { reason: words(&error) })?;
        let release = Release { database: path.join("db"), health: Arc::clone(&health) };
        Ok(Self { trees, health, queue, uses: Uses::default(), thread: Some(thread), _release: release })
    }
}

/// Makes the files and their names durable once, and gives the handle of the database's file that each checkpoint syncs. Its
/// view of errors is its own: a sync by one of sled's threads cannot swallow one.
pub(super) fn sync_all(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).open(path.join("db"))?;
    file.sync_all()?;
    for name in ["conf", LOG] {
        File::open(path.join(name))?.sync_all()?;
    }
    for directory in [Some(path), path.parent()].into_iter().flatten() {
        // The parent of a relative path of one part is the empty path.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        File::open(directory)?.sync_all()?;
    }
    Ok(file)
}

/// An error of the operating system without its number.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}
