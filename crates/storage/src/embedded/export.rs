//! Exports. The log holds every change in order, so an export is the log up to the moment at which it began: one
//! consistent state, which costs the committer nothing. A stopped store is exported without opening it: that writes
//! nothing, so that a store on a full or read-only disk can be exported too.

use super::EmbeddedStore;
use super::health::Health;
use super::log::disk::{Directory, LockedFile};
use super::log::{FIRST, LogFile};
use super::mark::{Mark, Position};
use super::open::{OpenError, open_error};
use super::problem::Problem;
use super::read::each_frame;
use super::recovery::find_end;
use lendpay_domain::HistoryId;
use lendpay_domain::change::Record;
use lendpay_domain::store::{Answer, Export, Exports};
use std::path::Path;
use std::sync::Arc;

/// How many records are read at once: some milliseconds.
const RECORDS: usize = 1_000;

/// An export that is under way. It keeps the log open.
pub struct EmbeddedExport {
    log: Arc<LogFile<LockedFile>>,
    health: Arc<Health>,
    /// Where the next frame of the log is.
    at: u64,
    /// Where the export ends.
    end: u64,
    history: HistoryId,
}

impl Exports for EmbeddedStore {
    type Export = EmbeddedExport;

    async fn export(&self) -> Answer<EmbeddedExport> {
        self.health.working()?;
        let (log, health) = (Arc::clone(&self.base.log), Arc::clone(&self.health));
        Ok(EmbeddedExport { at: FIRST, end: log.end(), history: self.history(), log, health })
    }
}

impl EmbeddedExport {
    /// Exports the store in a directory, which nobody may have open. Writes nothing.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn of_stopped(path: &Path) -> Result<Self, OpenError> {
        let open = || {
            let disk = Directory::existing(path);
            let log = Arc::new(LogFile::open(disk.read_log()?, None)?);
            let durable = Mark::read(&disk, &log.head)?.map_or(log.head.start(), |mark| mark.position);
            let Position { end, history, .. } = find_end(&log, durable)?.end;
            let history = HistoryId::from_bytes(history);
            Ok(Self { log, health: Arc::new(Health::new()), history, at: FIRST, end })
        };
        open().map_err(|problem: Problem| open_error(path, problem))
    }

    /// Why it could not go on: where the log is damaged, or what the disk said.
    pub fn problem(&self) -> Option<String> {
        self.health.problem(&self.log.damage)
    }
}

impl Export for EmbeddedExport {
    fn history(&self) -> HistoryId {
        self.history
    }

    async fn next(&mut self) -> Answer<Vec<Record>> {
        self.health.working()?;
        let mut records = Vec::new();
        let mut frames = self.log.frames(self.at, self.end);
        each_frame(&mut frames, &self.health, |mut frame| {
            while let Some((sequence, entry, _)) = frame.next()? {
                records.push(entry.record(sequence)?);
            }
            Ok(records.len() < RECORDS)
        })?;
        self.at = frames.at();
        Ok(records)
    }
}
