//! Opening: settings, the directory, the version of the format, the end of the log.

use super::committer::Committer;
use super::decide::Stage;
use super::health::Health;
use super::import::undo;
use super::queue::Queue;
use super::redo::{RedoError, redo};
use super::release::Release;
use super::trees::Trees;
use super::uses::Uses;
use super::watchdog;
use super::{SledStore, mark, quiet};
use crate::codec;
use std::fs::File;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The version of the format: which trees there are, how keys look, and what the log means. Values have one of their own.
const FORMAT: u32 = 1;

/// sled moves a page of more than a quarter of a segment to a file of its own, which it never syncs. A leaf holds up to 17
/// values; with the longest values that is 1.7 MiB, and a quarter of this is 2 MiB.
const SEGMENT: usize = 8 * 1024 * 1024;

/// Settings of the embedded store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SledOptions {
    /// Memory for pages, in bytes. The process takes up to twice that, and 40 bytes for each offer. Default 256 MiB.
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
        "The data in {} has format {found} and this program knows only {FORMAT}; export it with the program that wrote it and \
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
        let (trees, next) = open_trees(path, options)?;
        let file = sync_all(path).map_err(directory)?;
        // After the sync: the mark never claims more than is durable.
        mark::write(path, next).map_err(directory)?;
        let trees = Arc::new(trees);
        let health = Arc::new(Health::new());
        let (queue, receiver) = Queue::new(options.queue, Arc::clone(&health));
        let Some(stage) = Stage::new(Arc::clone(&trees), next) else {
            return Err(OpenError::Damaged { path: path.into(), reason: "no offer can be made".to_owned() });
        };
        let committer = Committer {
            trees: Arc::clone(&trees),
            directory: path.into(),
            file,
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

/// Opens the database and makes its end good.
pub(super) fn open_trees(path: &Path, options: SledOptions) -> Result<(Trees, u64), OpenError> {
    std::fs::create_dir_all(path.join("blobs"))
        .map_err(|error| OpenError::Directory { path: path.into(), reason: words(&error) })?;
    let mut outcome = None;
    let opened = quiet::caught(AssertUnwindSafe(|| {
        outcome = Some(open_uncaught(path, options));
        Ok(())
    }));
    match (opened, outcome) {
        (Ok(()), Some(outcome)) => outcome,
        (Err(reason), _) => Err(OpenError::Damaged { path: path.into(), reason }),
        (Ok(()), None) => Err(OpenError::Damaged { path: path.into(), reason: String::new() }),
    }
}

fn open_uncaught(path: &Path, options: SledOptions) -> Result<(Trees, u64), OpenError> {
    let damaged = |reason: &str| OpenError::Damaged { path: path.into(), reason: reason.to_owned() };
    let failed = |error: sled::Error| match error {
        // sled has no error of its own for this.
        sled::Error::Io(error) if error.to_string().starts_with("could not acquire lock") => {
            OpenError::InUse { path: path.into() }
        }
        sled::Error::Io(error) => match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                damaged("a file of the database is cut off or missing")
            }
            _ => OpenError::Directory { path: path.into(), reason: words(&error) },
        },
        sled::Error::Unsupported(_) => damaged("it was not written by this program"),
        sled::Error::Corruption { .. } => damaged("a page of the database is not what was written"),
        sled::Error::CollectionNotFound(_) | sled::Error::ReportableBug(_) => damaged("the database is inconsistent"),
    };
    let db = sled::Config::new()
        .path(path)
        // Its pages take about twice their bytes in memory, and its table of pages grows with the data: see README.md.
        .cache_capacity(options.cache_capacity / 4 * 3)
        .segment_size(SEGMENT)
        .flush_every_ms(Some(500))
        .open()
        .map_err(failed)?;
    let trees = Trees::open(db).map_err(failed)?;
    let marked = mark::read(path).map_err(|_| damaged("the file that marks its length cannot be read"))?;
    match trees.meta.get("format").map_err(failed)? {
        Some(value) => match codec::unseal::<u32>(&value) {
            Ok(FORMAT) => {}
            Ok(found) if found > FORMAT => return Err(OpenError::Newer { path: path.into(), found }),
            Ok(found) => return Err(OpenError::Older { path: path.into(), found }),
            Err(codec::CodecError::Version(found)) => {
                return Err(OpenError::Newer { path: path.into(), found: found.into() });
            }
            Err(_) => return Err(damaged("the version of its format cannot be read")),
        },
        None if trees.is_empty() && marked.is_none() => {
            let mut value = Vec::new();
            codec::seal(&FORMAT, &mut value).map_err(|_| damaged("the version of its format cannot be written"))?;
            trees.meta.insert("format", value).map_err(failed)?;
        }
        None => return Err(damaged("what was written is missing")),
    }
    let unfinished = mark::unfinished_import(path);
    if let Some(first) = unfinished.map_err(|_| damaged("the file that marks an import cannot be read"))? {
        tracing::warn!("an import did not come to its end; what it did is undone");
        undo(&trees, first).map_err(failed)?;
        trees.db.flush().map_err(failed)?;
        let ended = sync_all(path).and_then(|_| mark::end_import(path));
        ended.map_err(|error| OpenError::Directory { path: path.into(), reason: words(&error) })?;
    }
    trees.remember().map_err(failed)?;
    let redone = redo(&trees).map_err(|error| match error {
        RedoError::Sled(error) => failed(error),
        RedoError::Damaged => damaged("the end of its log cannot be read"),
    })?;
    if marked.is_some_and(|next| redone.next < next) {
        return Err(damaged("the end of its log is missing"));
    }
    if redone.mended > 0 {
        tracing::warn!(states = redone.mended, "the store did not end cleanly; its last group was completed");
    }
    trees.db.flush().map_err(failed)?;
    Ok((trees, redone.next))
}

/// Makes the files and their names durable once, and gives the handle of the file that each group syncs. Its view of errors
/// is its own: a sync by one of sled's threads cannot swallow one.
pub(super) fn sync_all(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).open(path.join("db"))?;
    file.sync_all()?;
    File::open(path.join("conf"))?.sync_all()?;
    for directory in [Some(path), path.parent()].into_iter().flatten() {
        // The parent of a relative path of one part is the empty path.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        File::open(directory)?.sync_all()?;
    }
    Ok(file)
}

/// An error of the operating system without its number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}
