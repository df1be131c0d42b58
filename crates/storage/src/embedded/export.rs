//! Exports. The log holds every change in order, so an export is the log up to the moment at which it began: one
//! consistent state, which costs the committer nothing.

use super::EmbeddedStore;
use super::base::Base;
use super::health::Health;
use super::index::sled::SledIndex;
use super::log::FIRST;
use super::read::each_frame;
use lendpay_domain::HistoryId;
use lendpay_domain::change::Record;
use lendpay_domain::store::{Answer, Export, Exports};
use std::fs::File;
use std::sync::Arc;

/// How many records are read at once: some milliseconds.
const RECORDS: usize = 1_000;

/// An export that is under way. It keeps the files open.
pub struct EmbeddedExport {
    base: Arc<Base<SledIndex, File>>,
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
        let base = Arc::clone(self.base());
        let end = base.log.end();
        Ok(EmbeddedExport { base, health: Arc::clone(&self.health), history: self.history()?, at: FIRST, end })
    }
}

impl Export for EmbeddedExport {
    fn history(&self) -> HistoryId {
        self.history
    }

    async fn next(&mut self) -> Answer<Vec<Record>> {
        self.health.working()?;
        let mut records = Vec::new();
        let mut frames = self.base.log.frames(self.at, self.end);
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
