//! Filters: which events a block of the log can hold, so that a search passes over the others.
//!
//! A block is the frames that follow the block before, up to the one with which it has 60 KiB. Its filter is an entry
//! of the index, which the writer adds when the block is complete: one for hundreds of commands. What comes after the
//! last filter is read. A filter follows from the log alone, so that one that is missing, or was rebuilt, changes no
//! answer.

use super::base::Base;
use super::index::{Index, Items, Table, unsealed};
use super::log::disk::LogIo;
use super::log::frame::Frame;
use super::log::{FIRST, ReadError};
use super::problem::Problem;
use crate::codec::{self, CodecError};
use crate::records::Time;
use lendpay_domain::Timestamp;
use lendpay_domain::change::{Cause, Record};
use lendpay_domain::event::ids;
use lendpay_domain::query::EventFilter;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// The length from which on a block is complete: so that a full frame, which has almost 64 KiB, is one. Tests of this
/// crate, the simulation of crashes among them, have short logs.
const BLOCK: u64 = if cfg!(test) { 1024 } else { 60 * 1024 };

/// The bits of a filter for each id, and how many of them an id sets: of 100 blocks without an id, one seems to hold
/// it. A block of accepts has about 1,600 ids, and so a filter of 2 KiB.
const BITS: usize = 10;
const SET: u64 = 7;

/// What the index holds of a block.
#[derive(Serialize, Deserialize)]
pub(super) struct Filter<'a> {
    /// Where the next block begins.
    pub end: u64,
    /// The sequence that follows its last entry.
    pub next: u64,
    /// The types of its events: see [`EventTypes::bits`](lendpay_domain::query::EventTypes::bits).
    types: u32,
    /// The first and the last moment at which an event happened; `None` if it has no events.
    times: Option<(Time, Time)>,
    /// A Bloom filter of what its events are looked for by: see [`ids`].
    ids: &'a [u8],
}

impl Filter<'_> {
    /// Whether the block can hold an event that is wanted.
    pub fn may_hold(&self, wanted: &EventFilter) -> Result<bool, CodecError> {
        let Some((first, last)) = self.times else { return Ok(false) };
        let (first, last) = (Timestamp::try_from(first)?, Timestamp::try_from(last)?);
        let has = |id| bits(hash(id), self.ids.len()).all(|(byte, bit)| self.ids[byte] & bit != 0);
        Ok(self.types & wanted.types.bits() != 0
            && wanted.from.is_none_or(|from| from <= last)
            && wanted.until.is_none_or(|until| first < until)
            && wanted.ids().all(has))
    }
}

/// The same whichever program reads it.
fn hash(id: [u8; 16]) -> u32 {
    crc32c::crc32c(&id)
}

/// The bits that an id sets in a filter of so many bytes, each as a byte and a mask.
fn bits(hash: u32, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    // Multiplication by an odd number that is near the golden ratio spreads 32 bits over 64.
    let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (first, step) = (mixed >> 32, mixed & 0xffff_ffff | 1);
    (0..SET).map(move |n| {
        let bit = (first + n * step) % (bytes as u64 * 8);
        ((bit / 8) as usize, 1 << (bit % 8))
    })
}

/// A block that is being written, or read.
struct Block {
    at: u64,
    end: u64,
    /// The sequences with which it and the next block begin; none before its first frame.
    sequences: Option<(u64, u64)>,
    types: u32,
    times: Option<(Timestamp, Timestamp)>,
    ids: Vec<u32>,
}

impl Block {
    const fn new(at: u64) -> Self {
        Self { at, end: at, sequences: None, types: 0, times: None, ids: Vec::new() }
    }

    fn begin_frame(&mut self, sequence: u64) {
        let (first, _) = self.sequences.unwrap_or((sequence, 0));
        self.sequences = Some((first, sequence));
    }

    /// Adds the next change of a frame.
    fn add(&mut self, record: &Record) {
        let (_, next) = self.sequences.as_mut().expect("a frame was begun");
        *next += 1;
        let Some(((partner, subject), Cause { at, operation, .. })) = record.subject().zip(record.cause) else {
            return;
        };
        self.types |= 1 << subject.type_index();
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
        self.ids.extend(ids(partner, &subject, operation).map(hash));
    }

    /// Ends a frame. If the block is complete with it, returns its key and its filter, whose ids are put into `buffer`.
    fn end_frame<'a>(&mut self, end: u64, buffer: &'a mut Vec<u8>) -> Option<([u8; 16], Filter<'a>)> {
        self.end = end;
        let (first, next) = self.sequences.filter(|_| end - self.at >= BLOCK)?;
        self.ids.sort_unstable();
        self.ids.dedup();
        buffer.clear();
        buffer.resize((self.ids.len() * BITS).div_ceil(8), 0);
        let length = buffer.len();
        for (byte, bit) in self.ids.iter().flat_map(|hash| bits(*hash, length)) {
            buffer[byte] |= bit;
        }
        let times = self.times.map(|(first, last)| (first.into(), last.into()));
        Some((key(first, self.at), Filter { end, next, types: self.types, times, ids: buffer }))
    }
}

/// Makes the filters of blocks, as frames are written or read.
pub(super) struct Blocks {
    block: Block,
    /// Where the frame begins that is being added.
    frame: Option<u64>,
    /// Keys and values of filters that are not in the index.
    complete: Vec<([u8; 16], Vec<u8>)>,
}

impl Blocks {
    const fn new(at: u64) -> Self {
        Self { block: Block::new(at), frame: None, complete: Vec::new() }
    }

    /// Adds changes to the frame that begins at a place, with a sequence.
    pub fn add(&mut self, (at, sequence): (u64, u64), changes: &[Record]) {
        if self.frame != Some(at) {
            self.end_frame(at);
            self.frame = Some(at);
            self.block.begin_frame(sequence);
        }
        changes.iter().for_each(|change| self.block.add(change));
    }

    /// Ends the frame, if there is one.
    pub fn end_frame(&mut self, end: u64) {
        if self.frame.take().is_some()
            && let Some((key, filter)) = self.block.end_frame(end, &mut Vec::new())
        {
            let mut value = Vec::new();
            codec::seal(&filter, &mut value).expect("a block has a few thousand ids at the most");
            self.complete.push((key, value));
            self.block = Block::new(end);
        }
    }

    fn read(&mut self, mut frame: Frame<'_>) -> Result<(), CodecError> {
        let (begin, end) = ((frame.at, frame.sequence()), frame.end());
        self.add(begin, &[]);
        while let Some((sequence, entry, _)) = frame.next()? {
            self.block.add(&entry.record(sequence)?);
        }
        self.end_frame(end);
        Ok(())
    }
}

/// The key of the block that begins at a sequence and a place.
fn key(sequence: u64, at: u64) -> [u8; 16] {
    (u128::from(sequence) << 64 | u128::from(at)).to_be_bytes()
}

/// Where the block with a key begins in the log.
pub(super) fn begin_of(key: &[u8]) -> Result<u64, CodecError> {
    key.last_chunk().copied().map(u64::from_be_bytes).ok_or(CodecError::Damaged)
}

impl<I: Index, F: LogIo> Base<I, F> {
    /// Makes the filters of the blocks that are complete and have none; returns the block that the log ends with. If a
    /// part of the log cannot be read, it and what follows it stay without: who searches there is told.
    pub(super) fn make_filters(&self) -> Result<Option<Blocks>, Problem> {
        let last = self.index.all(Table::Filters).next_back().transpose()?;
        let from = last.map_or(Ok(FIRST), |(key, filter)| match unsealed::<Filter<'_>>(&filter) {
            Ok(filter) => Ok(filter.end),
            // It is made again.
            Err(_) => begin_of(key.as_ref()),
        });
        let from = from.map_err(|_| Problem::index("a key of a filter cannot be read"))?;
        let (mut frames, mut blocks) = (self.log.frames(from, self.log.end()), Blocks::new(from));
        loop {
            match frames.next().and_then(|frame| Ok(frame.map(|frame| blocks.read(frame)).transpose()?)) {
                Ok(Some(())) => self.put_filters(&mut blocks)?,
                Ok(None) => return Ok(Some(blocks)),
                Err(ReadError::Damaged) => return Ok(None),
                Err(ReadError::Io(error)) => return Err(error.into()),
            }
        }
    }

    /// Adds the filters that are complete, whose blocks can be read.
    pub(super) fn put_filters(&self, blocks: &mut Blocks) -> Result<(), Problem> {
        blocks.complete.drain(..).try_for_each(|(key, value)| self.index.insert(Table::Filters, &key, &value))
    }

    /// The filters of the blocks from the one on that holds a sequence, if there are any.
    pub(crate) fn filters_from(&self, sequence: u64) -> Result<Items<I::Bytes>, Problem> {
        let before = Bound::Included(key(sequence, u64::MAX));
        let mut before = self.index.range(Table::Filters, Bound::Unbounded, before.as_ref().map(|key| &key[..]));
        let from = before.next_back().transpose()?;
        let from = from.as_ref().map_or(Bound::Unbounded, |(key, _)| Bound::Included(key.as_ref()));
        Ok(self.index.range(Table::Filters, from, Bound::Unbounded))
    }
}

#[cfg(test)]
mod tests;
