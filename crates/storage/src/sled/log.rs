//! The file of the log. It is what the store is: the trees are an index that is made from it.
//!
//! It begins with a head and goes on with frames (see [`super::frame`]). It is only ever written at its end, a group at a time,
//! and synced before the next group; so a crash tears the last group and no other.

use super::frame::{Frame, HEAD, LONGEST, MAGIC};
use super::prepare::Problem;
use crate::codec::CodecError;
use crate::records::Place;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const NAME: &str = "log";

/// What the file begins with: a name and the version of the format.
const BEGIN: [u8; 8] = [b'l', b'e', b'n', b'd', b'p', b'a', b'y', FORMAT];

/// The version of the format: of the log, and of the trees that are made from it.
pub(super) const FORMAT: u8 = 2;

/// Where the first frame is.
pub(super) const FIRST: u64 = BEGIN.len() as u64;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Why a part of the log cannot be read.
#[derive(Debug)]
pub(super) enum ReadError {
    Io(io::Error),
    Damaged,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        // A log that ends before what is known to be there.
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

impl From<CodecError> for ReadError {
    fn from(_: CodecError) -> Self {
        Self::Damaged
    }
}

/// The open log. Whoever has it open is the only one.
pub(super) struct LogFile {
    file: File,
    /// How far readers may read: up to here everything is durable, and the trees have been brought up to date.
    end: AtomicU64,
}

impl LogFile {
    /// Opens the log of a directory, which is made if it is not there.
    pub(super) fn open(directory: &Path) -> Result<Self, Problem> {
        let path = directory.join(NAME);
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Problem::InUse,
            TryLockError::Error(error) => Problem::Disk(error),
        })?;
        let mut begin = [0; BEGIN.len()];
        let log = Self { file, end: AtomicU64::new(FIRST) };
        // A head that is not whole was never followed by anything.
        match log.file.read_exact_at(&mut begin, 0) {
            Ok(()) if begin == BEGIN => {}
            Ok(()) if begin[..7] == BEGIN[..7] && begin[7] > FORMAT => return Err(Problem::Newer(begin[7].into())),
            Ok(()) if begin[..7] == BEGIN[..7] => return Err(Problem::Older(begin[7].into())),
            Ok(()) => return Err(Problem::Damaged("its log was not written by this program")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                log.file.write_all_at(&BEGIN, 0)?;
                log.cut(FIRST)?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(log)
    }

    /// How far readers may read.
    pub(super) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Lets readers read up to here.
    pub(super) fn publish(&self, end: u64) {
        self.end.store(end, Ordering::Release);
    }

    /// Whether nothing was ever logged.
    pub(super) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.length()? <= FIRST)
    }

    /// The length of the file: after a crash it can end with a torn group.
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Writes a group.
    pub(super) fn write(&self, at: u64, group: &[u8]) -> io::Result<()> {
        self.file.write_all_at(group, at)
    }

    /// Makes what was written durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Writes a part once more as it is, and makes it durable.
    pub(super) fn write_again(&self, from: u64, to: u64) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        let mut at = from;
        while at < to {
            let part = &mut chunk[..usize::try_from(to - at).unwrap_or(CHUNK).min(CHUNK)];
            self.file.read_exact_at(part, at)?;
            self.file.write_all_at(part, at)?;
            at += part.len() as u64;
        }
        self.sync()
    }

    /// Cuts the file off and makes that durable.
    pub(super) fn cut(&self, end: u64) -> io::Result<()> {
        self.file.set_len(end)?;
        self.file.sync_all()
    }

    /// A value that lies in the log.
    pub(super) fn value(&self, place: Place) -> Result<Vec<u8>, ReadError> {
        if place.length as usize > LONGEST {
            return Err(ReadError::Damaged);
        }
        let mut value = vec![0; place.length as usize];
        self.file.read_exact_at(&mut value, place.at)?;
        Ok(value)
    }

    /// The frames from one place, where a frame begins, to another.
    pub(super) fn frames(&self, from: u64, to: u64) -> Frames<'_> {
        Frames { log: self, at: from, to, buffer: Vec::new(), begin: 0 }
    }

    /// Whether, behind a place where no frame can be read, there is one of a later group: then that place was durable once, and
    /// is damaged; else it is where a group was torn.
    pub(super) fn goes_on_behind(&self, torn: u64) -> io::Result<bool> {
        let length = self.length()?;
        let mut at = torn + 1;
        let mut chunk = vec![0; CHUNK + HEAD + LONGEST];
        while at < length {
            let wanted = usize::try_from(length - at).unwrap_or(usize::MAX).min(chunk.len());
            let bytes = &mut chunk[..wanted];
            self.file.read_exact_at(bytes, at)?;
            let starts = bytes.windows(MAGIC.len()).take(CHUNK).enumerate();
            for (from, _) in starts.filter(|(_, start)| *start == MAGIC) {
                let whole = Frame::length(&bytes[from..]).and_then(|length| bytes.get(from..from + length));
                if whole.is_some_and(|frame| Frame::read(0, frame).is_ok_and(|frame| frame.group > torn)) {
                    return Ok(true);
                }
            }
            at += CHUNK as u64;
        }
        Ok(false)
    }
}

/// Reads frames one after the other.
pub(super) struct Frames<'a> {
    log: &'a LogFile,
    /// Where the next frame begins.
    at: u64,
    to: u64,
    /// What was read, and where in it the next frame begins.
    buffer: Vec<u8>,
    begin: usize,
}

impl Frames<'_> {
    /// Where the next frame begins.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// The next frame. After an error the place is that of the frame that cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        if self.at >= self.to {
            return Ok(None);
        }
        self.need(HEAD)?;
        let length = Frame::length(&self.buffer[self.begin..]).ok_or(ReadError::Damaged)?;
        self.need(length)?;
        let (at, begin) = (self.at, self.begin);
        let frame = Frame::read(at, &self.buffer[begin..begin + length])?;
        self.at += length as u64;
        self.begin += length;
        Ok(Some(frame))
    }

    /// Has so many bytes of the next frame in the buffer.
    fn need(&mut self, bytes: usize) -> Result<(), ReadError> {
        let there = self.buffer.len() - self.begin;
        if there >= bytes {
            return Ok(());
        }
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX);
        if left < bytes {
            return Err(ReadError::Damaged);
        }
        self.buffer.drain(..self.begin);
        self.begin = 0;
        self.buffer.resize(left.min(bytes.max(CHUNK)), 0);
        let read = self.log.file.read_exact_at(&mut self.buffer[there..], self.at + there as u64);
        if let Err(error) = read {
            self.buffer.truncate(there);
            return Err(error.into());
        }
        Ok(())
    }
}
