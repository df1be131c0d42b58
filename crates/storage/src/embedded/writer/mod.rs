//! The writer: decides groups of commands, writes them to the log, syncs, and applies them to the index, one after the
//! other.
//!
//! It is a state machine without threads or clock: [`committer`] drives it in production, the simulation in tests.
//!
//! The index is changed after the sync, so that nobody reads what a crash could take back. It is not synced: what a
//! crash takes from it is in the log.

pub(crate) mod checkpoint;
pub(crate) mod committer;
pub(crate) mod watchdog;

use super::base::{Base, Overlay};
use super::index::{Index, IndexError};
use super::log::disk::LogIo;
use super::log::frame::{GroupLog, Kind};
use super::mark::Position;
use crate::codec::CodecError;
use crate::job::Work;
use lendpay_domain::change::Record;
use lendpay_domain::event::EventCounts;
use lendpay_domain::store::StoreError;
use lendpay_domain::view::ViewError;
use std::io;
use std::sync::Arc;

/// An error that ends the store. Never quotes what is stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("a write to or read from the disk failed: {0}")]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("a look-up failed")]
    View,
}

/// Decides and commits groups.
pub(crate) struct Writer<I: Index, F: LogIo> {
    base: Arc<Base<I, F>>,
    overlay: Overlay<I, F>,
    group: GroupLog,
}

impl<I: Index, F: LogIo> Writer<I, F> {
    /// A writer that continues at a position.
    pub(crate) fn new(base: Arc<Base<I, F>>, kind: Kind, position: Position) -> Self {
        let group = GroupLog::new(base.log.head.salt, kind, position.next, position.end);
        Self { overlay: Overlay::new(Arc::clone(&base)), base, group }
    }

    /// Where the log continues after the last group.
    pub(crate) const fn position(&self) -> Position {
        Position { next: self.group.next(), end: self.group.begin() }
    }

    /// What is stored, with the changes of the group on top.
    pub(crate) const fn view(&self) -> &Overlay<I, F> {
        &self.overlay
    }

    /// Decides one command and adds its changes to the group.
    pub(crate) fn decide(&mut self, work: &mut dyn Work<Overlay<I, F>>) -> Result<(), Fault> {
        let changes = work.decide(&self.overlay).map_err(|_| Fault::View)?;
        if let Err(error) = self.push(&changes)? {
            tracing::error!(%error, "a command cannot be written");
            work.fail(StoreError::Unavailable);
        }
        Ok(())
    }

    /// Adds changes to the group: all are kept, or none.
    pub(crate) fn push(&mut self, changes: &[Record]) -> Result<Result<(), CodecError>, Fault> {
        if changes.is_empty() {
            return Ok(Ok(()));
        }
        let places = match self.group.push(changes) {
            Ok(places) => places,
            Err(error) => return Ok(Err(error)),
        };
        for (record, place) in changes.iter().zip(places) {
            match self.overlay.apply(&record.change, |_| place, |_| place) {
                Ok(()) => {}
                Err(ViewError::Corrupt | ViewError::Failed) => return Err(Fault::View),
            }
        }
        Ok(Ok(()))
    }

    /// Leaves out the sequences before `sequence`.
    pub(crate) fn skip_to(&mut self, sequence: u64) {
        self.group.skip_to(sequence);
    }

    /// Adds the start of a new history to the group, which also ends an import.
    pub(crate) fn begin_history(&mut self, history: [u8; 16]) {
        self.group.begin_history(history);
    }

    /// Writes the group to the log. Returns whether there was anything to write.
    pub(crate) fn write(&mut self) -> Result<bool, Fault> {
        let begin = self.group.begin();
        let bytes = self.group.end_group();
        if bytes.is_empty() {
            return Ok(false);
        }
        self.base.log.file.write_at(bytes, begin)?;
        Ok(true)
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        Ok(self.base.log.file.sync()?)
    }

    /// Applies the group that is durable to the index, and lets everybody read it. Returns its events by type.
    pub(crate) fn publish(&mut self) -> Result<EventCounts, Fault> {
        let begin = self.group.begin();
        self.base.note_frame(self.group.first(), begin)?;
        self.base.apply(&mut self.overlay.tables)?;
        let events = self.group.clear();
        let end = self.group.begin();
        self.base.note_reached(end)?;
        self.base.log.publish(self.position());
        Ok(events)
    }
}
