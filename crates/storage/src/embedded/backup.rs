//! Backups: a copy of a log that is made while its store runs, and that each run makes longer.
//!
//! The directory of a backup is that of a store without its index: the log, and a mark that says up to where the copy
//! is complete, checked and durable. Bytes after that are what a run that broke off has left: they are fetched again.
//! So a copy of the directory can be opened as a store, which rebuilds the index.

use super::log::disk::{Directory, Disk as _, INDEX, LockedFile, LogIo as _};
use super::log::frame::{self, Frame, Kind};
use super::log::{CHUNK, FIRST, FORMAT, Head, LogFile};
use super::mark::{Mark, Position, State};
use super::open::words;
use super::problem::Problem;
use std::io;
use std::path::{Path, PathBuf};

/// How many bytes of a backup are fetched again and compared with it. Entries hold random ids, so that logs that went
/// separate ways before the end of the backup differ there.
const COMPARED: u64 = CHUNK as u64;

/// How many bytes are held in memory until they are written and synced.
const SYNCED: usize = 8 << 20;

/// Why a backup cannot go on. Each is a sentence for the operator that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The directory cannot be created, read or written.
    #[error("The backup in {} cannot be written or read ({reason}).", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the operating system says, in words.
        reason: String,
    },
    /// Another process uses the directory.
    #[error("The directory {} is in use by another process: a backup, or a service that keeps its data there.", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds something else.
    #[error("The directory {} holds a store and not a backup; name another one.", path.display())]
    NoBackup {
        /// The directory.
        path: PathBuf,
    },
    /// The backup is not what was written.
    #[error("The backup in {} is damaged ({reason}); begin another one in a new directory.", path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What was found; never content.
        reason: String,
    },
    /// The service has another log, or its log went another way.
    #[error(
        "The backup in {} is of another log than the service's: the service was restored from an older state, or filled \
         by an import. Keep this backup, and begin another one in a new directory.",
        path.display()
    )]
    OtherLog {
        /// The directory.
        path: PathBuf,
    },
    /// The log has another format.
    #[error(
        "The log has format {found} and this program knows format {FORMAT}; use the program of the service's version."
    )]
    Format {
        /// Its format.
        found: u8,
    },
    /// What arrived is not a log.
    #[error(
        "The service's log is damaged at byte {at}; the backup ends before that. Stop the service, and see what is \
         damaged with `lendpay verify`."
    )]
    Source {
        /// Where the frame begins that cannot be read.
        at: u64,
    },
    /// The copy ended early.
    #[error("The log did not arrive complete; run the backup again.")]
    Incomplete,
}

/// A backup that is under way. Nobody else can write to its directory.
pub struct EmbeddedBackup {
    path: PathBuf,
    disk: Directory,
    file: LockedFile,
    /// `None` until the first bytes of the log have arrived.
    head: Option<Head>,
    /// Up to where the backup is complete, checked and durable.
    durable: Position,
    /// The place of the next byte that arrives.
    at: u64,
    /// What has arrived and is not written: it begins where the file ends.
    bytes: Vec<u8>,
    /// How many of these bytes are checked, and where the log goes on after them.
    checked: usize,
    end: Position,
    /// Whether the last frame belongs to an import that has not ended there. The mark never lies within one.
    importing: bool,
}

impl EmbeddedBackup {
    /// Opens a backup, or begins one. The directory is created if it is absent.
    ///
    /// # Errors
    /// See [`BackupError`].
    pub fn open(path: &Path) -> Result<Self, BackupError> {
        let failed = |problem: Problem| backup_error(path, problem);
        let open = || {
            let disk = Directory::create(path)?;
            let file = disk.open_log()?;
            disk.sync_names()?;
            Ok((file.length()?, disk.mark()?.is_some(), disk.join(INDEX).try_exists()?, disk, file))
        };
        let (length, is_marked, has_index, disk, mut file) = open().map_err(|error: io::Error| failed(error.into()))?;
        let no_backup = || BackupError::NoBackup { path: path.into() };
        // A mark is written before the first frame.
        if has_index || !is_marked && length > FIRST {
            return Err(no_backup());
        }
        let nothing = Position { next: 1, end: 0, history: [0; 16] };
        let (mut head, mut durable) = (None, nothing);
        if is_marked {
            let log = LogFile::open(file, None).map_err(failed)?;
            let mark = Mark::read(&disk, &log.head).map_err(|error| failed(error.into()))?;
            let mark = mark.ok_or_else(|| failed(Problem::log("its mark cannot be read")))?;
            if mark.state != State::Open(None) {
                return Err(no_backup());
            }
            if length < mark.position.end {
                return Err(failed(Problem::log("its end is missing")));
            }
            (file, head, durable) = (log.file, Some(log.head), mark.position);
        }
        let at = durable.end.saturating_sub(COMPARED);
        let (path, bytes, end) = (path.into(), Vec::new(), durable);
        Ok(Self { path, disk, file, head, durable, at, bytes, checked: 0, end, importing: false })
    }

    /// From where on the log has to be fetched.
    pub const fn from(&self) -> u64 {
        self.at
    }

    /// Up to where the log is in the backup.
    pub const fn durable(&self) -> u64 {
        self.durable.end
    }

    /// Takes the next bytes of the log, and checks them.
    ///
    /// # Errors
    /// See [`BackupError`].
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        let known = usize::try_from(self.durable.end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(bytes.len());
        let (again, new) = bytes.split_at(known);
        let mut present = vec![0; known];
        self.file.read_at(&mut present, self.at).map_err(|error| self.failed(error.into()))?;
        if present != again {
            return Err(BackupError::OtherLog { path: self.path.clone() });
        }
        self.at += bytes.len() as u64;
        self.bytes.extend_from_slice(new);
        let checked = self.check();
        if self.checked >= SYNCED || checked.is_err() {
            self.keep()?;
        }
        checked
    }

    /// Ends the run: all of the log up to `end` is in the backup and durable.
    ///
    /// # Errors
    /// See [`BackupError`]. What has arrived until then is kept.
    pub fn finish(mut self, end: u64) -> Result<(), BackupError> {
        self.keep()?;
        match self.durable.end {
            durable if durable == end && self.at == end => Ok(()),
            durable if durable > end => Err(BackupError::OtherLog { path: self.path }),
            _ if self.at != end => Err(BackupError::Incomplete),
            // Everything has arrived, and the end of it is a part of a frame, or of an import.
            _ => Err(BackupError::Source { at: self.end.end }),
        }
    }

    /// Checks the frames that have arrived.
    fn check(&mut self) -> Result<(), BackupError> {
        let head = match self.head {
            Some(head) => head,
            None => {
                let Some(first) = self.bytes.first_chunk() else { return Ok(()) };
                let head = Head::read(first).map_err(|problem| match problem {
                    Problem::Format(found) => BackupError::Format { found },
                    _ => BackupError::Source { at: 0 },
                })?;
                (self.checked, self.end) = (first.len(), head.start());
                *self.head.insert(head)
            }
        };
        loop {
            let rest = &self.bytes[self.checked..];
            if rest.len() < frame::HEAD {
                return Ok(());
            }
            let at = self.end.end;
            let damaged = || BackupError::Source { at };
            let length = Frame::length(rest).ok_or_else(damaged)?;
            let Some(bytes) = rest.get(..length) else { return Ok(()) };
            let frame = Frame::read(head.salt, at, bytes).map_err(|_| damaged())?;
            if frame.sequence() < self.end.next {
                return Err(damaged());
            }
            self.importing = frame.kind == Kind::Import;
            self.end = frame.after(self.end);
            self.checked += length;
        }
    }

    /// Writes what is checked, makes it durable, and marks how far that goes.
    fn keep(&mut self) -> Result<(), BackupError> {
        // Before a log has turned out to be the same, nothing of the backup is changed.
        let Some(head) = self.head.filter(|_| self.at >= self.durable.end) else { return Ok(()) };
        let mut keep = || {
            if self.durable.end == 0 {
                self.file.cut(0)?;
                self.file.write_at(&self.bytes[..FIRST as usize], 0)?;
                self.file.sync()?;
                self.bytes.drain(..FIRST as usize);
                self.checked -= FIRST as usize;
                self.durable = head.start();
                Mark::write(&self.disk, &head, self.durable, State::Open(None))?;
            }
            let begin = self.end.end - self.checked as u64;
            // What a run that broke off has left.
            if self.file.length()? > begin {
                self.file.cut(begin)?;
            }
            if self.checked == 0 {
                return Ok(());
            }
            self.file.write_at(&self.bytes[..self.checked], begin)?;
            self.file.sync()?;
            self.bytes.drain(..self.checked);
            self.checked = 0;
            if !self.importing {
                Mark::write(&self.disk, &head, self.end, State::Open(None))?;
                self.durable = self.end;
            }
            Ok(())
        };
        keep().map_err(|error: io::Error| self.failed(error.into()))
    }

    fn failed(&self, problem: Problem) -> BackupError {
        backup_error(&self.path, problem)
    }
}

fn backup_error(path: &Path, problem: Problem) -> BackupError {
    let path = path.into();
    match problem {
        Problem::InUse => BackupError::InUse { path },
        Problem::Disk(error) => BackupError::Directory { path, reason: words(&error) },
        Problem::Format(found) => BackupError::Format { found },
        Problem::Log(reason) | Problem::Index(reason) => BackupError::Damaged { path, reason },
    }
}
