//! Imports: all of a file or nothing.
//!
//! The records go to the log in frames that count only if the start of a new history follows. So an import that does
//! not come to its end is rolled back when the store is opened next, and until then the index is not trusted.
//!
//! An import of nothing, with `merge`, begins a new history and changes nothing else.

use super::base::Base;
use super::index::sled::SledIndex;
use super::log::disk::{Directory, LockedFile};
use super::log::frame::Kind;
use super::mark::{Mark, State};
use super::open::{EmbeddedOptions, open, open_error};
use super::panics;
use super::problem::Problem;
use super::recovery::Opened;
use super::writer::Writer;
use super::writer::checkpoint::checkpoint;
use crate::codec::CodecError;
use crate::history::new_history;
use crate::import::ImportError;
use lendpay_domain::Timestamp;
use lendpay_domain::change::Record;
use lendpay_domain::import::{Admission, Admitted, Imported};
use std::path::Path;
use std::sync::Arc;

/// How many records are written at once.
const GROUP: usize = 1_024;

impl From<Problem> for ImportError {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem.to_string())
    }
}

/// An import that is under way. If it is dropped before it is finished, nothing was imported.
pub struct EmbeddedImport {
    disk: Directory,
    base: Arc<Base<SledIndex, LockedFile>>,
    writer: Writer<SledIndex, LockedFile>,
    admission: Admission,
    waiting: usize,
}

impl EmbeddedImport {
    /// Opens the store in a directory, which is created if it is absent, and begins to import into it at the moment
    /// `now`: into an empty one, or with `merge` into any, where nothing that exists is changed. Blocks, as do all
    /// methods.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn begin(path: &Path, options: EmbeddedOptions, merge: bool, now: Timestamp) -> Result<Self, ImportError> {
        let (disk, Opened { base, position, .. }) = open(path, options).map_err(|problem| open_error(path, problem))?;
        // An import of nothing, and a new history, leave a store empty.
        if !merge && position.next != base.log.head.start().next {
            checkpoint(&base, &disk, position, State::Clean)?;
            return Err(ImportError::NotEmpty { place: format!("in {}", path.display()) });
        }
        Mark::write(&disk, &base.log.head, position, State::Open(None)).map_err(Problem::from)?;
        let writer = Writer::new(Arc::clone(&base), Kind::Import, position)?;
        Ok(Self { disk, base, writer, admission: Admission::new(merge, now), waiting: 0 })
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// `Record` if it does not fit, `Failed` if the store failed. The import cannot continue then; drop it.
    pub fn add(&mut self, record: Record) -> Result<(), ImportError> {
        panics::caught(|| Ok(self.take(record)))?
    }

    /// Makes everything durable and ends the import.
    ///
    /// # Errors
    /// `Failed` if the store failed; nothing was imported then.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        panics::caught(|| {
            let writer = &mut self.writer;
            // The new history says that everything before it is durable.
            if writer.write()? {
                writer.publish()?;
            }
            writer.sync()?;
            writer.group.begin_history(new_history().to_bytes());
            writer.write()?;
            writer.sync()?;
            writer.publish()?;
            checkpoint(&self.base, &self.disk, writer.position(), State::Clean)
        })?;
        Ok(self.admission.done())
    }

    fn take(&mut self, record: Record) -> Result<(), ImportError> {
        let writer = &mut self.writer;
        let Admitted::Add { sequence } = self.admission.admit(&record, &writer.view)? else { return Ok(()) };
        if let Some(sequence) = sequence {
            writer.group.skip_to(sequence);
        }
        writer.push(&[record])?.map_err(|error| match error {
            CodecError::TooLong => ImportError::Record { problem: "it is longer than the store keeps", back: 0 },
            CodecError::Damaged => ImportError::Failed(error.to_string()),
        })?;
        self.waiting += 1;
        if self.waiting >= GROUP {
            self.waiting = 0;
            writer.write()?;
            // Nobody reads before the end of the import, where it is synced.
            writer.publish()?;
        }
        Ok(())
    }
}
