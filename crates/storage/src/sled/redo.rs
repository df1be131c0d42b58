//! Makes the end of the log good when a store is opened.
//!
//! A group is written as its log, then its states, then one sync. What a crash in between leaves is a prefix of that: all
//! trees share the one log of the database, whose recovery stops at the first hole. So
//!
//! - every group before the last one in the log is whole, because the next one begins after the sync;
//! - of the last group there may be some values of the log and no states, or all values and some states; never a state
//!   without its entry.
//!
//! Making every entry of the last group again therefore rolls it forward; nobody was told of it, and it is whole. Entries
//! say what became of a state, not how it changed, so that making one twice is the same as making it once. Going back further
//! than the last group does no harm and costs little; it is done for the sake of a disk that kept less than it said.

use super::log::{Entry, LogReader};
use super::trees::{StateKey, Trees};
use crate::codec::CodecError;
use crate::records::OfferHead;
use sled::IVec;
use std::collections::HashMap;

/// How many values of the log are made again at least.
const VALUES: usize = 64;

/// Why the end of the log could not be made good.
pub(super) enum RedoError {
    Sled(sled::Error),
    /// A value, or the state that an entry changes, is damaged or missing.
    Damaged,
}

impl From<sled::Error> for RedoError {
    fn from(error: sled::Error) -> Self {
        Self::Sled(error)
    }
}

impl From<CodecError> for RedoError {
    fn from(_: CodecError) -> Self {
        Self::Damaged
    }
}

/// What was done.
pub(super) struct Redone {
    /// The sequence of the next entry.
    pub(super) next: u64,
    /// How many states had to be mended.
    pub(super) mended: usize,
}

pub(super) fn redo(trees: &Trees) -> Result<Redone, RedoError> {
    let values = last_values(trees)?;
    let mut states: HashMap<StateKey, IVec> = HashMap::new();
    let mut scratch = Vec::new();
    let mut next = None;
    for (key, value) in values.iter().rev() {
        let mut reader = LogReader::new(key, value)?;
        let end = reader.end();
        let begin = u64::from_be_bytes(key.as_ref().try_into().map_err(|_| RedoError::Damaged)?);
        if let Some(next) = next
            && next != begin
            && !trees.is_gap(next, begin)?
        {
            return Err(RedoError::Damaged);
        }
        while let Some((_, entry)) = reader.next()? {
            let key = entry.key()?;
            let old = || match states.get(&key) {
                Some(value) => Ok(Some(value.clone())),
                None => Ok(trees.get(&key)?),
            };
            let state = state_after(&entry, old, &mut scratch)?;
            states.insert(key, state);
        }
        next = Some(end);
    }
    let mut mended = 0;
    for (key, state) in states {
        if trees.get(&key)?.as_ref() != Some(&state) {
            trees.insert(&key, state)?;
            mended += 1;
        }
    }
    Ok(Redone { next: next.unwrap_or(1), mended })
}

/// The state that an entry leaves, which may follow from the one before it.
pub(super) fn state_after(
    entry: &Entry<'_>,
    old: impl FnOnce() -> Result<Option<IVec>, RedoError>,
    scratch: &mut Vec<u8>,
) -> Result<IVec, RedoError> {
    Ok(match *entry {
        Entry::OfferMoved { cause, status, .. } => {
            let old = old()?.ok_or(RedoError::Damaged)?;
            let (mut head, tail) = OfferHead::of(&old)?;
            head.status = status;
            head.status_changed_at = cause.at();
            head.seal(tail, scratch)?;
            IVec::from(scratch.as_slice())
        }
        Entry::OfferCreated { value, .. } | Entry::BuyerCreated { value, .. } | Entry::Put { value, .. } => {
            IVec::from(value.0)
        }
    })
}

/// The last values of the log, the newest first: at least the whole last group.
fn last_values(trees: &Trees) -> Result<Vec<(IVec, IVec)>, RedoError> {
    let mut values = Vec::new();
    let mut wanted = VALUES;
    for item in trees.log.iter().rev() {
        let (key, value) = item?;
        if values.is_empty() {
            wanted = wanted.max(LogReader::new(&key, &value)?.part as usize + 1);
        }
        values.push((key, value));
        if values.len() == wanted {
            break;
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Bytes;
    use crate::sled::log::GroupLog;
    use crate::sled::trees::Kind;
    use lendpay_domain::BuyerId;

    fn trees() -> Trees {
        let db = ::sled::Config::new().temporary(true).open().expect("opens");
        Trees::open(db).expect("opens")
    }

    /// A group of `count` commands that need a value of the log each.
    fn group(first: u64, count: u8) -> Vec<(u64, Vec<u8>)> {
        let mut log = GroupLog::new(first);
        let long = [7; 9_000];
        for n in 0..count {
            let key = StateKey::buyer(BuyerId::from_bytes([n; 16]));
            log.push(&Entry::Put { kind: Kind::Buyers as u8, key: Bytes(key.bytes()), value: Bytes(&long) })
                .expect("fits");
            log.end_command().expect("fits");
        }
        log.end_group().expect("fits").to_vec()
    }

    fn insert(trees: &Trees, values: &[(u64, Vec<u8>)]) {
        for (sequence, value) in values {
            trees.log.insert(sequence.to_be_bytes(), value.as_slice()).expect("works");
        }
    }

    #[test]
    fn a_group_of_any_length_is_redone_as_far_as_its_log_goes() {
        for kept in [1, 63, 64, 65, 200, 255] {
            let trees = trees();
            insert(&trees, &group(1, 255)[..kept]);
            let redone = redo(&trees).unwrap_or_else(|_| panic!("{kept}"));
            assert_eq!((redone.next, redone.mended), (kept as u64 + 1, kept));
            assert_eq!(trees.tree(Kind::Buyers).len(), kept);
            let again = redo(&trees).unwrap_or_else(|_| panic!("{kept}"));
            assert_eq!((again.next, again.mended), (kept as u64 + 1, 0));
        }
    }

    #[test]
    fn an_empty_log_begins_at_one() {
        assert!(redo(&trees()).is_ok_and(|redone| redone.next == 1 && redone.mended == 0));
    }

    #[test]
    fn a_hole_or_damage_in_the_log_is_found() {
        let trees = trees();
        let mut values = group(1, 3);
        values.remove(1);
        insert(&trees, &values);
        assert!(matches!(redo(&trees), Err(RedoError::Damaged)));
        values[1].1[100] ^= 1;
        trees.log.clear().expect("works");
        insert(&trees, &values[1..]);
        assert!(matches!(redo(&trees), Err(RedoError::Damaged)));
    }
}
