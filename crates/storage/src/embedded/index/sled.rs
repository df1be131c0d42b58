//! The index in sled 0.34. No other file calls sled.
//!
//! sled reports some damage by panicking: [`crate::embedded::panics`] catches that.

use super::{Index, IndexError, IndexOpener, Item, Table};
use crate::embedded::log::disk::create_private;
use sled::{Db, IVec, Tree};
use std::fs::{File, Permissions};
use std::io;
use std::ops::Bound;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// sled moves a page of more than a quarter of a segment to a file of its own, which it never syncs. Values here are
/// short: no page comes near that.
const SEGMENT: usize = 8 * 1024 * 1024;

/// Where the index is and how much memory it may take.
pub(crate) struct SledOpener {
    pub(crate) path: PathBuf,
    /// In bytes, for everything that it holds.
    pub(crate) cache: u64,
}

/// An open index.
pub(crate) struct SledIndex {
    trees: [Tree; Table::ALL.len()],
    /// Dropped after the trees.
    db: Db,
    file: File,
    path: PathBuf,
}

impl From<sled::Error> for IndexError {
    fn from(error: sled::Error) -> Self {
        match error {
            // sled has no error kind for this.
            sled::Error::Io(error) if error.to_string().starts_with("could not acquire lock") => Self::InUse,
            sled::Error::Io(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                    Self::Damaged("a file is cut off or missing".to_owned())
                }
                // sled keeps an error to repeat it; its copy has the debug text of the first in place of a code.
                kind if error.raw_os_error().is_none() => Self::Disk(kind.into()),
                _ => Self::Disk(error),
            },
            sled::Error::Corruption { .. } => Self::Damaged("a page is not what was written".to_owned()),
            sled::Error::Unsupported(_) => Self::Damaged("it was not written by this program".to_owned()),
            sled::Error::CollectionNotFound(_) | sled::Error::ReportableBug(_) => {
                Self::Damaged("it is inconsistent".to_owned())
            }
        }
    }
}

impl IndexOpener for SledOpener {
    type Index = SledIndex;

    fn open(&self) -> Result<SledIndex, IndexError> {
        create_private(&self.path)?;
        let db = sled::Config::new()
            .path(&self.path)
            // Records are short, so that its pages take more than three times their bytes in memory; and its table of
            // pages grows with the data: see README.md.
            .cache_capacity(self.cache / 8 * 5)
            .segment_size(SEGMENT)
            .flush_every_ms(Some(500))
            .open()?;
        let mut trees = Vec::with_capacity(Table::ALL.len());
        for table in Table::ALL {
            trees.push(db.open_tree(table.name())?);
        }
        let trees = trees.try_into().expect("a tree for each table");
        let file = File::options().read(true).write(true).open(self.path.join("db"))?;
        // sled creates them for everybody that the umask lets in.
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            let mode = if entry.file_type()?.is_dir() { 0o700 } else { 0o600 };
            std::fs::set_permissions(entry.path(), Permissions::from_mode(mode))?;
        }
        Ok(SledIndex { trees, db, file, path: self.path.clone() })
    }

    fn delete(&self) -> io::Result<()> {
        // What was opened before must not write to the one that comes next.
        wait_for_release(&self.path);
        match std::fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl SledIndex {
    fn tree(&self, table: Table) -> &Tree {
        &self.trees[table as usize]
    }

    /// Closes the index, and returns when it can be opened again.
    pub(crate) fn close(self) {
        let path = self.path.clone();
        drop(self);
        wait_for_release(&path);
    }
}

/// Waits until an index that was dropped can be opened again: sled's own threads may hold its lock for a moment.
fn wait_for_release(path: &Path) {
    let Ok(file) = File::open(path.join("db")) else { return };
    // A second at most: another process may be first, and then the index was free.
    for _ in 0..1_000 {
        if file.try_lock().is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Index for SledIndex {
    type Bytes = IVec;

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<IVec>, IndexError> {
        Ok(self.tree(table).get(key)?)
    }

    fn insert(&self, table: Table, key: &[u8], value: &[u8]) -> Result<(), IndexError> {
        self.tree(table).insert(key, value)?;
        Ok(())
    }

    fn range(
        &self,
        table: Table,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> Box<dyn DoubleEndedIterator<Item = Item<IVec>> + Send> {
        let owned = |bound: Bound<&[u8]>| bound.map(IVec::from);
        let items = self.tree(table).range::<IVec, _>((owned(from), owned(to)));
        Box::new(items.map(|item| item.map_err(IndexError::from)))
    }

    fn flush(&self) -> Result<(), IndexError> {
        self.db.flush()?;
        Ok(())
    }

    fn sync(&self) -> Result<(), IndexError> {
        self.flush()?;
        // sled's own sync is `sync_file_range`, which does not make anything durable.
        self.file.sync_all()?;
        for name in ["conf", "."] {
            File::open(self.path.join(name))?.sync_all()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_in_words() {
        let first = sled::Error::Io(io::Error::from_raw_os_error(28));
        for error in [first.clone(), first] {
            let text = IndexError::from(error).to_string();
            assert!(text.contains("space") && !text.contains("Os {"), "{text}");
        }
    }
}
