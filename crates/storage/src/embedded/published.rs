//! The log as others may copy it: up to its published end. And a small file beside it that says which copies were made
//! last, since neither log nor index holds that.

use super::health::Health;
use super::log::disk::{Directory, LockedFile, LogIo as _};
use super::log::{CHUNK, LogFile};
use crate::codec::{self, CodecError};
use crate::records::{Time, times};
use lendpay_domain::Timestamp;
use lendpay_domain::log::{CopyKind, Log};
use lendpay_domain::store::{Answer, StoreError};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the file in the directory.
const COPIES: &str = "copies";

/// What that file holds.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Copies {
    /// The salt of the log that was copied.
    salt: u64,
    /// Everything that was acknowledged before is in a copy.
    backup: Option<Time>,
    export: Option<Time>,
}

/// The log of a store, for backups. It keeps the log open.
pub(super) struct PublishedLog {
    log: Arc<LogFile<LockedFile>>,
    health: Arc<Health>,
    disk: Directory,
    copies: Mutex<Copies>,
}

impl PublishedLog {
    pub(super) fn open(log: &Arc<LogFile<LockedFile>>, health: &Arc<Health>, directory: &Path) -> io::Result<Self> {
        let (log, health, disk) = (Arc::clone(log), Arc::clone(health), Directory::existing(directory));
        let none = Copies { salt: log.head.salt, backup: None, export: None };
        let copies = match disk.read(COPIES)? {
            None => none,
            Some(bytes) => read(&bytes).ok().filter(|read| read.salt == none.salt).unwrap_or_else(|| {
                tracing::warn!("the file {COPIES} is damaged or belongs to another log; it is ignored");
                none
            }),
        };
        Ok(Self { log, health, disk, copies: Mutex::new(copies) })
    }

    pub(super) fn directory(&self) -> &Path {
        self.disk.path()
    }

    fn copies(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(bytes: &[u8]) -> Result<Copies, CodecError> {
    let copies: Copies = codec::unseal(bytes)?;
    times(copies.backup).and(times(copies.export)).map(|_| copies)
}

impl Log for PublishedLog {
    fn end(&self) -> u64 {
        self.log.end()
    }

    fn read(&self, from: u64, to: u64) -> Answer<Vec<u8>> {
        self.health.working()?;
        let length = usize::try_from(to.saturating_sub(from)).unwrap_or(CHUNK).min(CHUNK);
        let mut bytes = vec![0; length];
        self.log.file.read_at(&mut bytes, from).map_err(|error| {
            tracing::error!(%error, from, "the log cannot be read");
            StoreError::Unavailable
        })?;
        Ok(bytes)
    }

    fn note_copy(&self, kind: CopyKind, as_of: Timestamp) -> Answer<()> {
        let mut copies = self.copies();
        let mut noted = *copies;
        match kind {
            CopyKind::Backup => noted.backup = Some(as_of.into()),
            CopyKind::Export => noted.export = Some(as_of.into()),
        }
        let mut bytes = Vec::new();
        codec::seal(&noted, &mut bytes).expect("a few numbers are short");
        self.disk.replace(COPIES, &bytes).map_err(|error| {
            tracing::error!(%error, "that a copy was made cannot be written to the file {COPIES}");
            StoreError::Unavailable
        })?;
        *copies = noted;
        Ok(())
    }

    fn last_copy(&self, kind: CopyKind) -> Option<Timestamp> {
        let copies = self.copies();
        let time = match kind {
            CopyKind::Backup => copies.backup,
            CopyKind::Export => copies.export,
        };
        times(time).expect("what is kept was checked when it was read")
    }
}
