//! The mark: a small file beside the log that says up to where the log was durable, and whether the index can be
//! trusted.
//!
//! Without it, nothing would show that the end of a log is missing, or that an index is older than its log. A mark that
//! is damaged, or belongs to another log, counts as no mark.

use super::log::Head;
use super::log::disk::{Disk, Identity};
use crate::codec;
use serde::{Deserialize, Serialize};
use std::io;

/// A position in the log between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The sequence of the next change.
    pub next: u64,
    /// Where its frame will begin.
    pub end: u64,
    /// The history that it belongs to.
    pub history: [u8; 16],
}

/// In which state the store was when the mark was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    /// It was closed: the index is durable and up to date.
    Clean,
    /// It was open. On the boot that is named, the operating system has the index up to the position at least. Without
    /// a name the index cannot be trusted.
    Open(Option<Identity>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The salt of the log that the mark belongs to.
    salt: u64,
    pub position: Position,
    pub state: State,
}

impl Mark {
    /// The mark of a log; `None` if there is none that can be trusted.
    pub(crate) fn read(disk: &impl Disk, head: &Head) -> io::Result<Option<Self>> {
        let Some(bytes) = disk.mark()? else { return Ok(None) };
        let mark = codec::unseal::<Self>(&bytes).ok().filter(|mark| mark.salt == head.salt);
        if mark.is_none() {
            tracing::warn!("the mark is damaged or belongs to another log; it is ignored");
        }
        Ok(mark)
    }

    /// Replaces the mark, durably.
    pub(crate) fn write(disk: &impl Disk, head: &Head, position: Position, state: State) -> io::Result<()> {
        let mut bytes = Vec::new();
        codec::seal(&Self { salt: head.salt, position, state }, &mut bytes).expect("a mark is short");
        disk.put_mark(&bytes)
    }
}
