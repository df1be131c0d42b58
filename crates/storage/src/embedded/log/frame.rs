//! Frames: what the log consists of after its head. A frame holds the entries of several commands and is written and
//! read as one. Entries are numbered from the frame's sequence on. The layout is in this crate's README.md.

use super::Place;
use crate::codec::{self, CodecError};
use crate::embedded::mark::Position;
use crate::records::Entry;
use lendpay_domain::change::Record;
use lendpay_domain::event::EventCounts;

/// What a frame begins with.
pub(crate) const MAGIC: [u8; 4] = *b"LPF1";

/// The length of what comes before the entries.
pub(crate) const HEAD: usize = 32;

/// The size of its entries after which a frame ends, between two commands. Bounds what a reader reads to find an entry.
const CUT: usize = 64 * 1024;

/// The most bytes that the entries of a frame take, and so those of a command: two changes of any length, or many short
/// ones.
pub(crate) const LONGEST: usize = 2 * codec::LONGEST;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commands.
    Commands = 0,
    /// Records of an import, which count only if a `NewHistory` follows.
    Import = 1,
    /// The start of a new history, whose id it holds, without entries. Every import ends with one.
    NewHistory = 2,
}

impl Kind {
    fn of(code: u8) -> Option<Self> {
        [Self::Commands, Self::Import, Self::NewHistory].into_iter().find(|kind| *kind as u8 == code)
    }
}

/// Collects the entries of a group into frames.
pub(crate) struct GroupLog {
    salt: u64,
    kind: Kind,
    /// The sequence that the group begins with, and that of the next frame.
    first: u64,
    next: u64,
    /// Where in the file the group begins.
    begin: u64,
    /// Before this everything was durable when the group was written: where it begins, or where the import began.
    durable: u64,
    history: [u8; 16],
    /// The group's frames; the head of the last one is not filled in yet.
    bytes: Vec<u8>,
    /// Where the last frame begins in `bytes`, and how many entries it has.
    frame: usize,
    count: u32,
    /// The entries of the command that is being added.
    command: Vec<u8>,
    /// Events of the group, by type.
    events: EventCounts,
}

impl GroupLog {
    /// A group that will be written at a position.
    pub(crate) fn new(salt: u64, kind: Kind, Position { next, end, history }: Position) -> Self {
        let (bytes, command, events) = (Vec::new(), Vec::new(), EventCounts::default());
        let (first, begin, durable, frame, count) = (next, end, end, 0, 0);
        Self { salt, kind, first, next, begin, durable, history, bytes, frame, count, command, events }
    }

    /// Adds the changes of a command, all or none, and says where each of them will be.
    pub(crate) fn push(&mut self, changes: &[Record]) -> Result<impl Iterator<Item = Place> + use<>, CodecError> {
        self.command.clear();
        let mut places = Vec::with_capacity(changes.len());
        for change in changes {
            let from = self.command.len();
            let length = codec::seal(&Entry::from(change), &mut self.command)?;
            places.push((from, length));
        }
        if self.command.len() > LONGEST {
            return Err(CodecError::TooLong);
        }
        if self.count > 0 && self.bytes.len() - self.frame - HEAD + self.command.len() > CUT {
            self.end_frame();
        }
        if self.count == 0 {
            self.frame = self.bytes.len();
            self.bytes.extend_from_slice(&[0; HEAD]);
        }
        let at = self.begin + self.bytes.len() as u64;
        self.bytes.append(&mut self.command);
        self.count += u32::try_from(changes.len()).expect("a command has few changes");
        for (_, subject) in changes.iter().filter_map(Record::subject) {
            self.events[subject.type_index()] += 1;
        }
        let place = move |(from, length): (usize, usize)| Place {
            at: at + from as u64,
            length: u32::try_from(length).expect("an entry is shorter than codec::LONGEST"),
        };
        Ok(places.into_iter().map(place))
    }

    /// Adds the frame that begins a new history. An import that it ends is durable by now.
    pub(crate) fn begin_history(&mut self, history: [u8; 16]) {
        self.end_frame();
        self.kind = Kind::NewHistory;
        self.history = history;
        self.durable = self.begin;
        self.frame = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEAD]);
        self.bytes.extend_from_slice(&history);
        self.fill_head();
    }

    /// Ends the group and gives its bytes.
    pub(crate) fn end_group(&mut self) -> &[u8] {
        self.end_frame();
        &self.bytes
    }

    /// Begins the next group, once this one is in the file. Returns the number of its events by type.
    pub(crate) fn clear(&mut self) -> EventCounts {
        self.first = self.next;
        self.begin += self.bytes.len() as u64;
        // The groups of an import are not synced before the next.
        if self.kind == Kind::Commands {
            self.durable = self.begin;
        }
        self.bytes.clear();
        std::mem::take(&mut self.events)
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// The sequence that the group begins with.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// Where the last frame begins in the file, and with which sequence.
    pub(crate) const fn frame(&self) -> (u64, u64) {
        (self.begin + self.frame as u64, self.next)
    }

    /// Where the group begins; with the sequence of the next change, also in the middle of a group.
    pub(crate) const fn position(&self) -> Position {
        Position { next: self.next + self.count as u64, end: self.begin, history: self.history }
    }

    /// Skips the sequences before `sequence`.
    pub(crate) fn skip_to(&mut self, sequence: u64) {
        if sequence > self.position().next {
            self.end_frame();
            self.next = sequence;
        }
    }

    fn end_frame(&mut self) {
        if self.count > 0 {
            self.fill_head();
            self.next += u64::from(self.count);
            self.count = 0;
        }
    }

    fn fill_head(&mut self) {
        let (head, body) = self.bytes[self.frame..].split_at_mut(HEAD);
        let length = u32::try_from(body.len()).expect("a frame is shorter than LONGEST");
        head[..4].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&length.to_le_bytes());
        head[12..16].copy_from_slice(&self.count.to_le_bytes());
        head[15] = self.kind as u8;
        head[16..24].copy_from_slice(&self.next.to_le_bytes());
        head[24..].copy_from_slice(&self.durable.to_le_bytes());
        let crc = checksum(self.salt, &self.bytes[self.frame + 8..]);
        self.bytes[self.frame + 4..self.frame + 8].copy_from_slice(&crc.to_le_bytes());
    }
}

/// The salt is different in each log: no stored value can look like a frame, and no frame of another log is accepted.
fn checksum(salt: u64, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&salt.to_le_bytes()), bytes)
}

/// A frame that was read.
#[derive(Clone)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    /// Everything before this place in the file was durable when the frame was written: where its group begins, or
    /// where its import began.
    pub(crate) group: u64,
    /// Where the frame begins in the file.
    pub(crate) at: u64,
    sequence: u64,
    left: u32,
    /// The length of the frame.
    length: usize,
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The length of the frame that begins with these bytes, of which there are at least [`HEAD`].
    pub(crate) fn length(head: &[u8]) -> Option<usize> {
        let length = u32::from_le_bytes(head.get(8..12)?.try_into().ok()?) as usize;
        (head.starts_with(&MAGIC) && length <= LONGEST).then_some(HEAD + length)
    }

    /// Reads the frame that lies `at` in the file.
    pub(crate) fn read(salt: u64, at: u64, frame: &'a [u8]) -> Result<Self, CodecError> {
        let (head, body) = frame.split_at_checked(HEAD).ok_or(CodecError::Damaged)?;
        let number = |from: usize| u64::from_le_bytes(head[from..from + 8].try_into().expect("eight bytes"));
        let crc = u32::from_le_bytes(head[4..8].try_into().expect("four bytes"));
        if Self::length(head) != Some(frame.len()) || crc != checksum(salt, &frame[8..]) {
            return Err(CodecError::Damaged);
        }
        let left = u32::from_le_bytes([head[12], head[13], head[14], 0]);
        let kind = Kind::of(head[15]).ok_or(CodecError::Damaged)?;
        let (sequence, group) = (number(16), number(24));
        if group > at || sequence.checked_add(u64::from(left)).is_none() || (left == 0) != (kind == Kind::NewHistory) {
            return Err(CodecError::Damaged);
        }
        Ok(Self { kind, group, at, sequence, left, length: frame.len(), body })
    }

    /// The sequence of the next entry.
    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Where the log goes on after the frame, which follows `before`.
    pub(crate) fn after(&self, before: Position) -> Position {
        let history = self.history().unwrap_or(before.history);
        Position { next: self.next_sequence(), end: self.end(), history }
    }

    /// The sequence that follows the last entry.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.sequence + u64::from(self.left)
    }

    /// Where the next frame begins in the file.
    pub(crate) const fn end(&self) -> u64 {
        self.at + self.length as u64
    }

    /// The history that begins here, if one does.
    pub(crate) fn history(&self) -> Option<[u8; 16]> {
        if self.kind == Kind::NewHistory { self.body.try_into().ok() } else { None }
    }

    /// The next entry with its sequence, and where it is.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Entry<'a>, Place)>, CodecError> {
        if self.left == 0 {
            let ended = self.body.is_empty() || self.kind == Kind::NewHistory;
            return if ended { Ok(None) } else { Err(CodecError::Damaged) };
        }
        let (entry, rest) = codec::take(self.body)?;
        let length = self.body.len() - rest.len();
        let place = Place {
            at: self.end() - self.body.len() as u64,
            length: u32::try_from(length).map_err(|_| CodecError::Damaged)?,
        };
        let sequence = self.sequence;
        self.body = rest;
        self.left -= 1;
        self.sequence += 1;
        Ok(Some((sequence, entry, place)))
    }
}
