//! Imports: all of a file or nothing.
//!
//! The records go to the log in frames that count only if the start of a new history follows. So an import that does
//! not come to its end is rolled back when the store is opened next, and until then the index is not trusted.
//!
//! An import of nothing, with `merge`, begins a new history and changes nothing else.

use super::base::Base;
use super::index::Index as _;
use super::index::sled::SledIndex;
use super::log::disk::Directory;
use super::log::frame::Kind;
use super::mark::{Mark, Position};
use super::open::{EmbeddedOptions, OpenDirectory};
use super::panics;
use super::recovery::{Opened, START};
use super::writer::{Fault, Writer};
use crate::codec::CodecError;
use crate::history::new_history;
use crate::import::ImportError;
use lendpay_domain::Timestamp;
use lendpay_domain::change::Record;
use lendpay_domain::import::{Admission, Admitted, Imported};
use std::fs::File;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

/// How many records are written at once.
const GROUP: usize = 1_024;

impl From<Fault> for ImportError {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.to_string())
    }
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        Fault::from(error).into()
    }
}

/// An import that is under way. If it is dropped before it is finished, nothing was imported.
pub struct EmbeddedImport {
    disk: Directory,
    base: Option<Arc<Base<SledIndex, File>>>,
    writer: Option<Writer<SledIndex, File>>,
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
        let OpenDirectory { disk, opened: Opened { base, position, .. } } = OpenDirectory::open(path, options)?;
        let mut import = Self {
            disk,
            writer: Some(Writer::new(Arc::clone(&base), Kind::Import, position)),
            base: Some(base),
            admission: Admission::new(merge, now),
            waiting: 0,
        };
        if !merge && position != START {
            import.close(position)?;
            return Err(ImportError::NotEmpty { place: format!("in {}", path.display()) });
        }
        Mark::write_open(&import.disk, &import.base().log.head, position, None)?;
        Ok(import)
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// `Record` if it does not fit, `Failed` if the store failed. The import cannot continue then; drop it.
    pub fn add(&mut self, record: Record) -> Result<(), ImportError> {
        self.caught(|import| import.take(record))
    }

    /// Makes everything durable and ends the import.
    ///
    /// # Errors
    /// `Failed` if the store failed; nothing was imported then.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        self.caught(|import| {
            let history = new_history().to_bytes();
            let writer = import.writer();
            // The new history says that everything before it is durable.
            if writer.write()? {
                writer.publish()?;
            }
            writer.sync()?;
            writer.begin_history(history);
            writer.write()?;
            writer.sync()?;
            writer.publish()?;
            let position = writer.position();
            import.base().note_history(history).map_err(Fault::from)?;
            import.close(position)?;
            Ok(import.admission.done())
        })
    }

    fn take(&mut self, record: Record) -> Result<(), ImportError> {
        let writer = self.writer.as_mut().expect("it is taken only while the import is being dropped");
        let Admitted::Add { sequence } = self.admission.admit(&record, writer.view())? else { return Ok(()) };
        if let Some(sequence) = sequence {
            writer.skip_to(sequence);
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

    /// Makes the index durable and notes that the store is closed.
    fn close(&mut self, position: Position) -> Result<(), ImportError> {
        self.base().index.sync().map_err(Fault::from)?;
        Ok(Mark::write_clean(&self.disk, &self.base().log.head, position)?)
    }

    fn caught<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, ImportError>) -> Result<T, ImportError> {
        panics::caught(AssertUnwindSafe(|| Ok(work(self)))).map_err(ImportError::Failed)?
    }

    fn base(&self) -> &Base<SledIndex, File> {
        self.base.as_ref().expect("it is taken only while the import is being dropped")
    }

    fn writer(&mut self) -> &mut Writer<SledIndex, File> {
        self.writer.as_mut().expect("it is taken only while the import is being dropped")
    }
}

impl Drop for EmbeddedImport {
    fn drop(&mut self) {
        self.writer.take();
        if let Some(base) = self.base.take().and_then(Arc::into_inner) {
            base.index.close();
        }
    }
}
