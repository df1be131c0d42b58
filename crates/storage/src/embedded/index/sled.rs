//! The index in sled 0.34. No other file calls sled.
//!
//! sled reports some damage by panicking: [`crate::embedded::panics`] catches that.

use super::{Index, IndexOpener, Items, Table};
use crate::embedded::log::disk::{create_private, remove_all};
use crate::embedded::problem::Problem;
use sled::{Db, IVec, Tree};
use std::fs::{File, Permissions};
use std::io;
use std::ops::Bound;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
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
    /// Dropped last.
    path: Released,
}

/// The path of an index. Dropping it waits until the index, which was dropped before, can be opened again: sled's own
/// threads may hold its lock for a moment.
struct Released(PathBuf);

impl Drop for Released {
    fn drop(&mut self) {
        let Ok(file) = File::open(self.0.join("db")) else { return };
        // A second at most: another process may be first, and then the index was free.
        for _ in 0..1_000 {
            if file.try_lock().is_ok() {
                // Not by closing it: a process that is being started may have a copy.
                drop(file.unlock());
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl From<sled::Error> for Problem {
    fn from(error: sled::Error) -> Self {
        Self::index(match error {
            // sled has no error kind for this.
            sled::Error::Io(error) if error.to_string().starts_with("could not acquire lock") => return Self::InUse,
            sled::Error::Io(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                    "a file is cut off or missing"
                }
                // sled keeps an error to repeat it; its copy has the debug text of the first in place of a code.
                kind if error.raw_os_error().is_none() => return Self::Disk(kind.into()),
                _ => return Self::Disk(error),
            },
            sled::Error::Corruption { .. } => "a page is not what was written",
            sled::Error::Unsupported(_) => "it was not written by this program",
            sled::Error::CollectionNotFound(_) | sled::Error::ReportableBug(_) => "it is inconsistent",
        })
    }
}

impl IndexOpener for SledOpener {
    type Index = SledIndex;

    fn exists(&self) -> bool {
        self.path.join("db").exists()
    }

    fn open(&self) -> Result<SledIndex, Problem> {
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
        for (_, name) in Table::ALL {
            trees.push(db.open_tree(name)?);
        }
        let trees = trees.try_into().expect("a tree for each table");
        let file = File::options().read(true).write(true).open(self.path.join("db"))?;
        // sled creates them for everybody that the umask lets in.
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            let mode = if entry.file_type()?.is_dir() { 0o700 } else { 0o600 };
            std::fs::set_permissions(entry.path(), Permissions::from_mode(mode))?;
        }
        Ok(SledIndex { trees, db, file, path: Released(self.path.clone()) })
    }

    fn delete(&self) -> Result<(), Problem> {
        // What was opened in part before must not write to the one that comes next.
        drop(Released(self.path.clone()));
        Ok(remove_all(&self.path)?)
    }
}

impl SledIndex {
    fn tree(&self, table: Table) -> &Tree {
        &self.trees[table as usize]
    }
}

impl Index for SledIndex {
    type Bytes = IVec;

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<IVec>, Problem> {
        Ok(self.tree(table).get(key)?)
    }

    fn insert(&self, table: Table, key: &[u8], value: &[u8]) -> Result<(), Problem> {
        self.tree(table).insert(key, value)?;
        Ok(())
    }

    fn remove(&self, table: Table, key: &[u8]) -> Result<(), Problem> {
        self.tree(table).remove(key)?;
        Ok(())
    }

    fn range(&self, table: Table, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Items<IVec> {
        let owned = |bound: Bound<&[u8]>| bound.map(IVec::from);
        let items = self.tree(table).range::<IVec, _>((owned(from), owned(to)));
        Box::new(items.map(|item| item.map_err(Problem::from)))
    }

    fn flush(&self) -> Result<(), Problem> {
        self.db.flush()?;
        Ok(())
    }

    fn sync(&self) -> Result<(), Problem> {
        self.flush()?;
        // sled's own sync is `sync_file_range`, which does not make anything durable.
        self.file.sync_all()?;
        for name in ["conf", "."] {
            File::open(self.path.0.join(name))?.sync_all()?;
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
            let text = Problem::from(error).to_string();
            assert!(text.contains("space") && !text.contains("Os {"), "{text}");
        }
    }
}
