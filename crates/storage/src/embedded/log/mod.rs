//! The log: a file that holds every change in order. The index is made from it.
//!
//! It begins with a head and goes on with frames (see [`frame`]). It is written at its end only, a group at a time, and
//! synced before the next group: so a crash can leave only the last group incomplete. Imports sync at their end only.

pub(crate) mod disk;
pub(crate) mod frame;
#[cfg(test)]
mod tests;

use super::health::Damage;
use super::mark::Position;
use super::problem::Problem;
use crate::codec::{self, CodecError};
use crate::records::Entry;
use disk::LogIo;
use frame::{Frame, HEAD, LONGEST, MAGIC};
use lendpay_domain::change::Change;
use lendpay_domain::offer::Terms;
use lendpay_domain::view::HeldTerms;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// What the file begins with: a name and the version of the format.
const NAME: [u8; 8] = [b'l', b'e', b'n', b'd', b'p', b'a', b'y', FORMAT];

/// The version of the format.
pub(crate) const FORMAT: u8 = 1;

/// Where the first frame is: after the name, the sealed head and padding.
pub(crate) const FIRST: u64 = 64;

/// How much is read at once.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Where an entry lies in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub at: u64,
    pub length: u32,
}

impl HeldTerms for Place {
    fn whole(&self) -> Option<&Terms> {
        None
    }
}

/// What distinguishes this log from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Part of the checksum of every frame.
    pub salt: u64,
    /// The history that the log begins with. An import begins another.
    pub history: [u8; 16],
}

impl Head {
    /// Reads what a log begins with.
    pub(crate) fn read(bytes: &[u8; FIRST as usize]) -> Result<Self, Problem> {
        if bytes[..7] != NAME[..7] {
            return Err(damaged_head());
        }
        if bytes[7] != FORMAT {
            return Err(Problem::Format(bytes[7]));
        }
        codec::take(&bytes[8..]).map(|(head, _padding)| head).map_err(|_| damaged_head())
    }

    /// The position at the beginning of the log.
    pub(crate) const fn start(&self) -> Position {
        Position { next: 1, end: FIRST, history: self.history }
    }
}

fn damaged_head() -> Problem {
    Problem::log("its head is missing or damaged")
}

/// Why a part of the log cannot be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    Io(io::Error),
    Damaged,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        // The log ends before a position that something refers to.
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

impl From<CodecError> for ReadError {
    fn from(_: CodecError) -> Self {
        Self::Damaged
    }
}

/// The open log.
pub(crate) struct LogFile<F> {
    pub(crate) file: F,
    pub(crate) head: Head,
    /// How far readers may read: up to here everything is durable and in the index.
    end: AtomicU64,
    /// The last sequence before that.
    last: AtomicU64,
    /// The same, for those who wait; told when it can be read.
    readable: watch::Sender<u64>,
    /// What was found when a part of it, or of its index, was read.
    pub(crate) damage: Damage,
}

impl<F: LogIo> LogFile<F> {
    /// Reads the head of a log. A file that was never used gets the head `new`; without one it counts as damaged.
    pub(crate) fn open(file: F, new: Option<Head>) -> Result<Self, Problem> {
        let open = |file, head| {
            let (end, last, readable) = (AtomicU64::new(FIRST), AtomicU64::new(0), watch::Sender::new(0));
            Self { file, head, end, last, readable, damage: Damage::default() }
        };
        let length = file.length()?;
        let mut bytes = [0; FIRST as usize];
        let there = usize::try_from(length.min(FIRST)).expect("at most FIRST");
        file.read_at(&mut bytes[..there], 0)?;
        // The head is synced before the first frame is written: after a crash, a log with a short or blank head has no
        // frames.
        if length <= FIRST && (there < bytes.len() || bytes.iter().all(|byte| *byte == 0)) {
            let new = new.ok_or_else(damaged_head)?;
            let mut sealed = NAME.to_vec();
            codec::seal(&new, &mut sealed).expect("a head is short");
            sealed.resize(bytes.len(), 0);
            file.write_at(&sealed, 0)?;
            file.sync()?;
            return Ok(open(file, new));
        }
        let head = Head::read(&bytes)?;
        Ok(open(file, head))
    }

    /// How far readers may read.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// The last sequence that readers may read, or a later one: at least that of everything before an end that was read
    /// earlier.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Lets readers read up to here.
    pub(crate) fn publish(&self, position: Position) {
        self.last.store(position.next - 1, Ordering::Relaxed);
        self.end.store(position.end, Ordering::Release);
        self.readable.send_replace(position.next - 1);
    }

    /// Is ready when a change with a greater sequence can be read, or the log is closed.
    pub(crate) fn passes(&self, sequence: u64) -> impl Future<Output = ()> + Send + use<F> {
        let mut readable = self.readable.subscribe();
        async move {
            // An error says that the log is closed.
            let _ = readable.wait_for(|last| *last > sequence).await;
        }
    }

    /// Writes a part again as it is, and makes it durable: after a failed sync the page cache can hold what the disk
    /// does not.
    pub(crate) fn write_again(&self, from: u64, to: u64) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        let mut at = from;
        while at < to {
            let length = usize::try_from(to - at).unwrap_or(CHUNK).min(CHUNK);
            self.file.read_at(&mut chunk[..length], at)?;
            self.file.write_at(&chunk[..length], at)?;
            at += length as u64;
        }
        self.file.sync()
    }

    /// The change at a place. Damage is noted.
    pub(crate) fn change(&self, place: Place) -> Result<Change, ReadError> {
        let change = self.change_at(place);
        if matches!(change, Err(ReadError::Damaged)) {
            self.damage.note_log(place.at);
        }
        change
    }

    fn change_at(&self, place: Place) -> Result<Change, ReadError> {
        if place.length as usize > codec::LONGEST {
            return Err(ReadError::Damaged);
        }
        let mut bytes = vec![0; place.length as usize];
        self.file.read_at(&mut bytes, place.at)?;
        let entry: Entry<'_> = codec::unseal(&bytes)?;
        Ok(entry.change.try_into()?)
    }

    /// The frames from one place, where a frame begins, to another.
    pub(crate) fn frames(&self, from: u64, to: u64) -> Frames<'_, F> {
        Frames { log: self, at: from, to, buffer: Vec::new(), begin: 0 }
    }

    /// Whether a frame of a later group follows a position at which no frame can be read. If so, the position was
    /// durable once and is damaged; if not, a group was not written completely there.
    pub(crate) fn has_later_group(&self, unreadable: u64) -> io::Result<bool> {
        Ok(self.find_frame(unreadable, |frame| frame.group > unreadable)?.is_some())
    }

    /// Where, after a place where no frame can be read, the next one begins that can be read and is wanted.
    pub(crate) fn find_frame(&self, unreadable: u64, wanted: impl Fn(&Frame<'_>) -> bool) -> io::Result<Option<u64>> {
        let length = self.file.length()?;
        let mut at = unreadable + 1;
        let mut chunk = vec![0; CHUNK + HEAD + LONGEST];
        while at < length {
            let there = usize::try_from(length - at).unwrap_or(usize::MAX).min(chunk.len());
            let bytes = &mut chunk[..there];
            self.file.read_at(bytes, at)?;
            let starts = bytes.windows(MAGIC.len()).take(CHUNK).enumerate();
            for (from, _) in starts.filter(|(_, start)| *start == MAGIC) {
                let frame = Frame::length(&bytes[from..]).and_then(|length| bytes.get(from..from + length));
                let read = |frame| Frame::read(self.head.salt, at + from as u64, frame);
                if frame.is_some_and(|frame| read(frame).is_ok_and(|frame| wanted(&frame))) {
                    return Ok(Some(at + from as u64));
                }
            }
            at += CHUNK as u64;
        }
        Ok(None)
    }
}

/// Reads frames one after the other.
pub(crate) struct Frames<'a, F> {
    pub(crate) log: &'a LogFile<F>,
    /// Where the next frame begins.
    at: u64,
    to: u64,
    /// What was read, and where in it the next frame begins.
    buffer: Vec<u8>,
    begin: usize,
}

impl<F: LogIo> Frames<'_, F> {
    /// Where the next frame begins. After an error, the place of the frame that cannot be read.
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// The next frame.
    pub(crate) fn next(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        if self.at >= self.to {
            return Ok(None);
        }
        self.fill(HEAD)?;
        let length = Frame::length(&self.buffer[self.begin..]).ok_or(ReadError::Damaged)?;
        self.fill(length)?;
        let begin = self.begin;
        let frame = Frame::read(self.log.head.salt, self.at, &self.buffer[begin..begin + length])?;
        self.at += length as u64;
        self.begin += length;
        Ok(Some(frame))
    }

    /// Reads until the buffer has so many bytes of the next frame.
    fn fill(&mut self, bytes: usize) -> Result<(), ReadError> {
        let there = self.buffer.len() - self.begin;
        if there >= bytes {
            return Ok(());
        }
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX);
        if left < bytes {
            return Err(ReadError::Damaged);
        }
        self.buffer.drain(..self.begin);
        self.begin = 0;
        self.buffer.resize(left.min(bytes.max(CHUNK)), 0);
        let read = self.log.file.read_at(&mut self.buffer[there..], self.at + there as u64);
        if let Err(error) = read {
            self.buffer.truncate(there);
            return Err(error.into());
        }
        Ok(())
    }
}
