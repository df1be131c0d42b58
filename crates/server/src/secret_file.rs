//! Files that hold a key.

use crate::printable;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Opens a file that only its owner can read. The group may read a file of root's: service managers hand out secrets in
/// such files, and PostgreSQL has the same rule for its TLS key.
pub fn open(path: &Path) -> Result<File, String> {
    let unreadable = |error| format!("{} cannot be read: {error}", path.display());
    let file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    let forbidden = if about.uid() == 0 { 0o037 } else { 0o077 };
    if about.is_file() && about.mode() & forbidden != 0 {
        return Err(format!(
            "{} holds a key, and other users of this machine can read or write it; run: chmod 600 {}",
            path.display(),
            printable::shell_word(path)
        ));
    }
    Ok(file)
}
