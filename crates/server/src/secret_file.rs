//! Files that hold a key, or hashes of keys: whoever can write these adds a key of its own.

use crate::printable;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What is different once a file is another one, or its contents or its mode are others; `None` while there is none.
pub fn version(path: &Path) -> Option<(u64, i64, i64)> {
    std::fs::metadata(path).ok().map(|file| (file.ino(), file.ctime(), file.ctime_nsec()))
}

/// Opens a file that only its owner can read. The group may read a file of root's: service managers hand out secrets in
/// such files, and PostgreSQL has the same rule for its TLS key.
pub fn open(path: &Path) -> Result<File, String> {
    let unreadable = |error| format!("{} cannot be read: {error}", path.display());
    let file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    let forbidden = if about.uid() == 0 { 0o037 } else { 0o077 };
    if about.is_file() && about.mode() & forbidden != 0 {
        return Err(format!(
            "{} holds keys or their hashes, and other users of this machine can read or write it; run: chmod 600 {}",
            path.display(),
            printable::shell_word(path)
        ));
    }
    Ok(file)
}
