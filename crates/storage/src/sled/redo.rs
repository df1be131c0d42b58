//! Brings the trees up to date from the log when a store is opened.
//!
//! Everything before the mark is in the trees and durable. Of what came later the log has everything that was acknowledged, and
//! perhaps a group that was not, or a part of one; the trees have some of it. So every entry behind the mark is made again:
//! entries say what became of a state, not how it changed, so that making one twice is the same as making it once.
//!
//! A group that a crash has torn ends the log, and is cut off: nobody was told of it, for it was not synced. A frame that cannot
//! be read is such a group only if it lies behind the mark and no later group follows it; else it was durable, and the log is
//! damaged.

use super::entry::Entry;
use super::log::{FIRST, ReadError};
use super::mark::Mark;
use super::prepare::Problem;
use super::trees::{Kind, Trees};
use crate::codec::{self, CodecError};
use crate::records::{OfferHead, OfferState, Place};
use sled::IVec;

/// What was done.
pub(super) struct Redone {
    /// Where the log goes on.
    pub(super) mark: Mark,
    /// How many states had to be mended.
    pub(super) mended: usize,
    /// How much of a torn group was cut off, in bytes.
    pub(super) cut: u64,
}

/// A frame that is whole holds what this program cannot have written.
const UNREADABLE: Problem = Problem::Damaged("the log cannot be read");

/// Makes every entry from a mark on again. What lies before `durable` is known to be no torn group.
pub(super) fn redo(trees: &Trees, from: Mark, durable: u64) -> Result<Redone, Problem> {
    let length = trees.log.length()?;
    let mut redone = Redone { mark: from, mended: 0, cut: 0 };
    let mut scratch = Vec::new();
    let mut frames = trees.log.frames(from.end, length);
    loop {
        let at = frames.at();
        let mut frame = match frames.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(ReadError::Damaged) if at < durable || trees.log.goes_on_behind(at)? => {
                return Err(Problem::Damaged("the log is damaged before its end"));
            }
            Err(ReadError::Damaged) => {
                redone.cut = length - at;
                trees.log.cut(at)?;
                break;
            }
        };
        let (sequence, next) = (frame.sequence(), frame.end());
        if sequence < redone.mark.next {
            return Err(Problem::Damaged("the log is out of order"));
        }
        while let Some((_, entry, place)) = frame.next().map_err(|_| UNREADABLE)? {
            let key = entry.key().map_err(|_| UNREADABLE)?;
            let old = trees.get(&key)?;
            state_after(&entry, place, old.as_deref(), &mut scratch)
                .map_err(|_| Problem::trees("a state that the log changes is damaged or missing"))?;
            if old.as_deref() != Some(&scratch) {
                trees.insert(&key, IVec::from(scratch.as_slice()))?;
                redone.mended += 1;
            }
        }
        trees.note_frame(sequence, at)?;
        redone.mark = Mark { next, end: frames.at() };
    }
    trees.note_reached(redone.mark.end)?;
    trees.log.publish(redone.mark.end);
    Ok(redone)
}

/// Where a log begins.
pub(super) const BEGIN: Mark = Mark { next: 1, end: FIRST };

/// Writes the state that an entry leaves, which may follow from the one before it.
pub(super) fn state_after(
    entry: &Entry<'_>,
    place: Option<Place>,
    old: Option<&[u8]>,
    state: &mut Vec<u8>,
) -> Result<(), CodecError> {
    match (*entry, place) {
        (Entry::OfferMoved { cause, status, .. }, _) => {
            let mut offer: OfferState = codec::unseal(old.ok_or(CodecError::Damaged)?)?;
            offer.head.status = status;
            offer.head.status_changed_at = cause.at();
            codec::seal(&offer, state)
        }
        (Entry::OfferCreated { value, .. }, Some(terms)) => offer_state(value.0, terms, state),
        (Entry::Put { kind, value, .. }, Some(terms)) if kind == Kind::Offers as u8 => {
            offer_state(value.0, terms, state)
        }
        (Entry::BuyerCreated { .. }, Some(place)) => codec::seal(&place, state),
        (Entry::Put { value, .. }, Some(_)) => {
            state.clear();
            state.extend_from_slice(value.0);
            Ok(())
        }
        (Entry::OfferCreated { .. } | Entry::BuyerCreated { .. } | Entry::Put { .. }, None) => Err(CodecError::Damaged),
    }
}

fn offer_state(value: &[u8], terms: Place, state: &mut Vec<u8>) -> Result<(), CodecError> {
    codec::seal(&OfferState { head: OfferHead::of(value)?.0, terms }, state)
}
