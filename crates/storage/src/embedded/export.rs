//! Exports. The log holds every change in order, so an export is the log up to the moment at which it began: one
//! consistent state, which costs the committer nothing. A stopped store is exported without opening it: that writes
//! nothing, so that a store on a full or read-only disk can be exported too.

use super::EmbeddedStore;
use super::health::Health;
use super::log::disk::Directory;
use super::log::{FIRST, LogFile};
use super::mark::Mark;
use super::open::{OpenError, open_error};
use super::read::each_frame;
use super::recovery::{Problem, START, find_end};
use lendpay_domain::HistoryId;
use lendpay_domain::change::Record;
use lendpay_domain::store::{Answer, Export, Exports};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// How many records are read at once: some milliseconds.
const RECORDS: usize = 1_000;

/// An export that is under way. It keeps the log open.
pub struct EmbeddedExport {
    log: Arc<LogFile<File>>,
    health: Arc<Health>,
    history: HistoryId,
    /// Where the next frame of the log is.
    at: u64,
    /// Where the export ends.
    end: u64,
}

impl Exports for EmbeddedStore {
    type Export = EmbeddedExport;

    async fn export(&self) -> Answer<EmbeddedExport> {
        let log = Arc::clone(&self.base().log);
        let end = log.end();
        Ok(EmbeddedExport { log, health: Arc::clone(&self.health), history: self.history()?, at: FIRST, end })
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
            let mark = Mark::read(&disk, &log.head)?;
            let found = find_end(&log, mark.map_or(START, |mark| mark.position))?;
            let (history, end) = (history_at(&log, found.end.end), found.end.end);
            Ok(Self { log, health: Arc::new(Health::new()), history, at: FIRST, end })
        };
        open().map_err(|problem: Problem| open_error(path, problem))
    }

    /// Why it could not go on: where the log is damaged, or what the disk said.
    pub fn problem(&self) -> Option<String> {
        self.health.problem()
    }
}

/// The history that the log is in at a position. Damage before it is left to the export to report.
fn history_at(log: &LogFile<File>, end: u64) -> HistoryId {
    let (mut frames, mut history) = (log.frames(FIRST, end), log.head.history);
    while let Ok(Some(frame)) = frames.next() {
        history = frame.history().unwrap_or(history);
    }
    HistoryId::from_bytes(history)
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
