//! Frames: the entries of several commands, which are written and read as a whole. Entries count on from the frame's sequence by
//! one.
//!
//! | bytes | of a frame, integers little-endian |
//! |---|---|
//! | 4 | `LPG2` |
//! | 4 | CRC-32C of all that follows |
//! | 4 | length of the entries |
//! | 4 | how many entries |
//! | 8 | sequence of the first |
//! | 8 | where in the file its group begins: everything before that was durable when this was written |
//! | | the entries: postcard |

use super::entry::Entry;
use crate::codec::{self, CodecError};
use crate::records::Place;

/// What a frame begins with.
pub(super) const MAGIC: [u8; 4] = *b"LPG2";

/// The length of what comes before the entries.
pub(super) const HEAD: usize = 32;

/// Where a frame is cut, on the border of two commands: what a reader has to read to get at one entry.
const CUT: usize = 64 * 1024;

/// The most that the entries of a frame take: those that were cut, or one long command.
pub(super) const LONGEST: usize = codec::MAX_LOG_VALUE;

/// Collects the entries of a group into frames.
pub(super) struct GroupLog {
    /// The sequence that the group begins with, and that of the next frame.
    first: u64,
    next: u64,
    /// Where in the file the group begins.
    begin: u64,
    /// The group's frames; the head of the last one is not filled in yet.
    bytes: Vec<u8>,
    /// Where the last frame begins in `bytes`, and how many entries it has.
    frame: usize,
    count: u32,
    /// The entries of the command that is being decided, and where the value of one of them lies.
    command: Vec<u8>,
    command_count: u32,
    command_value: Option<(usize, u32)>,
    /// Events of the group and of the command, by type.
    events: [u64; 7],
    command_events: [u64; 7],
}

impl GroupLog {
    /// A group whose first entry has the sequence `next`, and that will be written at `begin`.
    pub(super) fn new(next: u64, begin: u64) -> Self {
        Self {
            first: next,
            next,
            begin,
            bytes: Vec::new(),
            frame: 0,
            count: 0,
            command: Vec::new(),
            command_count: 0,
            command_value: None,
            events: [0; 7],
            command_events: [0; 7],
        }
    }

    /// Adds an entry of the current command, of which one may have a value. After an error the command has none.
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> Result<(), CodecError> {
        let added = codec::append(entry, &mut self.command);
        if added.is_err() || self.command.len() > LONGEST {
            self.abandon_command();
            return Err(CodecError::TooLong);
        }
        if let Some(value) = entry.value() {
            // It is the last part of its entry.
            let from = self.command.len() - value.len();
            self.command_value = Some((from, u32::try_from(value.len()).map_err(|_| CodecError::TooLong)?));
        }
        self.command_count += 1;
        if let Some(kind) = entry.event_type() {
            self.command_events[kind] += 1;
        }
        Ok(())
    }

    /// Forgets the entries of the current command.
    pub(super) fn abandon_command(&mut self) {
        self.command.clear();
        self.command_count = 0;
        self.command_value = None;
        self.command_events = [0; 7];
    }

    /// Ends the current command: its entries stay together. Says where its value will be, if it has one.
    pub(super) fn end_command(&mut self) -> Option<Place> {
        if self.command_count == 0 {
            return None;
        }
        if self.count > 0 && self.bytes.len() - self.frame - HEAD + self.command.len() > CUT {
            self.cut();
        }
        if self.count == 0 {
            self.frame = self.bytes.len();
            self.bytes.extend_from_slice(&[0; HEAD]);
        }
        let place = self
            .command_value
            .take()
            .map(|(from, length)| Place { at: self.begin + (self.bytes.len() + from) as u64, length });
        self.bytes.append(&mut self.command);
        self.count += self.command_count;
        self.command_count = 0;
        for (total, more) in self.events.iter_mut().zip(std::mem::take(&mut self.command_events)) {
            *total += more;
        }
        place
    }

    /// Ends the group and gives its bytes.
    pub(super) fn end_group(&mut self) -> &[u8] {
        if self.count > 0 {
            self.cut();
        }
        &self.bytes
    }

    /// A value of this group.
    pub(super) fn value(&self, place: Place) -> Option<&[u8]> {
        let from = usize::try_from(place.at.checked_sub(self.begin)?).ok()?;
        self.bytes.get(from..from.checked_add(place.length as usize)?)
    }

    /// Forgets the group, once it is in the file: the next one follows it. Gives the number of its events by type.
    pub(super) fn clear(&mut self) -> [u64; 7] {
        self.first = self.next;
        self.begin += self.bytes.len() as u64;
        self.bytes.clear();
        std::mem::take(&mut self.events)
    }

    /// The sequence that the group begins with.
    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    /// Where the group begins.
    pub(super) const fn begin(&self) -> u64 {
        self.begin
    }

    /// The sequence that the next command begins with, also in the middle of a group.
    pub(super) fn following(&self) -> u64 {
        self.next + u64::from(self.count)
    }

    /// Leaves out the sequences up to `sequence`, between two commands.
    pub(super) fn skip_to(&mut self, sequence: u64) {
        if self.count > 0 {
            self.cut();
        }
        self.next = sequence.max(self.next);
    }

    /// Fills in the head of the last frame.
    fn cut(&mut self) {
        let (head, entries) = self.bytes[self.frame..].split_at_mut(HEAD);
        let length = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        head[..4].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&length.to_le_bytes());
        head[12..16].copy_from_slice(&self.count.to_le_bytes());
        head[16..24].copy_from_slice(&self.next.to_le_bytes());
        head[24..].copy_from_slice(&self.begin.to_le_bytes());
        let crc = crc32c::crc32c_append(crc32c::crc32c(&head[8..]), entries);
        head[4..8].copy_from_slice(&crc.to_le_bytes());
        self.next += u64::from(self.count);
        self.count = 0;
    }
}

/// A frame that was read.
pub(super) struct Frame<'a> {
    /// Where its group begins in the file.
    pub(super) group: u64,
    /// Where its entries begin in the file.
    entries_at: u64,
    sequence: u64,
    left: u32,
    whole: &'a [u8],
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The length of the whole frame that begins with these bytes, of which there are at least [`HEAD`].
    pub(super) fn length(head: &[u8]) -> Option<usize> {
        let length = u32::from_le_bytes(head.get(8..12)?.try_into().ok()?) as usize;
        (head.starts_with(&MAGIC) && length <= LONGEST).then_some(HEAD + length)
    }

    /// Reads the frame that lies `at` in the file.
    pub(super) fn read(at: u64, frame: &'a [u8]) -> Result<Self, CodecError> {
        let (head, body) = frame.split_at_checked(HEAD).ok_or(CodecError::Damaged)?;
        let number = |from: usize| head[from..from + 8].try_into().map(u64::from_le_bytes);
        let short = |from: usize| head[from..from + 4].try_into().map(u32::from_le_bytes);
        let whole =
            Self::length(head) == Some(frame.len()) && short(4).is_ok_and(|crc| crc == crc32c::crc32c(&frame[8..]));
        match (short(12), number(16), number(24)) {
            (Ok(left), Ok(sequence), Ok(group))
                if whole && left > 0 && sequence.checked_add(u64::from(left)).is_some() =>
            {
                Ok(Self { group, entries_at: at + HEAD as u64, sequence, left, whole: body, body })
            }
            _ => Err(CodecError::Damaged),
        }
    }

    /// The sequence of the next entry.
    pub(super) const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The sequence that follows the last entry.
    pub(super) fn end(&self) -> u64 {
        self.sequence + u64::from(self.left)
    }

    /// The next entry with its sequence, and where its value is if it has one.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Entry<'a>, Option<Place>)>, CodecError> {
        if self.left == 0 {
            return if self.body.is_empty() { Ok(None) } else { Err(CodecError::Damaged) };
        }
        let (entry, rest): (Entry<'a>, _) = codec::take(self.body)?;
        let place = match entry.value() {
            Some(value) => {
                let end = self.whole.len() - rest.len();
                let length = u32::try_from(value.len()).map_err(|_| CodecError::Damaged)?;
                Some(Place { at: self.entries_at + (end - value.len()) as u64, length })
            }
            None => None,
        };
        let sequence = self.sequence;
        self.body = rest;
        self.left -= 1;
        self.sequence += 1;
        Ok(Some((sequence, entry, place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sled::trees::StateKey;
    use lendpay_domain::key::KeyHash;
    use proptest::prelude::*;

    fn key() -> StateKey {
        StateKey::key(KeyHash::of("x"))
    }

    /// The frames of a group that lies `at` in the file.
    fn frames(mut at: u64, mut bytes: &[u8]) -> Vec<Frame<'_>> {
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let (frame, rest) = bytes.split_at(Frame::length(bytes).expect("a head"));
            frames.push(Frame::read(at, frame).expect("whole"));
            at += frame.len() as u64;
            bytes = rest;
        }
        frames
    }

    #[test]
    fn frames_are_cut_between_commands() {
        let mut log = GroupLog::new(5, 1_000);
        let long = [1; 30_000];
        let mut places = Vec::new();
        // Each command has two entries of 30,000 bytes: one command to a frame.
        for _ in 0..3 {
            log.push(&Entry::put(&key(), &long)).expect("fits");
            log.push(&Entry::put(&key(), &long)).expect("fits");
            places.push(log.end_command().expect("a value"));
        }
        assert_eq!(log.following(), 11);
        let bytes = log.end_group().to_vec();
        for (n, mut frame) in (0..).zip(frames(1_000, &bytes)) {
            assert_eq!((frame.group, frame.sequence(), frame.end()), (1_000, 5 + 2 * n, 7 + 2 * n));
            for (sequence, value) in [(5 + 2 * n, None), (6 + 2 * n, Some(places[n as usize]))] {
                let (read, entry, place) = frame.next().expect("readable").expect("there");
                assert!(read == sequence && entry == Entry::put(&key(), &long));
                assert!(value.is_none() || value == place);
                let place = place.expect("a value");
                assert_eq!(log.value(place), Some(&long[..]));
                assert_eq!(bytes[place.at as usize - 1_000..][..place.length as usize], long);
            }
            assert!(matches!(frame.next(), Ok(None)));
        }
        assert_eq!((log.following(), log.begin()), (11, 1_000));
        log.clear();
        assert_eq!(log.begin(), 1_000 + bytes.len() as u64);
    }

    #[test]
    fn an_abandoned_command_leaves_nothing() {
        let mut log = GroupLog::new(1, 0);
        log.push(&Entry::put(&key(), b"a")).expect("fits");
        log.abandon_command();
        log.push(&Entry::put(&key(), b"b")).expect("fits");
        log.push(&Entry::put(&key(), &[0; LONGEST])).expect_err("too long");
        assert_eq!(log.end_command(), None);
        assert_eq!(log.end_group().len(), 0);
    }

    #[test]
    fn a_frame_with_any_bit_changed_is_damaged() {
        let mut log = GroupLog::new(7, 64);
        log.push(&Entry::put(&key(), b"value")).expect("fits");
        log.end_command();
        let whole = log.end_group().to_vec();
        for bit in 0..whole.len() * 8 {
            let mut frame = whole.clone();
            frame[bit / 8] ^= 1 << (bit % 8);
            assert!(Frame::read(64, &frame).is_err(), "{bit}");
        }
        for length in 0..whole.len() {
            assert!(Frame::read(64, &whole[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn random_frames_never_panic(
            count in 1..5_u32,
            sequence in any::<u64>(),
            body in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut frame = [&MAGIC[..], &[0; 4], &(body.len() as u32).to_le_bytes(), &count.to_le_bytes()].concat();
            frame.extend(sequence.to_le_bytes());
            frame.extend([0; 8]);
            frame.extend(body);
            let crc = crc32c::crc32c(&frame[8..]);
            frame[4..8].copy_from_slice(&crc.to_le_bytes());
            if let Ok(mut frame) = Frame::read(0, &frame) {
                while let Ok(Some((sequence, entry, _))) = frame.next() {
                    drop((entry.event(sequence), entry.key().map(|key| key.shown())));
                }
            }
        }
    }
}
