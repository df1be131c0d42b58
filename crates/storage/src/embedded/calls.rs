//! Calls that changed nothing: files beside the log, in a directory of their own.
//!
//! Each owner has segments: files of sealed records, one after the other, named by the owner and by the time from which
//! they are, in microseconds since 1970. Records are added to an owner's last segment, and its first one is removed to
//! make room. What cannot be read is passed over, byte by byte: nothing here stops a start or a look-up.

use super::log::disk::{create_private, sync_directory};
use crate::calls::Keep;
use crate::codec;
use crate::records::CallRecord;
use lendpay_domain::calls::{Call, Keeping, Owner, found};
use lendpay_domain::{OperationId, Timestamp};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the directory in that of the store.
pub(crate) const CALLS: &str = "calls";

/// Into how many segments an owner's share and time are divided.
const SEGMENTS: u32 = 8;

/// A file.
struct Segment {
    /// From when its first record is, in microseconds since 1970. Greater than that of the owner's segment before it.
    begins: i64,
    length: u64,
}

/// The files of all owners.
pub(crate) struct Segments {
    directory: PathBuf,
    keeping: Keeping,
    /// Those of each owner in their order.
    owners: BTreeMap<Owner, Vec<Segment>>,
}

impl Segments {
    /// Finds the files. What is wrong with them is a warning.
    pub(crate) fn open(directory: PathBuf, keeping: Keeping) -> Self {
        let mut owners = BTreeMap::<_, Vec<_>>::new();
        match create_private(&directory).and_then(|()| files(&directory)) {
            Ok(files) => {
                for (owner, begins, path) in files {
                    let length = path.metadata().map_or(0, |about| about.len());
                    owners.entry(owner).or_default().push(Segment { begins, length });
                }
            }
            Err(error) => tracing::warn!(%error, "the records of refused calls cannot be read"),
        }
        owners.values_mut().for_each(|segments| segments.sort_by_key(|segment| segment.begins));
        Self { directory, keeping, owners }
    }

    /// Adds sealed records, the oldest first, and makes them durable.
    fn add(&mut self, owner: Owner, records: &[(Timestamp, Vec<u8>)]) -> io::Result<()> {
        let (longest, most_time) =
            (owner.share(self.keeping.bytes) / u64::from(SEGMENTS), self.keeping.time / SEGMENTS);
        let segments = self.owners.entry(owner).or_default();
        let (mut open, mut begun) = (None::<File>, false);
        for (at, record) in records {
            let (at, length) = (at.timestamp_micros(), record.len() as u64);
            let is_full = segments.last().is_none_or(|last| {
                let time = Duration::from_micros(u64::try_from(at.saturating_sub(last.begins)).unwrap_or_default());
                last.length + length > longest || time > most_time
            });
            if is_full {
                open.take().map_or(Ok(()), |file| file.sync_data())?;
                let begins = segments.last().map_or(at, |last| at.max(last.begins.saturating_add(1)));
                segments.push(Segment { begins, length: 0 });
                begun = true;
            }
            let last = segments.last_mut().expect("one has just begun if there was none");
            let mut file = match open.take() {
                Some(file) => file,
                None => {
                    let path = path_of(&self.directory, owner, last.begins);
                    OpenOptions::new().append(true).create(true).mode(0o600).open(path)?
                }
            };
            file.write_all(record)?;
            last.length += length;
            open = Some(file);
        }
        open.map_or(Ok(()), |file| file.sync_data())?;
        if begun { sync_directory(&self.directory) } else { Ok(()) }
    }

    /// Removes an owner's first segment. One that cannot be removed is found again at the next start.
    fn remove_first(&mut self, owner: Owner) {
        let Some(segments) = self.owners.get_mut(&owner).filter(|segments| !segments.is_empty()) else { return };
        let begins = segments.remove(0).begins;
        if segments.is_empty() {
            self.owners.remove(&owner);
        }
        if let Err(error) = std::fs::remove_file(path_of(&self.directory, owner, begins)) {
            tracing::warn!(%error, "a file with records of refused calls cannot be removed");
        }
    }

    /// Removes segments until there is room for so many bytes of an owner.
    fn make_room(&mut self, owner: Owner, length: u64) {
        let sum = |segments: &Vec<Segment>| segments.iter().map(|segment| segment.length).sum::<u64>();
        while self.owners.get(&owner).is_some_and(|it| sum(it) + length > owner.share(self.keeping.bytes)) {
            self.remove_first(owner);
        }
        while self.owners.values().map(sum).sum::<u64>() + length > self.keeping.bytes {
            let first = |(owner, segments): (&Owner, &Vec<Segment>)| Some((segments.first()?.begins, *owner));
            let Some((_, oldest)) = self.owners.iter().filter_map(first).min() else { return };
            self.remove_first(oldest);
        }
    }

    /// Removes segments whose records are all too old at a moment.
    fn remove_old(&mut self, now: Timestamp) {
        let longest = Keeping { time: self.keeping.time + self.keeping.time / SEGMENTS, ..self.keeping };
        let since = longest.since(now).timestamp_micros();
        let is_old = |segments: &Vec<Segment>| segments.first().is_some_and(|first| first.begins < since);
        while let Some(owner) = self.owners.iter().find(|(_, segments)| is_old(segments)).map(|(owner, _)| *owner) {
            self.remove_first(owner);
        }
    }
}

impl Keep for Segments {
    fn keep(&mut self, calls: Vec<Call>) -> Result<(), String> {
        create_private(&self.directory).map_err(|error| error.to_string())?;
        let mut by_owner = BTreeMap::<_, Vec<_>>::new();
        for call in &calls {
            let mut record = Vec::new();
            codec::seal(&CallRecord::from(call), &mut record).map_err(|error| error.to_string())?;
            by_owner.entry(call.owner()).or_default().push((call.at, record));
        }
        for (owner, mut records) in by_owner {
            // The last ones that have room together.
            let (mut length, share) = (0, owner.share(self.keeping.bytes));
            let fits = |(_, record): &&(Timestamp, Vec<u8>)| {
                length += record.len() as u64;
                length <= share
            };
            let count = records.iter().rev().take_while(fits).count();
            records.drain(..records.len() - count);
            self.make_room(owner, records.iter().map(|(_, record)| record.len() as u64).sum());
            self.add(owner, &records).map_err(|error| error.to_string())?;
        }
        calls.iter().map(|call| call.at).max().into_iter().for_each(|now| self.remove_old(now));
        Ok(())
    }
}

fn path_of(directory: &Path, owner: Owner, begins: i64) -> PathBuf {
    directory.join(format!("{owner}.{begins}"))
}

/// The files in the directory; what has another name is none of ours.
fn files(directory: &Path) -> io::Result<Vec<(Owner, i64, PathBuf)>> {
    let named = |path: PathBuf| {
        let (owner, begins) = path.file_name()?.to_str()?.split_once('.')?;
        Some((Owner::parse(owner)?, begins.parse().ok()?, path))
    };
    let entries = std::fs::read_dir(directory)?.map(|entry| Ok(named(entry?.path())));
    Ok(entries.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The calls of an operation from a moment on. Files that go meanwhile, or cannot be read, have none.
pub(crate) fn find(directory: &Path, operation: OperationId, since: Timestamp) -> Vec<Call> {
    let mut calls = Vec::new();
    for (_, _, path) in files(directory).unwrap_or_default() {
        let bytes = std::fs::read(path).unwrap_or_default();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match codec::take::<CallRecord<'_>>(rest) {
                Ok((record, after)) => {
                    rest = after;
                    let wanted = Some(record).filter(|record| record.is_of(operation));
                    calls.extend(wanted.and_then(|record| Call::try_from(record).ok()).filter(|call| call.at >= since));
                }
                // The end of a write that a crash cut off, or damage: the next record begins somewhere after it.
                Err(_) => rest = &rest[1..],
            }
        }
        calls = found(calls);
    }
    calls
}
