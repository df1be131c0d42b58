//! Checks a stopped store: reads the whole log, and compares the index with one that is rebuilt from it.
//!
//! Opening reads neither, so that it is fast: damage in the middle of a log that was closed is found only when that part
//! is read. Nothing of the store is changed. The index is copied to a directory beside it, where another one is rebuilt:
//! that takes as much space as twice the index, and as little memory as opening.

use super::base::Base;
use super::index::sled::{SledIndex, SledOpener};
use super::index::{Index as _, IndexError, IndexOpener as _, OfferValue, Table, unsealed};
use super::log::disk::{Directory, Disk as _, INDEX, LOG, LogIo as _};
use super::log::{FIRST, LogFile, ReadError};
use super::mark::{Mark, Position, State};
use super::open::{EmbeddedOptions, OpenError, open_error};
use super::panics;
use super::recovery::{self, Problem, START};
use crate::codec::CodecError;
use lendpay_domain::change::Change;
use lendpay_domain::view::{StoredOffer, View as _};
use lendpay_domain::{BuyerId, PartnerId};
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

/// Where the index is copied to and another one is rebuilt.
const SCRATCH: &str = "verify";

/// Something that is not as it was written. Its text quotes nothing that is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// There is no log, or its head cannot be read.
    #[error("the log is missing, or its head is damaged")]
    Head,
    /// A part of the log cannot be read.
    #[error("the log is damaged from byte {from} to byte {to}")]
    Frames {
        /// Where it begins.
        from: u64,
        /// Where the next frame begins that can be read, or the log ends.
        to: u64,
    },
    /// A frame is not where it belongs.
    #[error("the log is out of order at byte {at}")]
    Order {
        /// Where the frame begins.
        at: u64,
    },
    /// A record cannot be read although its frame is as it was written.
    #[error("the record {sequence} of the log, in the frame at byte {at}, cannot be read")]
    Record {
        /// Its sequence.
        sequence: u64,
        /// Where its frame begins.
        at: u64,
    },
    /// The log is shorter than it was.
    #[error("the end of the log is missing: it ends at byte {length} and had {marked}")]
    End {
        /// Its length.
        length: u64,
        /// How long it was when the mark was written.
        marked: u64,
    },
    /// The index cannot be read.
    #[error("the index cannot be read ({reason})")]
    Index {
        /// What was found.
        reason: String,
    },
    /// An entry of the index is not what the log says.
    #[error("the entry {key} of the index's table {table} {problem}")]
    Entry {
        /// The name of the table.
        table: &'static str,
        /// The key in hexadecimal, unless it is secret.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// What was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Frames of the log that were read.
    pub frames: u64,
    /// Records in them.
    pub records: u64,
    /// Bytes after the last complete group, which opening cuts off. Nobody was told of what they hold.
    pub unfinished: u64,
    /// Entries of the index that were compared. `None` if the store was not closed, or has no mark that can be read: opening
    /// brings its index up to date or rebuilds it.
    pub entries: Option<u64>,
    /// How much was found.
    pub findings: u64,
}

/// Checks the store in a directory, which nobody may have open. Each thing that is found is given to `found`.
///
/// # Errors
/// See [`OpenError`]: the directory cannot be read, is in use, or has another format.
pub fn verify(path: &Path, options: EmbeddedOptions, found: impl FnMut(Finding)) -> Result<Verified, OpenError> {
    let mut check = Check { found, done: Verified::default() };
    let checked = check.store(path, options.cache_capacity);
    checked.map(|()| check.done).map_err(|problem| open_error(path, problem))
}

struct Check<R> {
    found: R,
    done: Verified,
}

impl<R: FnMut(Finding)> Check<R> {
    fn find(&mut self, finding: Finding) {
        self.done.findings += 1;
        (self.found)(finding);
    }

    fn store(&mut self, path: &Path, cache: u64) -> Result<(), Problem> {
        let disk = Directory::existing(path);
        // Opening would create it.
        if !disk.join(LOG).try_exists()? {
            self.find(Finding::Head);
            return std::fs::read_dir(path).map(drop).map_err(Problem::from);
        }
        let log = match LogFile::open(disk.open_log()?, None) {
            Ok(log) => Arc::new(log),
            Err(super::log::HeadError::Damaged) => {
                self.find(Finding::Head);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let mark = Mark::read(&disk, &log.head)?;
        let end = self.log(&log, mark.map_or(START, |mark| mark.position))?;
        if mark.is_none_or(|mark| mark.state != State::Clean) {
            return Ok(());
        }
        let scratch = Scratch::create(&disk)?;
        let checked = panics::caught(AssertUnwindSafe(|| Ok(self.index(&disk, &scratch, cache, &log, end))));
        match checked.map_err(Problem::Index).and_then(|checked| checked) {
            Err(Problem::Index(reason)) => self.find(Finding::Index { reason }),
            checked => return checked,
        }
        Ok(())
    }

    /// Reads every record of the log. Returns where it ends.
    fn log(&mut self, log: &LogFile<File>, marked: Position) -> Result<Position, Problem> {
        let length = log.file.length()?;
        if length < marked.end {
            self.find(Finding::End { length, marked: marked.end });
        }
        let mut end = START;
        let mut frames = log.frames(FIRST, length);
        loop {
            match frames.next() {
                Ok(Some(mut frame)) => {
                    let at = frame.at;
                    if frame.sequence() < end.next {
                        self.find(Finding::Order { at });
                    }
                    end = Position { next: frame.next_sequence(), end: frame.end() };
                    self.done.frames += 1;
                    loop {
                        let sequence = frame.sequence();
                        match frame.next().and_then(|next| next.map(|(_, entry, _)| entry.record(sequence)).transpose())
                        {
                            Ok(Some(_)) => self.done.records += 1,
                            Ok(None) => break,
                            Err(CodecError::Damaged | CodecError::TooLong) => {
                                self.find(Finding::Record { sequence, at });
                                break;
                            }
                        }
                    }
                }
                Ok(None) => break,
                Err(ReadError::Io(error)) => return Err(error.into()),
                Err(ReadError::Damaged) => {
                    let from = frames.at();
                    let next = log.find_frame(from, |_| true)?;
                    if next.is_some() || from < marked.end {
                        self.find(Finding::Frames { from, to: next.unwrap_or(length) });
                    }
                    let Some(next) = next else { break };
                    frames = log.frames(next, length);
                }
            }
        }
        self.done.unfinished = length.saturating_sub(end.end.max(marked.end));
        Ok(end)
    }

    /// Checks a copy of the index: against one that is rebuilt, or if the log is damaged, that what it names can be read.
    fn index(
        &mut self,
        disk: &Directory,
        scratch: &Scratch,
        cache: u64,
        log: &Arc<LogFile<File>>,
        end: Position,
    ) -> Result<(), Problem> {
        let copy = SledOpener { path: scratch.0.join("copy"), cache: cache / 2 };
        copy_files(&disk.join(INDEX), &copy.path)?;
        let index = Base::open(Arc::clone(log), copy.open()?)?;
        self.done.entries = Some(0);
        if index.reached()? != Some(end.end) {
            self.find(Finding::Index { reason: "it does not reach the end of the log".to_owned() });
        }
        if self.done.findings > 0 {
            return self.places(&index);
        }
        let rebuilt = SledOpener { path: scratch.0.join("rebuilt"), cache: cache / 2 };
        let (rebuilt, _) = recovery::attempt(&rebuilt, log, START, end, |_| Ok(()))?;
        if index.history()? != rebuilt.history()? {
            self.find(Finding::Index { reason: "it names another history than the log".to_owned() });
        }
        for table in Table::ALL {
            match table {
                Table::Notes => {}
                // Which frames are noted depends on when the store was opened.
                Table::Frames => self.frames(&index)?,
                table => self.compare(table, &index.index, &rebuilt.index)?,
            }
        }
        Ok(())
    }

    /// Compares a table with the same table of the index that was rebuilt.
    fn compare(&mut self, table: Table, index: &SledIndex, rebuilt: &SledIndex) -> Result<(), IndexError> {
        let all = |index: &SledIndex| index.range(table, Bound::Unbounded, Bound::Unbounded);
        let (mut left, mut right) = (all(index), all(rebuilt));
        let (mut here, mut there) = (left.next().transpose()?, right.next().transpose()?);
        loop {
            let order = match (&here, &there) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let problem = match order {
                std::cmp::Ordering::Less => Some("is not in the log"),
                std::cmp::Ordering::Greater => Some("is missing"),
                std::cmp::Ordering::Equal if here != there => Some("is not what the log says"),
                std::cmp::Ordering::Equal => None,
            };
            let key = if order.is_gt() { &there } else { &here };
            if let (Some(problem), Some((key, _))) = (problem, key) {
                self.entry(table, key, problem);
            }
            self.done.entries = self.done.entries.map(|entries| entries + u64::from(order.is_le()));
            if order.is_le() {
                here = left.next().transpose()?;
            }
            if order.is_ge() {
                there = right.next().transpose()?;
            }
        }
    }

    /// Checks that frames are where the index says.
    fn frames(&mut self, index: &Base<SledIndex, File>) -> Result<(), Problem> {
        for item in index.index.range(Table::Frames, Bound::Unbounded, Bound::Unbounded) {
            let (key, at) = item?;
            self.done.entries = self.done.entries.map(|entries| entries + 1);
            let at = at.as_ref().try_into().map_or(u64::MAX, u64::from_be_bytes);
            let mut frames = index.log.frames(at, index.log.file.length()?);
            let begins = match frames.next() {
                Ok(Some(frame)) => frame.sequence().to_be_bytes() == key.as_ref(),
                Ok(None) | Err(ReadError::Damaged) => false,
                Err(ReadError::Io(error)) => return Err(error.into()),
            };
            if !begins {
                self.entry(Table::Frames, &key, "names a place where its frame does not begin");
            }
        }
        Ok(())
    }

    /// Checks that what the index says of offers and buyers can be read in the log.
    fn places(&mut self, index: &Base<SledIndex, File>) -> Result<(), Problem> {
        const UNREADABLE: &str = "names a place in the log that cannot be read";
        for item in index.index.range(Table::Offers, Bound::Unbounded, Bound::Unbounded) {
            let (key, value) = item?;
            let stored = unsealed::<OfferValue>(&value).and_then(StoredOffer::try_from);
            let read = stored.map_err(ReadError::from).and_then(|stored| index.log.change(stored.terms));
            let same = match read {
                Ok(Change::OfferCreated { offer, .. } | Change::TermsReplaced { offer, .. }) => {
                    super::index::offer_key(offer.application, offer.offer) == key.as_ref()
                }
                Ok(_) | Err(ReadError::Damaged) => false,
                Err(ReadError::Io(error)) => return Err(error.into()),
            };
            self.checked(Table::Offers, &key, same, UNREADABLE);
        }
        for item in index.index.range(Table::Buyers, Bound::Unbounded, Bound::Unbounded) {
            let (key, _) = item?;
            let id = key.as_ref().try_into().map(BuyerId::from_bytes);
            let read = id.is_ok_and(|id| matches!(index.buyer(PartnerId::from_bytes([0; 16]), id), Ok(Some(_))));
            self.checked(Table::Buyers, &key, read, UNREADABLE);
        }
        Ok(())
    }

    fn checked(&mut self, table: Table, key: &[u8], good: bool, problem: &'static str) {
        self.done.entries = self.done.entries.map(|entries| entries + 1);
        if !good {
            self.entry(table, key, problem);
        }
    }

    fn entry(&mut self, table: Table, key: &[u8], problem: &'static str) {
        self.find(Finding::Entry { table: table.name(), key: table.shown(key), problem });
    }
}

/// A directory that is deleted when it is dropped.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn create(disk: &Directory) -> io::Result<Self> {
        let scratch = Self(disk.join(SCRATCH));
        // A check that was killed has left it.
        scratch.delete()?;
        super::log::disk::create_private(&scratch.0)?;
        Ok(scratch)
    }

    fn delete(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = self.delete() {
            tracing::warn!(%error, "the directory {SCRATCH} cannot be deleted");
        }
    }
}

/// Copies a directory without its subdirectories; one that is absent is empty.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    super::log::disk::create_private(to)?;
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
