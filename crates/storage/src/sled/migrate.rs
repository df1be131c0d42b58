//! Stores of format 1, which kept the log in a tree of the database, and whole values in the other trees.
//!
//! The log is written anew as a file, with the sequences that it had, and the trees are emptied: opening goes on as if they had
//! been lost, and makes them from the log. Until all of that is durable the store has format 1, so that a migration that is cut
//! off begins again.

use super::entry::Entry;
use super::frame::GroupLog;
use super::log::FIRST;
use super::mark;
use super::open::sync_all;
use super::prepare::Problem;
use super::redo::BEGIN;
use super::trees::{Kind, Trees};
use crate::codec::{self, CodecError};
use serde::Deserialize;
use std::io;
use std::path::Path;

/// The format that is migrated.
pub(super) const FROM: u32 = 1;

/// The tree of the log.
const LOG: &str = "log";

/// How much of the new log is written at once.
const GROUP: usize = 4 * 1024 * 1024;

/// What a value of the old log begins with.
#[derive(Deserialize)]
struct Head {
    _part: u32,
    count: u32,
}

/// The old log is not what was written.
const DAMAGED: Problem = Problem::Damaged("the end of its log is missing or cannot be read");

/// Writes the log as a file and empties the trees.
pub(super) fn begin(trees: &Trees, directory: &Path) -> Result<(), Problem> {
    let old = trees.db.open_tree(LOG)?;
    if let Some(first) = mark::unfinished_import(directory)? {
        for key in old.range(first.next.to_be_bytes()..).keys() {
            old.remove(key?)?;
        }
        trees.db.flush()?;
        mark::end_import(directory)?;
    }
    trees.log.cut(FIRST)?;
    let mut log = GroupLog::new(BEGIN.next, BEGIN.end);
    for item in &old {
        let (key, value) = item?;
        copy(&key, &value, &mut log).map_err(|_| DAMAGED)?;
        if log.end_group().len() > GROUP {
            write(trees, &mut log)?;
        }
    }
    write(trees, &mut log)?;
    if mark::read(directory)?.is_some_and(|marked| log.following() < marked.next) {
        return Err(DAMAGED);
    }
    trees.log.sync()?;
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Uses) {
        trees.tree(kind).clear()?;
    }
    Ok(())
}

/// Copies the entries of a value of the old log.
fn copy(key: &[u8], value: &[u8], log: &mut GroupLog) -> Result<(), CodecError> {
    log.skip_to(u64::from_be_bytes(key.try_into().map_err(|_| CodecError::Damaged)?));
    let (Head { count, .. }, mut entries) = codec::take(codec::open(value)?)?;
    for _ in 0..count {
        let (entry, rest): (Entry<'_>, _) = codec::take(entries)?;
        log.push(&entry)?;
        log.end_command();
        entries = rest;
    }
    Ok(())
}

fn write(trees: &Trees, log: &mut GroupLog) -> io::Result<()> {
    let begin = log.begin();
    trees.log.write(begin, log.end_group())?;
    log.clear();
    Ok(())
}

/// Removes the old log, if there is one, from a store that has the new format.
pub(super) fn end(trees: &Trees, directory: &Path) -> Result<(), Problem> {
    if trees.db.tree_names().iter().any(|name| name == LOG.as_bytes()) {
        sync_all(directory)?;
        trees.db.drop_tree(LOG)?;
    }
    Ok(())
}
