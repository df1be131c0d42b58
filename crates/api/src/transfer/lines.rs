//! Writing.

use super::records::{End, Header, Line};
use super::{Counts, FORMAT, no_records};
use crate::hex;
use crate::wire::time::Time;
use lendpay_domain::change::Record;
use lendpay_domain::{HistoryId, Timestamp};
use sha2::{Digest as _, Sha256};

/// Makes the lines of an export: a header, records, an end.
pub struct Lines {
    counts: Counts,
    hash: Sha256,
}

impl Default for Lines {
    fn default() -> Self {
        Self { counts: no_records(), hash: Sha256::new() }
    }
}

impl Lines {
    /// The first line. `history` is the one that sequences belong to.
    pub fn header(&self, at: Timestamp, history: HistoryId) -> Vec<u8> {
        let program = concat!("lendpay ", env!("CARGO_PKG_VERSION")).to_owned();
        line(&Line::Export(Header { format: FORMAT, created_at: Time(at), program, history: Some(history.uuid()) }))
    }

    /// The line of a record.
    pub fn record(&mut self, record: &Record) -> Vec<u8> {
        let record = Line::from(record);
        record.count(&mut self.counts);
        let line = line(&record);
        self.hash.update(&line);
        line
    }

    /// The last line of an export that could not go on, with the reason.
    pub fn error(self, reason: &str) -> Vec<u8> {
        line(&Line::Error { reason: reason.to_owned() })
    }

    /// The last line.
    pub fn end(self) -> Vec<u8> {
        line(&Line::End(End { records: self.counts, sha256: hex::write(&self.hash.finalize()) }))
    }
}

fn line(line: &Line) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(line).expect("strings, numbers and lists of these are JSON");
    bytes.push(b'\n');
    bytes
}
