//! Opening: decides which parts of the store can be trusted, and rebuilds the rest from the log.
//!
//! This crate's README.md has a table of what is done in each state.

use super::OpenReport;
use super::base::{Base, Overlay, reached};
use super::index::{BuyerValue, Index, IndexOpener};
use super::log::disk::{Disk, LogIo};
use super::log::frame::Kind;
use super::log::{FIRST, Head, LogFile, Place, ReadError};
use super::mark::{Mark, Position, State};
use super::panics;
use super::problem::Problem;
use lendpay_domain::change::Change;
use lendpay_domain::view::Remembered;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};

/// How many changes are applied to the index at once, sorted by key: the more there are, the fewer times each page of
/// the index is changed. Bounds the memory of a rebuild to some 200 MB.
const BATCH: usize = 1_000_000;

/// A store that is ready.
pub(crate) struct Opened<I, F> {
    pub base: Arc<Base<I, F>>,
    pub position: Position,
    pub report: OpenReport,
}

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
    let start = log.head.start();
    let mark = Mark::read(disk, &log.head)?;
    if mark.is_none() {
        // After a failed sync the head can be in the page cache only.
        log.write_again(0, FIRST)?;
    }
    let durable = mark.map_or(start, |mark| mark.position);
    let found = find_end(&log, durable)?;
    let identity = disk.identity(&log.file);
    let mut untrusted = match mark.map(|mark| mark.state) {
        _ if rebuild => Some("this was asked for".to_owned()),
        Some(State::Clean) => None,
        Some(State::Open(Some(then))) if identity == Some(then) => None,
        Some(State::Open(Some(_))) => Some("the machine was restarted or the files were moved".to_owned()),
        Some(State::Open(None)) => Some("the last run left an index that cannot be trusted".to_owned()),
        None => Some("there is no mark that can be trusted".to_owned()),
    };
    let end = found.end;
    let reached = |index: &O::Index| match reached(index, &log.head)? {
        Some(reached) if reached > end.end => {
            Err(Problem::log("its end is missing: the index holds what comes after it"))
        }
        reached => Ok(reached),
    };
    if untrusted.is_some() && !rebuild && opener.exists() {
        // How far it had come is true also where the rest of it is not. An index that cannot be read says nothing.
        let seen = panics::caught(|| reached(&opener.open()?));
        if let Err(Problem::Log(reason)) = seen {
            return Err(Problem::Log(reason));
        }
    }
    let mut report = found.settle(&log, durable)?;
    if untrusted.is_none() {
        // Opening the index writes to it: from now on it can be trusted on this boot only.
        Mark::write(disk, &log.head, durable, State::Open(identity))?;
        let complete = |index: &_| match reached(index)? {
            Some(reached) if reached >= durable.end => Ok(()),
            Some(_) | None => Err(Problem::index("it lacks what it should hold")),
        };
        match attempt(opener, &log, durable, end, complete) {
            Ok(base) => return Ok(Opened { base, position: end, report }),
            Err(Problem::Index(reason)) => untrusted = Some(reason),
            Err(problem) => return Err(problem),
        }
    }
    if let Some(reason) = untrusted.filter(|_| end != start) {
        tracing::warn!(reason, bytes = end.end, "the index is rebuilt from the log");
        report.rebuilt = true;
    }
    Mark::write(disk, &log.head, durable, State::Open(None))?;
    opener.delete()?;
    let base = attempt(opener, &log, start, end, |_| Ok(()))?;
    Ok(Opened { base, position: end, report })
}

/// Opens the index, checks it, and applies a part of the log. sled reports some damage by panicking.
pub(crate) fn attempt<O: IndexOpener, F: LogIo>(
    opener: &O,
    log: &Arc<LogFile<F>>,
    from: Position,
    to: Position,
    check: impl FnOnce(&O::Index) -> Result<(), Problem>,
) -> Result<Arc<Base<O::Index, F>>, Problem> {
    panics::caught(|| {
        let index = opener.open()?;
        check(&index)?;
        let base = Arc::new(Base::open(Arc::clone(log), index)?);
        replay(&base, from.end, to.end)?;
        base.note_reached(to.end)?;
        base.log.publish(to);
        Ok(base)
    })
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
        return Err(Problem::log("its end is missing"));
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
                end = frame.after(end);
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

impl End {
    /// Cuts off what comes after the end of the log, and makes durable what remains after a position before which
    /// everything is.
    fn settle<F: LogIo>(&self, log: &LogFile<F>, durable: Position) -> Result<OpenReport, Problem> {
        let (bytes, frames) = (self.length - self.end.end, self.frames);
        if bytes > 0 {
            tracing::warn!(bytes, frames, "the log ends with what was never acknowledged; it is cut off");
            log.file.cut(self.end.end)?;
        }
        if self.length > durable.end {
            log.write_again(durable.end, self.end.end)?;
        }
        Ok(OpenReport { rebuilt: false, cut_bytes: bytes, cut_frames: frames })
    }
}

/// Applies a part of the log to the index, while another thread reads ahead.
fn replay<I: Index, F: LogIo>(base: &Arc<Base<I, F>>, from: u64, to: u64) -> Result<(), Problem> {
    /// How many changes lie between two lines of the program's log.
    const PROGRESS: u64 = 1_000_000;
    /// How many frames are read ahead.
    const AHEAD: usize = 256;
    let mut overlay = Overlay::new(Remembered::new(Arc::clone(base)));
    let (sender, frames) = mpsc::sync_channel(AHEAD);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| panics::caught(|| read_frames(base, from, to, sender)));
        let (mut applied, mut waiting, mut first) = (0, 0, from);
        for (at, changes) in frames {
            if waiting == 0 {
                first = at;
            }
            for (change, place) in changes {
                overlay
                    .apply(&change, |_| place, |buyer| BuyerValue::of(place, buyer))
                    .map_err(|_| Problem::index("a record that the log changes is damaged or missing"))?;
                applied += 1;
                waiting += 1;
                if applied % PROGRESS == 0 {
                    tracing::info!(changes = applied, bytes = at, of = to, "the index is being brought up to date");
                }
            }
            if waiting >= BATCH {
                base.apply(&mut overlay, first)?;
                waiting = 0;
            }
        }
        reader.join().expect("its panics are caught")?;
        base.apply(&mut overlay, first)
    })
}

/// Where a frame begins, and its changes.
type FrameChanges = (u64, Vec<(Change, Place)>);

/// Reads and sends the frames of a part of the log, until nobody wants more.
fn read_frames<I: Index, F: LogIo>(
    base: &Base<I, F>,
    from: u64,
    to: u64,
    frames: SyncSender<FrameChanges>,
) -> Result<(), Problem> {
    let mut log = base.log.frames(from, to);
    loop {
        let at = log.at();
        let damaged = || Problem::Log(format!("it is damaged at byte {at}"));
        let mut frame = match log.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(()),
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(ReadError::Damaged) => return Err(damaged()),
        };
        base.note_frame(frame.sequence(), at)?;
        let mut changes = Vec::new();
        while let Some((sequence, entry, place)) = frame.next().map_err(|_| damaged())? {
            changes.push((entry.record(sequence).map_err(|_| damaged())?.change, place));
        }
        if frames.send((at, changes)).is_err() {
            return Ok(());
        }
    }
}
