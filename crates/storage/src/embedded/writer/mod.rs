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
use super::filters::Blocks;
use super::index::{BuyerValue, Index};
use super::log::disk::LogIo;
use super::log::frame::{GroupLog, Kind};
use super::mark::Position;
use super::panics;
use super::problem::Problem;
use crate::codec::CodecError;
use crate::job::Work;
use lendpay_domain::change::Record;
use lendpay_domain::event::EventCounts;
use lendpay_domain::store::StoreError;
use lendpay_domain::view::Remembered;
use std::sync::Arc;

/// Decides and commits groups. An error of its methods ends the store.
pub(crate) struct Writer<I: Index, F: LogIo> {
    base: Arc<Base<I, F>>,
    /// What is stored, with the changes of the group on top.
    pub(crate) view: Overlay<I, F>,
    pub(crate) group: GroupLog,
    /// The block that the log ends with; `None` if the log is damaged there.
    blocks: Option<Blocks>,
}

impl<I: Index, F: LogIo> Writer<I, F> {
    /// A writer that continues at a position.
    pub(crate) fn new(base: Arc<Base<I, F>>, kind: Kind, position: Position) -> Result<Self, Problem> {
        let group = GroupLog::new(base.log.head.salt, kind, position);
        let blocks = panics::caught(|| base.make_filters())?;
        Ok(Self { view: Overlay::new(Remembered::new(Arc::clone(&base))), base, group, blocks })
    }

    /// Where the log continues after the last group.
    pub(crate) const fn position(&self) -> Position {
        self.group.position()
    }

    /// Decides one command and adds its changes to the group.
    pub(crate) fn decide(&mut self, work: &mut dyn Work<Overlay<I, F>>) -> Result<(), Problem> {
        let changes = work.decide(&self.view).map_err(|_| Problem::look_up())?;
        if let Err(error) = self.push(&changes)? {
            tracing::error!(%error, "a command cannot be written");
            work.fail(StoreError::Unavailable);
        }
        Ok(())
    }

    /// Adds changes to the group: all are kept, or none.
    pub(crate) fn push(&mut self, changes: &[Record]) -> Result<Result<(), CodecError>, Problem> {
        if changes.is_empty() {
            return Ok(Ok(()));
        }
        let places = match self.group.push(changes) {
            Ok(places) => places,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(blocks) = &mut self.blocks {
            blocks.add(self.group.frame(), changes);
        }
        for (record, place) in changes.iter().zip(places) {
            self.view
                .apply(&record.change, |_| place, |buyer| BuyerValue::of(place, buyer))
                .map_err(|_| Problem::look_up())?;
        }
        Ok(Ok(()))
    }

    /// Writes the group to the log. Returns whether there was anything to write.
    pub(crate) fn write(&mut self) -> Result<bool, Problem> {
        let begin = self.position().end;
        let bytes = self.group.end_group();
        if !bytes.is_empty() {
            self.base.log.file.write_at(bytes, begin)?;
        }
        Ok(!bytes.is_empty())
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> Result<(), Problem> {
        Ok(self.base.log.file.sync()?)
    }

    /// Applies the group to the index, and lets everybody read it. Returns its events by type. The group is durable, or
    /// is part of an import that has not ended; the index does not claim to have come so far then.
    pub(crate) fn publish(&mut self) -> Result<EventCounts, Problem> {
        let from = self.position().end;
        self.base.note_frame(self.group.first(), from)?;
        self.base.apply(&mut self.view, from)?;
        let last_frame = self.group.frame();
        let events = self.group.clear();
        if self.group.kind() != Kind::Import {
            self.base.note_reached(self.position().end)?;
        }
        self.base.log.publish(self.position());
        if let Some(blocks) = &mut self.blocks {
            // One that begins a history has no changes.
            blocks.add(last_frame, &[]);
            blocks.end_frame(self.group.position().end);
            self.base.put_filters(blocks)?;
        }
        Ok(events)
    }
}
