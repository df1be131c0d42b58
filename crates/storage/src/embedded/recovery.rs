//! Opening: decides which parts of the store can be trusted, and rebuilds the rest from the log.
//!
//! This crate's README.md has a table of what is done in each state.

use super::base::{Base, Overlay};
use super::index::{Index, IndexError, IndexOpener};
use super::log::disk::{Disk, LogIo};
use super::log::frame::Kind;
use super::log::{FIRST, Head, HeadError, LogFile, ReadError};
use super::mark::{Mark, Position, State};
use super::panics;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// How many entries are applied to the index at once. Bounds the memory of a rebuild.
const BATCH: usize = 100_000;

/// Why a store cannot be used as it is.
#[derive(Debug)]
pub(crate) enum Problem {
    InUse,
    Disk(io::Error),
    /// The log has another format.
    Format(u8),
    /// The log is damaged.
    Log(String),
    /// The index cannot be used; it can be rebuilt.
    Index(String),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::WouldBlock { Self::InUse } else { Self::Disk(error) }
    }
}

impl From<IndexError> for Problem {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Disk(error) => Self::Disk(error),
            IndexError::InUse => Self::InUse,
            IndexError::Damaged(reason) => Self::Index(reason),
        }
    }
}

impl From<HeadError> for Problem {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::Io(error) => error.into(),
            HeadError::Format(found) => Self::Format(found),
            HeadError::Damaged => Self::Log("its head is missing or damaged".to_owned()),
        }
    }
}

/// What opening found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Why the index was rebuilt, if it was.
    pub rebuilt: Option<String>,
    /// Changes that were applied to the index.
    pub applied: u64,
    /// How many bytes, and how many frames that could be read, were cut off the end of the log.
    pub cut: (u64, u64),
}

/// A store that is ready.
pub(crate) struct Opened<I, F> {
    pub base: Arc<Base<I, F>>,
    pub position: Position,
    pub report: Report,
}

/// The position at the beginning of a log.
pub(crate) const START: Position = Position { next: 1, end: FIRST };

type OpenedBy<D, O> = Opened<<O as IndexOpener>::Index, <D as Disk>::Log>;

/// Opens the log and its index and brings the index up to date. A log that was never used gets the head `new`. With
/// `rebuild` the index is rebuilt in any case.
pub(crate) fn open<D: Disk, O: IndexOpener>(
    disk: &D,
    opener: &O,
    new: Head,
    rebuild: bool,
) -> Result<OpenedBy<D, O>, Problem> {
    // A mark is written after the head of the log is durable: beside a mark, a log that is blank has lost what it held.
    let new = if disk.mark()?.is_none() { Some(new) } else { None };
    let log = Arc::new(LogFile::open(disk.open_log()?, new)?);
    let mark = Mark::read(disk, &log.head)?;
    if mark.is_none() {
        // After a failed sync the head can be in the page cache only.
        log.write_again(0, FIRST)?;
    }
    let durable = mark.map_or(START, |mark| mark.position);
    let (end, cut) = settle_end(&log, durable)?;
    let mut report = Report { cut, ..Report::default() };
    let identity = disk.identity(&log.file);
    let mut untrusted = match mark.map(|mark| mark.state) {
        _ if rebuild => Some("this was asked for".to_owned()),
        Some(State::Clean) => None,
        Some(State::Open(Some(then))) if identity == Some(then) => None,
        Some(State::Open(Some(_))) => Some("the machine was restarted or the files were moved".to_owned()),
        Some(State::Open(None)) => Some("the last run left an index that cannot be trusted".to_owned()),
        None => Some("there is no mark that can be trusted".to_owned()),
    };
    if untrusted.is_none() {
        // Opening the index writes to it: from now on it can be trusted on this boot only.
        Mark::write_open(disk, &log.head, durable, identity)?;
        let reached = |base: &Base<_, _>| match base.reached()? {
            Some(reached) if reached > end.end => {
                Err(Problem::Log("its end is missing: the index holds what comes after it".to_owned()))
            }
            Some(reached) if reached >= durable.end => Ok(()),
            Some(_) | None => Err(Problem::Index("it lacks what it should hold".to_owned())),
        };
        match attempt(opener, &log, durable, end, reached) {
            Ok((base, applied)) => return Ok(Opened { base, position: end, report: Report { applied, ..report } }),
            Err(Problem::Index(reason)) => untrusted = Some(reason),
            Err(problem) => return Err(problem),
        }
    }
    if let Some(reason) = untrusted.filter(|_| end != START) {
        tracing::warn!(reason, bytes = end.end, "the index is rebuilt from the log");
        report.rebuilt = Some(reason);
    }
    Mark::write_open(disk, &log.head, durable, None)?;
    opener.delete()?;
    let (base, applied) = attempt(opener, &log, START, end, |_| Ok(()))?;
    Ok(Opened { base, position: end, report: Report { applied, ..report } })
}

/// What is up to date, and how many changes were applied for that.
type Applied<I, F> = (Arc<Base<I, F>>, u64);

/// Opens the index, checks it, and applies a part of the log. sled reports some damage by panicking.
pub(crate) fn attempt<O: IndexOpener, F: LogIo>(
    opener: &O,
    log: &Arc<LogFile<F>>,
    from: Position,
    to: Position,
    check: impl FnOnce(&Base<O::Index, F>) -> Result<(), Problem>,
) -> Result<Applied<O::Index, F>, Problem> {
    let work = || {
        let base = Arc::new(Base::open(Arc::clone(log), opener.open()?)?);
        check(&base)?;
        let applied = replay(&base, from, to)?;
        base.note_reached(to.end)?;
        base.log.publish(to);
        Ok((base, applied))
    };
    panics::caught(AssertUnwindSafe(|| Ok(work()))).map_err(Problem::Index)?
}

/// The end of a log.
pub(crate) struct End {
    pub end: Position,
    /// The length of the file: what comes after the end was never acknowledged.
    length: u64,
    /// How many complete frames are in that.
    frames: u64,
}

/// Finds the end of the log, from a position before which everything is durable. After it is what an incomplete group
/// or an unfinished import has left. Writes nothing.
pub(crate) fn find_end<F: LogIo>(log: &LogFile<F>, durable: Position) -> Result<End, Problem> {
    let length = log.file.length()?;
    if length < durable.end {
        return Err(Problem::Log("its end is missing".to_owned()));
    }
    let mut frames = log.frames(durable.end, length);
    let mut end = durable;
    // Where an import began that has not ended.
    let mut import = None;
    let mut read = 0;
    loop {
        match frames.next() {
            Ok(Some(frame)) => {
                if frame.sequence() < end.next {
                    return Err(Problem::Log(format!("it is out of order at byte {}", frame.at)));
                }
                match frame.kind {
                    Kind::Import => drop(import.get_or_insert((end, read))),
                    Kind::Commands | Kind::NewHistory => import = None,
                }
                end = Position { next: frame.next_sequence(), end: frame.end() };
                read += 1;
            }
            Ok(None) => break,
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(ReadError::Damaged) => {
                let at = frames.at();
                if log.has_later_group(at)? {
                    return Err(Problem::Log(format!("it is damaged at byte {at}, before its end")));
                }
                break;
            }
        }
    }
    let mut after_end = 0;
    if let Some((begin, frames)) = import {
        tracing::warn!("an import did not end; what it did is rolled back");
        (after_end, end) = (read - frames, begin);
    }
    Ok(End { end, length, frames: after_end })
}

/// Finds the end of the log, cuts off what comes after it, and makes what remains durable. Returns how many bytes and
/// complete frames were cut off.
fn settle_end<F: LogIo>(log: &LogFile<F>, durable: Position) -> Result<(Position, (u64, u64)), Problem> {
    let End { end, length, frames } = find_end(log, durable)?;
    let bytes = length - end.end;
    if bytes > 0 {
        tracing::warn!(bytes, frames, "the log ends with what was never acknowledged; it is cut off");
        log.file.cut(end.end)?;
    }
    if length > durable.end {
        log.write_again(durable.end, end.end)?;
    }
    Ok((end, (bytes, frames)))
}

/// Applies a part of the log to the index; returns how many changes that were.
fn replay<I: Index, F: LogIo>(base: &Arc<Base<I, F>>, from: Position, to: Position) -> Result<u64, Problem> {
    /// How many changes lie between two lines of the program's log.
    const PROGRESS: u64 = 1_000_000;
    let mut overlay = Overlay::new(Arc::clone(base));
    let mut frames = base.log.frames(from.end, to.end);
    let (mut applied, mut waiting) = (0, 0);
    loop {
        let at = frames.at();
        let damaged = || Problem::Log(format!("it is damaged at byte {at}"));
        let mut frame = match frames.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(ReadError::Damaged) => return Err(damaged()),
        };
        base.note_frame(frame.sequence(), at)?;
        if let Some(history) = frame.history() {
            base.note_history(history)?;
        }
        while let Some((sequence, entry, place)) = frame.next().map_err(|_| damaged())? {
            let record = entry.record(sequence).map_err(|_| damaged())?;
            overlay
                .apply(&record.change, |_| place, |_| place)
                .map_err(|_| Problem::Index("a record that the log changes is damaged or missing".to_owned()))?;
            applied += 1;
            waiting += 1;
            if applied % PROGRESS == 0 {
                tracing::info!(changes = applied, bytes = at, of = to.end, "the index is being brought up to date");
            }
        }
        if waiting >= BATCH {
            base.apply(&mut overlay.tables)?;
            waiting = 0;
        }
    }
    base.apply(&mut overlay.tables)?;
    Ok(applied)
}
