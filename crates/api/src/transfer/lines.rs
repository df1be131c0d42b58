//! Writing.

use super::records::{End, Header, Line};
use super::{Counts, FORMAT, KINDS, counted, hex};
use crate::wire::time::Time;
use lendpay_domain::Timestamp;
use lendpay_domain::record::Record;
use sha2::{Digest as _, Sha256};

/// Makes the lines of an export: a header, records, an end.
#[derive(Default)]
pub struct Lines {
    counts: Counts,
    hash: Sha256,
}

impl Lines {
    /// The first line.
    pub fn header(&self, at: Timestamp) -> Vec<u8> {
        let program = concat!("lendpay ", env!("CARGO_PKG_VERSION")).to_owned();
        line(&Line::Export(Header { format: FORMAT, created_at: Time(at), program }))
    }

    /// The line of a record.
    pub fn record(&mut self, record: &Record) -> Vec<u8> {
        let record = Line::from(record);
        if let Some(kind) = KINDS.iter().position(|kind| *kind == record.kind()) {
            self.counts[kind] += 1;
        }
        let line = line(&record);
        self.hash.update(&line);
        line
    }

    /// The last line.
    pub fn end(self) -> Vec<u8> {
        line(&Line::End(End { records: counted(&self.counts), sha256: hex(&self.hash.finalize()) }))
    }
}

fn line(line: &Line) -> Vec<u8> {
    // Strings, numbers and lists of these: nothing that cannot be JSON.
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
