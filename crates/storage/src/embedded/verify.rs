//! Checks a stopped store: reads the whole log, and compares the index with one that is rebuilt from it.
//!
//! Opening reads neither, so that it is fast: damage in the middle of a log that was closed is found only when that
//! part is read. Nothing of the store is changed. The index is copied to a directory beside it, where another one is
//! rebuilt: that takes as much space as twice the index, and as little memory as opening.

use super::base::{Base, reached};
use super::due::{Due, Ids, expires_in};
use super::index::sled::{SledIndex, SledOpener};
use super::index::{BuyerValue, Index, IndexOpener as _, OfferValue, Table, buyer_key, offer_key, unsealed};
use super::log::disk::{
    Directory, Disk as _, INDEX, LOG, LockedFile, LogIo as _, create_private, or_absent, remove_all,
};
use super::log::{FIRST, LogFile, ReadError};
use super::mark::{Mark, Position, State};
use super::open::{EmbeddedOptions, OpenError, open_error};
use super::panics;
use super::problem::Problem;
use super::recovery;
use crate::codec::CodecError;
use lendpay_domain::change::Change;
use lendpay_domain::view::{StoredOffer, View as _};
use lendpay_domain::{ApplicationId, OfferId};
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A value of the index.
type Value = <SledIndex as Index>::Bytes;

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
    /// Entries of the index that were compared. `None` if the store was not closed, or has no mark that can be read:
    /// opening brings its index up to date or rebuilds it.
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
            Err(Problem::Log(_)) => {
                self.find(Finding::Head);
                return Ok(());
            }
            Err(problem) => return Err(problem),
        };
        let mark = Mark::read(&disk, &log.head)?;
        let end = self.log(&log, mark.map_or(0, |mark| mark.position.end))?;
        if mark.is_none_or(|mark| mark.state != State::Clean) {
            return Ok(());
        }
        let scratch = Scratch::create(&disk)?;
        match panics::caught(|| self.index(&disk, &scratch, cache, &log, end)) {
            Err(Problem::Index(reason)) => {
                self.find(Finding::Index { reason });
                Ok(())
            }
            checked => checked,
        }
    }

    /// Reads every record of the log. Returns where it ends.
    fn log(&mut self, log: &LogFile<LockedFile>, marked: u64) -> Result<Position, Problem> {
        let length = log.file.length()?;
        if length < marked {
            self.find(Finding::End { length, marked });
        }
        let mut end = log.head.start();
        let mut frames = log.frames(FIRST, length);
        loop {
            match frames.next() {
                Ok(Some(mut frame)) => {
                    let at = frame.at;
                    if frame.sequence() < end.next {
                        self.find(Finding::Order { at });
                    }
                    end = frame.after(end);
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
                    if next.is_some() || from < marked {
                        self.find(Finding::Frames { from, to: next.unwrap_or(length) });
                    }
                    let Some(next) = next else { break };
                    frames = log.frames(next, length);
                }
            }
        }
        self.done.unfinished = length.saturating_sub(end.end.max(marked));
        Ok(end)
    }

    /// Checks a copy of the index: against one that is rebuilt, or if the log is damaged, that what it names can be
    /// read.
    fn index(
        &mut self,
        disk: &Directory,
        scratch: &Scratch,
        cache: u64,
        log: &Arc<LogFile<LockedFile>>,
        end: Position,
    ) -> Result<(), Problem> {
        let copy = SledOpener { path: scratch.0.join("copy"), cache: cache / 2 };
        copy_files(&disk.join(INDEX), &copy.path)?;
        let index = copy.open()?;
        if reached(&index, &log.head)? != Some(end.end) {
            self.find(Finding::Index { reason: "it does not reach the end of the log".to_owned() });
        }
        let base = Base::open(Arc::clone(log), index)?;
        self.done.entries = Some(0);
        if self.done.findings > 0 {
            return self.places(&base);
        }
        let rebuilt = SledOpener { path: scratch.0.join("rebuilt"), cache: cache / 2 };
        let rebuilt = recovery::attempt(&rebuilt, log, log.head.start(), end, |_| Ok(()))?;
        rebuilt.make_filters()?;
        for (table, _) in Table::ALL {
            match table {
                Table::Notes => {}
                // Which frames are noted depends on when the store was opened.
                Table::Frames => self.frames(&base)?,
                Table::Due => self.due(&base, &rebuilt.index)?,
                // Whether an expiry is noted there or in the offer's value depends on what was written together.
                Table::Expired => self.expired(&base)?,
                Table::Offers => self.compare(table, &base.index, &rebuilt.index, |key, value, wanted| {
                    let (found, wanted) = (base.stored_offer(key, value), rebuilt.stored_offer(key, wanted));
                    found.is_ok_and(|found| wanted.is_ok_and(|wanted| found == wanted))
                })?,
                table => self.compare(table, &base.index, &rebuilt.index, |_, value, wanted| value == wanted)?,
            }
        }
        Ok(())
    }

    /// Compares a table with the same table of the index that was rebuilt. `same` compares two values of a key.
    fn compare(
        &mut self,
        table: Table,
        index: &SledIndex,
        rebuilt: &SledIndex,
        same: impl Fn(&[u8], &Value, &Value) -> bool,
    ) -> Result<(), Problem> {
        for item in rebuilt.all(table) {
            let (key, _) = item?;
            if index.get(table, &key)?.is_none() {
                self.entry(table, &key, "is missing");
            }
        }
        for item in index.all(table) {
            let (key, value) = item?;
            let problem = match rebuilt.get(table, &key)? {
                None => Some("is not in the log"),
                Some(wanted) => (!same(&key, &value, &wanted)).then_some("is not what the log says"),
            };
            self.checked(table, &key, problem);
        }
        Ok(())
    }

    /// Checks that frames are where the index says.
    fn frames(&mut self, base: &Base<SledIndex, LockedFile>) -> Result<(), Problem> {
        for item in base.index.all(Table::Frames) {
            let (key, at) = item?;
            let at = at.as_ref().try_into().map_or(u64::MAX, u64::from_be_bytes);
            let begins = match base.log.frames(at, base.log.file.length()?).next() {
                Ok(frame) => frame.is_some_and(|frame| frame.sequence().to_be_bytes() == key.as_ref()),
                Err(ReadError::Damaged) => false,
                Err(ReadError::Io(error)) => return Err(error.into()),
            };
            self.checked(Table::Frames, &key, (!begins).then_some("names a place where its frame does not begin"));
        }
        Ok(())
    }

    /// Checks that the index names each offer that is to expire, as the one that was rebuilt does, and names none that
    /// the log does not hold. An entry stays when an offer gets another status or expiry, until it is due.
    fn due(&mut self, base: &Base<SledIndex, LockedFile>, rebuilt: &SledIndex) -> Result<(), Problem> {
        let stored = |(application, offer): &Ids| {
            base.offer(ApplicationId::from_bytes(*application), OfferId::from_bytes(*offer))
        };
        let (mut span, mut named) = (None, HashSet::new());
        for item in rebuilt.all(Table::Due) {
            let entry = Due::read(&item?).map_err(|_| Problem::index("a value cannot be read"))?;
            if span != Some(entry.span()) {
                (span, named) = (Some(entry.span()), base.named(entry.span())?);
            }
            let expires =
                |ids: &Ids| stored(ids).is_ok_and(|found| found.is_some_and(|offer| expires_in(&offer) == span));
            if entry.offers.iter().any(|ids| !named.contains(ids) && expires(ids)) {
                self.entry(Table::Due, &entry.key, "is missing, or does not name all that it should");
            }
        }
        for item in base.index.all(Table::Due) {
            let item = item?;
            let problem = match Due::read(&item) {
                Err(_) => Some("is not what the log says"),
                Ok(entry) => entry.offers.iter().any(|ids| stored(ids) == Ok(None)).then_some("is not in the log"),
            };
            self.checked(Table::Due, &item.0, problem);
        }
        Ok(())
    }

    /// Checks that expiries can be read. What they say is compared with the offers.
    fn expired(&mut self, base: &Base<SledIndex, LockedFile>) -> Result<(), Problem> {
        for item in base.index.all(Table::Expired) {
            let (key, value) = item?;
            let places: Result<Vec<u16>, _> = unsealed(&value);
            self.checked(Table::Expired, &key, places.is_err().then_some("is not what the log says"));
        }
        Ok(())
    }

    /// Checks that what the index says of offers and buyers can be read in the log.
    fn places(&mut self, base: &Base<SledIndex, LockedFile>) -> Result<(), Problem> {
        for table in [Table::Offers, Table::Buyers] {
            for item in base.index.all(table) {
                let (key, value) = item?;
                let place = match table {
                    Table::Offers => {
                        unsealed::<OfferValue>(&value).and_then(StoredOffer::try_from).map(|offer| offer.terms)
                    }
                    _ => unsealed::<BuyerValue>(&value).map(|buyer| buyer.place),
                };
                let read = match place.map_err(ReadError::from).and_then(|place| base.log.change(place)) {
                    Ok(Change::OfferCreated { offer, .. } | Change::TermsReplaced { offer, .. }) => {
                        offer_key(offer.application, offer.offer) == key.as_ref()
                    }
                    Ok(Change::BuyerCreated { partner, buyer, .. }) => buyer_key(partner, buyer) == key.as_ref(),
                    Ok(_) | Err(ReadError::Damaged) => false,
                    Err(ReadError::Io(error)) => return Err(error.into()),
                };
                self.checked(table, &key, (!read).then_some("names a place in the log that cannot be read"));
            }
        }
        Ok(())
    }

    /// An entry of the index was checked.
    fn checked(&mut self, table: Table, key: &[u8], problem: Option<&'static str>) {
        self.done.entries = self.done.entries.map(|entries| entries + 1);
        if let Some(problem) = problem {
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
        remove_all(&scratch.0)?;
        create_private(&scratch.0)?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = remove_all(&self.0) {
            tracing::warn!(%error, "the directory {SCRATCH} cannot be deleted");
        }
    }
}

/// Copies the files of a directory; one that is absent is empty.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    create_private(to)?;
    let Some(entries) = or_absent(std::fs::read_dir(from))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
