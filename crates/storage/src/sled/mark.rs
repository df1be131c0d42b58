//! A small file beside the log: how far the log had come at the last checkpoint, and with it the trees.
//!
//! The end of a log can be missing without a trace, and sled takes a database that is cut off, or overwritten with rubbish, for
//! one that ends earlier or was never written to. The mark tells.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

const NAME: &str = "lendpay";
const NEW: &str = "lendpay.new";

/// There while an import runs; see [`super::import`].
const IMPORTING: &str = "importing";

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The sequence of the next entry.
    pub(super) next: u64,
    /// Where its frame begins. Stores of format 1 have none.
    pub(super) end: u64,
}

/// Notes that an import begins here.
pub(super) fn begin_import(directory: &Path, first: Mark) -> io::Result<()> {
    put(directory, IMPORTING, first)
}

/// Notes that the import is done, or undone.
pub(super) fn end_import(directory: &Path) -> io::Result<()> {
    std::fs::remove_file(directory.join(IMPORTING))?;
    File::open(directory)?.sync_all()
}

/// Where an import began that was not finished.
pub(super) fn unfinished_import(directory: &Path) -> io::Result<Option<Mark>> {
    get(&directory.join(IMPORTING))
}

/// The mark; `None` if there is none. What cannot be read is an error.
pub(super) fn read(directory: &Path) -> io::Result<Option<Mark>> {
    get(&directory.join(NAME))
}

/// Makes the mark. The old one is there until the new one is durable.
pub(super) fn write(directory: &Path, mark: Mark) -> io::Result<()> {
    put(directory, NAME, mark)
}

fn get(path: &Path) -> io::Result<Option<Mark>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next().unwrap_or(Ok(0)), numbers.next()) {
        (Some(Ok(next)), Ok(end), None) => Ok(Some(Mark { next, end })),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn put(directory: &Path, name: &str, Mark { next, end }: Mark) -> io::Result<()> {
    let new = directory.join(NEW);
    let mut file = File::create(&new)?;
    writeln!(file, "{next} {end}")?;
    file.sync_all()?;
    std::fs::rename(new, directory.join(name))?;
    File::open(directory)?.sync_all()
}
