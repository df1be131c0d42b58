//! Before a store is used: its log and its trees are opened and brought up to date, and trees that cannot be used are made anew
//! from the log.

use super::fault::Broken;
use super::import::undo;
use super::log::{FORMAT, LogFile};
use super::mark::Mark;
use super::open::{OpenError, SledOptions, sync_all, words};
use super::redo::{BEGIN, redo};
use super::trees::Trees;
use super::{mark, migrate, quiet};
use crate::codec::{self, CodecError};
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;

/// sled moves a page of more than a quarter of a segment to a file of its own, which it never syncs. A leaf holds up to 17
/// values; with the longest values that is 1.7 MiB, and a quarter of this is 2 MiB.
const SEGMENT: usize = 8 * 1024 * 1024;

/// Why a store cannot be used as it is.
pub(super) enum Problem {
    InUse,
    Disk(io::Error),
    Newer(u32),
    Older(u32),
    /// The log is not what was written, or a file beside it.
    Damaged(&'static str),
    /// The trees cannot be used; making them anew helps.
    Trees(String),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<sled::Error> for Problem {
    fn from(error: sled::Error) -> Self {
        let reason = match error {
            sled::Error::Io(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                    "a file of the database is cut off or missing"
                }
                // sled has no error of its own for this.
                _ if error.to_string().starts_with("could not acquire lock") => return Self::InUse,
                _ => return Self::Disk(error),
            },
            sled::Error::Unsupported(_) => "the database was not written by this program",
            sled::Error::Corruption { .. } => "a page of the database is not what was written",
            sled::Error::CollectionNotFound(_) | sled::Error::ReportableBug(_) => "the database is inconsistent",
        };
        Self::trees(reason)
    }
}

impl From<Broken> for Problem {
    fn from(error: Broken) -> Self {
        match error {
            Broken::Disk(error) => Self::Disk(error),
            Broken::Damaged | Broken::Database => Self::Trees(error.to_string()),
        }
    }
}

impl Problem {
    pub(super) fn trees(reason: &str) -> Self {
        Self::Trees(reason.to_owned())
    }

    fn of(self, path: &Path) -> OpenError {
        let path = path.into();
        match self {
            Self::InUse => OpenError::InUse { path },
            Self::Disk(error) => OpenError::Directory { path, reason: words(&error) },
            Self::Newer(found) => OpenError::Newer { path, found },
            Self::Older(found) => OpenError::Older { path, found },
            Self::Damaged(reason) => OpenError::Damaged { path, reason: reason.to_owned() },
            Self::Trees(reason) => OpenError::Damaged { path, reason },
        }
    }
}

/// Opens the log and its trees, and brings them up to date; says where the log goes on. The trees are not synced yet.
pub(super) fn prepare(path: &Path, options: SledOptions) -> Result<(Trees, Mark), OpenError> {
    attempt(path, options, false)
        .or_else(|problem| match problem {
            Problem::Trees(reason) if has_log(path) => {
                tracing::warn!(reason, "the database cannot be used and is made anew from the log");
                remove_database(path)?;
                attempt(path, options, true)
            }
            problem => Err(problem),
        })
        .map_err(|problem| problem.of(path))
}

/// Whether there is anything to make trees from.
fn has_log(path: &Path) -> bool {
    LogFile::open(path).is_ok_and(|log| log.is_empty().is_ok_and(|empty| !empty))
}

/// Removes what sled has made.
fn remove_database(path: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "db" || name == "conf" || name.starts_with("snap.") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Opens the store; some damage makes sled panic.
fn attempt(path: &Path, options: SledOptions, anew: bool) -> Result<(Trees, Mark), Problem> {
    let mut outcome = Err(Problem::trees(""));
    quiet::caught(AssertUnwindSafe(|| {
        outcome = attempt_uncaught(path, options, anew);
        Ok(())
    }))
    .map_err(Problem::Trees)?;
    outcome
}

fn attempt_uncaught(path: &Path, options: SledOptions, anew: bool) -> Result<(Trees, Mark), Problem> {
    std::fs::create_dir_all(path.join("blobs"))?;
    let log = LogFile::open(path)?;
    let marked = mark::read(path).map_err(|_| Problem::Damaged("the file that marks its length cannot be read"))?;
    lendpay_real_sync::keep();
    let db = sled::Config::new()
        .path(path)
        // Records are short, so that its pages take more than three times their bytes in memory; and its table of pages grows
        // with the data: see README.md.
        .cache_capacity(options.cache_capacity / 8 * 5)
        .segment_size(SEGMENT)
        .flush_every_ms(Some(500))
        .open()?;
    let trees = Trees::open(log, db)?;
    let format = match format(&trees)? {
        Some(format) => format,
        None if anew || (marked.is_none() && trees.is_empty() && trees.log.is_empty()?) => FORMAT.into(),
        None => return Err(Problem::trees("what was written to the database is missing")),
    };
    if format == migrate::FROM {
        tracing::info!("the store has format {format} and is brought to format {FORMAT}");
        migrate::begin(&trees, path)?;
    } else {
        let (reached, end) = (trees.reached()?, marked.map_or(0, |marked| marked.end));
        if trees.log.length()? < reached.max(end) {
            return Err(Problem::Damaged("the end of its log is missing"));
        }
        if reached < end && !anew {
            return Err(Problem::trees("a part of the database is missing"));
        }
    }
    let unfinished = mark::unfinished_import(path);
    if let Some(first) = unfinished.map_err(|_| Problem::Damaged("the file that marks an import cannot be read"))? {
        tracing::warn!("an import did not come to its end; what it did is undone");
        undo(&trees, first)?;
        sync_all(path)?;
        mark::end_import(path)?;
    }
    trees.remember()?;
    // A mark of format 1 says nothing of this log, which was just written and synced.
    let marked = if format == migrate::FROM { None } else { marked };
    let durable = marked.map_or(BEGIN.end, |marked| marked.end);
    let redone = redo(&trees, marked.filter(|_| !anew).unwrap_or(BEGIN), durable)?;
    if format != migrate::FROM {
        // What a failed sync has left in the kernel's memory can be read, and is not on the disk.
        trees.log.write_again(durable, redone.mark.end)?;
    }
    if redone.cut > 0 {
        tracing::warn!(bytes = redone.cut, "the store did not end cleanly; a group that nobody was told of is cut off");
    }
    if redone.mended > 0 {
        tracing::info!(states = redone.mended, "the database was brought up to date from the log");
    }
    let mut value = Vec::new();
    codec::seal(&u32::from(FORMAT), &mut value).map_err(|_| Problem::Damaged("its format cannot be written"))?;
    trees.meta.insert("format", value)?;
    trees.db.flush()?;
    migrate::end(&trees, path)?;
    Ok((trees, redone.mark))
}

/// The format that the trees have, if it is one that is known.
fn format(trees: &Trees) -> Result<Option<u32>, Problem> {
    let Some(value) = trees.meta.get("format")? else { return Ok(None) };
    match codec::unseal::<u32>(&value) {
        Ok(found) if found == FORMAT.into() || found == migrate::FROM => Ok(Some(found)),
        Ok(found) if found > FORMAT.into() => Err(Problem::Newer(found)),
        Ok(found) => Err(Problem::Older(found)),
        Err(CodecError::Version(found)) => Err(Problem::Newer(found.into())),
        Err(CodecError::Damaged | CodecError::TooLong) => {
            Err(Problem::trees("the version of its format cannot be read"))
        }
    }
}
