//! The directory of a sandbox: a store, and beside it a file that says what it is and how far its clock is ahead.

use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The file. Where it is, there is a sandbox; `serve` and `import` refuse such a directory.
const MARKER: &str = "sandbox.json";

/// Whether a directory is a sandbox's.
pub fn is_one(directory: &Path) -> bool {
    directory.join(MARKER).exists()
}

/// What the file holds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Whether the store has all its contents. A store that has not, since the process was killed, is made again.
    pub complete: bool,
    /// How far the clock is ahead.
    pub ahead_seconds: u64,
}

/// A directory that is a sandbox's.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// A directory of a sandbox, or one that is new or empty and becomes a sandbox's. Others are refused, and left as
    /// they are.
    pub fn of_sandbox(path: &Path) -> Result<Self, String> {
        let unusable = |error: io::Error| format!("the directory {} cannot be used: {error}", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
        let directory = Self(path.to_owned());
        if is_one(path) {
            return Ok(directory);
        }
        if fs::read_dir(path).map_err(unusable)?.next().is_some() {
            return Err(format!(
                "{} holds something else than a sandbox, such as a real store; choose a new or empty directory",
                path.display()
            ));
        }
        directory.keep(State { complete: false, ahead_seconds: 0 }).map_err(unusable)?;
        Ok(directory)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What the file says.
    pub fn state(&self) -> Result<State, String> {
        let path = self.0.join(MARKER);
        let read = fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        read.map_err(|error| format!("{} cannot be read: {error}; delete the directory", path.display()))
    }

    /// Replaces the file.
    pub fn keep(&self, state: State) -> io::Result<()> {
        let file = NamedTempFile::new_in(&self.0)?;
        serde_json::to_writer(&file, &state)?;
        file.as_file().sync_all()?;
        file.persist(self.0.join(MARKER)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Deletes everything but the file, which says from now on that the store is not complete.
    pub fn clear(&self) -> io::Result<()> {
        self.keep(State { complete: false, ahead_seconds: 0 })?;
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else if entry.file_name() != MARKER {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_directory_becomes_a_sandboxs() {
        let parent = tempfile::tempdir().expect("a directory");
        let path = parent.path().join("new");
        let directory = Directory::of_sandbox(&path).expect("new");
        assert!(is_one(&path) && !directory.state().expect("readable").complete);
        directory.keep(State { complete: true, ahead_seconds: 7 }).expect("kept");
        assert_eq!(Directory::of_sandbox(&path).expect("a sandbox's").state().expect("readable").ahead_seconds, 7);
        fs::write(path.join("log"), "x").expect("written");
        fs::create_dir(path.join("index")).expect("made");
        directory.clear().expect("cleared");
        assert_eq!(fs::read_dir(&path).expect("a directory").count(), 1);
        assert!(!directory.state().expect("readable").complete);

        let problem = Directory::of_sandbox(parent.path()).expect_err("it is not empty");
        assert!(problem.contains("such as a real store"), "{problem}");
        assert_eq!(fs::read_dir(parent.path()).expect("a directory").count(), 1);
    }
}
