//! The files that the store writes itself: the log and the mark. The store uses a disk through these traits only, so
//! that tests can use a simulated disk.

use rustix::fs::{FsWord, fstat, fstatfs};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A file that is written at its end and read anywhere.
pub(crate) trait LogIo: Send + Sync + 'static {
    /// Fills `buffer` from a position.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()>;
    /// Writes all of `bytes` at a position.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// The length of the file.
    fn length(&self) -> io::Result<u64>;
    /// Cuts the file off. Durable after [`Self::sync`].
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Makes everything that was written durable. After an error nothing is known of what was written since the last
    /// sync.
    fn sync(&self) -> io::Result<()>;
}

/// Identifies a boot of the machine, and the files of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Identity {
    /// The boot of the machine.
    pub boot: Uuid,
    /// Device and inode of the log.
    pub log: (u64, u64),
    /// Device and inode of the index.
    pub index: (u64, u64),
}

/// The directory of a store.
pub(crate) trait Disk: Send + Sync + 'static {
    /// The log.
    type Log: LogIo;

    /// Opens the log, which is created if it is absent, and locks it.
    fn open_log(&self) -> io::Result<Self::Log>;
    /// What the mark holds; `None` if there is none.
    fn mark(&self) -> io::Result<Option<Vec<u8>>>;
    /// Replaces the mark, durably: after a crash the old one or the new one is there.
    fn put_mark(&self, mark: &[u8]) -> io::Result<()>;
    /// Removes the mark, durably.
    fn remove_mark(&self) -> io::Result<()>;
    /// The present boot and files; `None` if they are unknown, or the file system is neither ext4 nor xfs.
    fn identity(&self, log: &Self::Log) -> Option<Identity>;
}

/// The name of the log in the directory.
pub(crate) const LOG: &str = "log";
/// The name of the index in the directory.
pub(crate) const INDEX: &str = "index";
const MARK: &str = "mark";

/// A real directory, for its owner only.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Creates the directory if it is absent.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        create_private(path)?;
        Ok(Self(path.into()))
    }

    /// A directory that should be there.
    pub(crate) fn existing(path: &Path) -> Self {
        Self(path.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Opens the log for reading, which writes nothing. Other readers may have it open, nobody else.
    pub(crate) fn read_log(&self) -> io::Result<LockedFile> {
        LockedFile::new(File::open(self.join(LOG))?, File::try_lock_shared)
    }

    /// What a file holds; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        or_absent(std::fs::read(self.join(name)))
    }

    /// Replaces a file, durably: after a crash the old one or the new one is there.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.join(&format!("{name}.new"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(new, self.join(name))?;
        sync_directory(&self.0)
    }

    /// Makes the names of the files durable, that of the directory included.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        sync_directory(&self.0)?;
        match self.0.parent() {
            // The parent of a relative path of one part is the empty path.
            Some(parent) if parent.as_os_str().is_empty() => sync_directory(Path::new(".")),
            Some(parent) => sync_directory(parent),
            None => Ok(()),
        }
    }
}

/// Creates a directory that only its owner can read.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a directory with what is in it; it may be absent.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    or_absent(std::fs::remove_dir_all(path)).map(drop)
}

/// What is absent is `None`.
pub(crate) fn or_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A file with a lock. Dropping it unlocks the file at once; closing it would not while a process that is being started
/// has a copy.
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// `WouldBlock` if another process has the file.
    fn new(file: File, lock: impl FnOnce(&File) -> Result<(), TryLockError>) -> io::Result<Self> {
        match lock(&file) {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file, which comes next, does the same if this fails.
        drop(self.0.unlock());
    }
}

impl Disk for Directory {
    type Log = LockedFile;

    fn open_log(&self) -> io::Result<LockedFile> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(self.join(LOG))?;
        LockedFile::new(file, File::try_lock)
    }

    fn mark(&self) -> io::Result<Option<Vec<u8>>> {
        self.read(MARK)
    }

    fn put_mark(&self, mark: &[u8]) -> io::Result<()> {
        self.replace(MARK, mark)
    }

    fn remove_mark(&self) -> io::Result<()> {
        or_absent(std::fs::remove_file(self.join(MARK)))?;
        sync_directory(&self.0)
    }

    fn identity(&self, log: &LockedFile) -> Option<Identity> {
        /// From linux/magic.h: ext4 and xfs.
        const KNOWN: [FsWord; 2] = [0xEF53, 0x5846_5342];
        let known = fstatfs(&log.0).is_ok_and(|stat| KNOWN.contains(&stat.f_type));
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let index = File::open(self.join(INDEX).join("db")).ok()?;
        let (log, index) = (fstat(&log.0).ok()?, fstat(&index).ok()?);
        known.then_some(Identity {
            boot: boot.trim().parse().ok()?,
            log: (log.st_dev, log.st_ino),
            index: (index.st_dev, index.st_ino),
        })
    }
}

impl LogIo for LockedFile {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
