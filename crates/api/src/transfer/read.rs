//! Reading, and checking a whole file before anything is done with it.

use super::format_1::{self, Owners};
use super::records::{Line, NotARecord};
use super::{Counts, FORMAT, no_records};
use crate::hex;
use lendpay_domain::change::Record;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, BufRead, Read as _};
use uuid::Uuid;

/// The longest line: more than the longest record that a store keeps.
const LONGEST: u64 = 1024 * 1024;

/// What is wrong with a file, and where.
#[derive(Debug)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong; never quotes the line.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Problem {}

/// A file that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many records it holds.
    pub records: u64,
    /// The history that its sequences belong to, if it names one.
    pub history: Option<Uuid>,
}

/// Reads a file to its end and checks all of it: shape, counts and checksum. Whether the records fit each other and a
/// store is [`lendpay_domain::import`]'s to say.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(file: impl BufRead) -> Result<Checked, Problem> {
    let mut reader = Reader::new(file);
    let mut records = 0;
    while reader.next()?.is_some() {
        records += 1;
    }
    Ok(Checked { records, history: reader.history })
}

/// Reads the records of a file, one after the other. Whether the file is complete is known only at its end.
pub struct Reader<R> {
    file: R,
    line: u64,
    bytes: Vec<u8>,
    counts: Counts,
    hash: Sha256,
    history: Option<Uuid>,
    /// Set while a file of format 1 is read.
    format_1: Option<Owners>,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader at the beginning of a file.
    pub fn new(file: R) -> Self {
        let (counts, hash) = (no_records(), Sha256::new());
        Self { file, line: 0, bytes: Vec::new(), counts, hash, history: None, format_1: None, ended: false }
    }

    /// The number of the line that was read last.
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// The next record; `None` at the end of a file that is complete.
    ///
    /// # Errors
    /// What is wrong with the line.
    #[expect(clippy::should_implement_trait, reason = "what is read can fail, and nothing comes after an error")]
    pub fn next(&mut self) -> Result<Option<Record>, Problem> {
        if self.ended {
            return Ok(None);
        }
        if self.line == 0 {
            self.header()?;
        }
        self.read_line()?;
        match self.record_line()? {
            Line::Export(_) => Err(self.problem("a second header")),
            Line::End(mut end) => {
                // A kind is absent in files that were written before there was any.
                for (kind, none) in no_records() {
                    end.records.entry(kind).or_insert(none);
                }
                let same = end.records == self.counts && end.sha256 == hex::write(&self.hash.clone().finalize());
                if !same {
                    return Err(self.problem("counts or checksum do not fit the lines above: the file was altered"));
                }
                self.ended = true;
                match self.file.fill_buf() {
                    Ok([]) => Ok(None),
                    Ok(_) => Err(self.problem("something follows the last line")),
                    Err(error) => Err(self.unreadable(&error)),
                }
            }
            Line::Error { reason } => Err(self.problem(&format!("the store could not be read any further: {reason}"))),
            line => {
                self.hash.update(&self.bytes);
                line.count(&mut self.counts);
                let record = line.record().map_err(|NotARecord| self.problem("is not a record"))?;
                Ok(Some(record))
            }
        }
    }

    fn header(&mut self) -> Result<(), Problem> {
        self.read_line()?;
        match self.parse() {
            Ok(Line::Export(header)) if matches!(header.format, 1 | FORMAT) => {
                self.format_1 = (header.format == 1).then(Owners::new);
                self.history = header.history;
                Ok(())
            }
            Ok(Line::Export(header)) => Err(self.problem(&format!(
                "the file has format {} and this program knows 1 and {FORMAT}; use the program that wrote it, or a newer one",
                header.format
            ))),
            Ok(_) | Err(_) => Err(self.problem("is not the header of an export: this is no export of lendpay")),
        }
    }

    /// Reads a line, its end included.
    fn read_line(&mut self) -> Result<(), Problem> {
        self.bytes.clear();
        self.line += 1;
        let read = self.file.by_ref().take(LONGEST).read_until(b'\n', &mut self.bytes);
        match read {
            Err(error) => Err(self.unreadable(&error)),
            Ok(0) => Err(self.problem("the file ends before its last line: it was cut off")),
            Ok(_) if self.bytes.ends_with(b"\n") => Ok(()),
            Ok(_) if self.bytes.len() as u64 == LONGEST => Err(self.problem("is too long")),
            Ok(_) => Err(self.problem("the file ends in the middle of this line: it was cut off")),
        }
    }

    /// The line that was read last, in the current format.
    fn record_line(&mut self) -> Result<Line, Problem> {
        if self.format_1.is_none() {
            return self.parse();
        }
        let line: format_1::Line = self.parse()?;
        let current = line.current(self.format_1.get_or_insert_default());
        current.map_err(|NotARecord| self.problem("no line above it names the owner of its application"))
    }

    fn parse<L: DeserializeOwned>(&self) -> Result<L, Problem> {
        serde_json::from_slice(&self.bytes).map_err(|error| {
            // Serde's own words could quote the line.
            self.problem(&format!("is not a record (column {})", error.column()))
        })
    }

    fn problem(&self, what: &str) -> Problem {
        Problem { line: self.line, what: what.to_owned() }
    }

    fn unreadable(&self, error: &io::Error) -> Problem {
        self.problem(&format!("cannot be read: {error}"))
    }
}
