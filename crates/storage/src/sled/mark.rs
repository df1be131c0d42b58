//! A small file beside the database: how far the log had come when the store was last opened or closed.
//!
//! sled takes a database that is cut off, or overwritten with rubbish, for one that ends earlier or was never written to: it
//! opens and holds less. The mark tells. It costs nothing while the store works, so it does not know of what came after the
//! last opening or closing.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

const NAME: &str = "lendpay";
const NEW: &str = "lendpay.new";

/// There while an import runs; see [`super::import`].
const IMPORTING: &str = "importing";

/// Notes that an import begins, whose first sequence is this.
pub(super) fn begin_import(directory: &Path, first: u64) -> io::Result<()> {
    let mut file = File::create(directory.join(NEW))?;
    writeln!(file, "{first}")?;
    file.sync_all()?;
    std::fs::rename(directory.join(NEW), directory.join(IMPORTING))?;
    File::open(directory)?.sync_all()
}

/// Notes that the import is done, or undone.
pub(super) fn end_import(directory: &Path) -> io::Result<()> {
    std::fs::remove_file(directory.join(IMPORTING))?;
    File::open(directory)?.sync_all()
}

/// The first sequence of an import that was not finished.
pub(super) fn unfinished_import(directory: &Path) -> io::Result<Option<u64>> {
    number(&directory.join(IMPORTING))
}

/// The sequence of the next entry when the mark was made; `None` if there is none. What cannot be read is an error.
pub(super) fn read(directory: &Path) -> io::Result<Option<u64>> {
    number(&directory.join(NAME))
}

fn number(path: &Path) -> io::Result<Option<u64>> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map(Some).map_err(|_| io::ErrorKind::InvalidData.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the mark. The old one is there until the new one is durable.
pub(super) fn write(directory: &Path, next: u64) -> io::Result<()> {
    let (name, new) = (directory.join(NAME), directory.join(NEW));
    let mut file = File::create(&new)?;
    writeln!(file, "{next}")?;
    file.sync_all()?;
    std::fs::rename(new, name)?;
    File::open(directory)?.sync_all()
}
