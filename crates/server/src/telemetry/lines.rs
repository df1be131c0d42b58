//! Log lines on their way to standard error, many in one write.
//!
//! A write for each line was a tenth of the CPU time of an accept, and would wait for whoever reads the log.
//! tracing-appender's channel costs as much as the write that it saves, and bounds lines, which have no greatest
//! length. Here a line is copied into a buffer, and a thread writes out what there is every few milliseconds. While
//! nobody reads, the buffer fills up; lines that do not fit are dropped and counted.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// How long lines are collected before they are written.
const COLLECT: Duration = Duration::from_millis(5);

/// How many bytes may wait. As many again may be with the thread that writes.
const MOST: usize = 1024 * 1024;

/// How long the end of the process waits for what is left to be read.
pub const LAST_WAIT: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Lines that were dropped and not yet told of.
    dropped: u64,
    /// No more lines come.
    ended: bool,
    /// Everything is written.
    written: bool,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    dropped: Arc<AtomicU64>,
    writer: OnceLock<ThreadId>,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines until the end.
    fn write(&self) {
        let mut out = Vec::new();
        loop {
            let idle = |waiting: &mut Waiting| waiting.bytes.is_empty() && waiting.dropped == 0 && !waiting.ended;
            let waiting = self.changed.wait_while(self.waiting(), idle);
            if !waiting.unwrap_or_else(PoisonError::into_inner).ended {
                thread::sleep(COLLECT);
            }
            let mut waiting = self.waiting();
            mem::swap(&mut waiting.bytes, &mut out);
            let dropped = mem::take(&mut waiting.dropped);
            if waiting.ended && out.is_empty() && dropped == 0 {
                waiting.written = true;
                self.changed.notify_all();
                return;
            }
            drop(waiting);
            // Nobody is left to tell when standard error is gone.
            let _ = io::stderr().write_all(&out);
            out.clear();
            if dropped > 0 {
                tracing::warn!(lines = dropped, "log lines were dropped, since nobody read them");
            }
        }
    }
}

/// Where the lines go.
#[derive(Clone)]
pub struct Lines(Arc<Shared>);

/// Writes what is left when it is dropped.
pub struct Writing(Arc<Shared>);

/// Starts the thread.
pub fn start() -> io::Result<(Lines, Writing)> {
    let shared = Arc::new(Shared::default());
    let writer = Arc::clone(&shared);
    let thread = thread::Builder::new().name("log lines".to_owned()).spawn(move || writer.write())?;
    shared.writer.get_or_init(|| thread.thread().id());
    Ok((Lines(Arc::clone(&shared)), Writing(shared)))
}

impl Writing {
    /// How many lines were dropped.
    pub fn dropped(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0.dropped)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.ended = true;
        self.0.changed.notify_all();
        // The process ends in any case, and with it the thread.
        drop(self.0.changed.wait_timeout_while(waiting, LAST_WAIT, |waiting| !waiting.written));
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.waiting();
        let first = waiting.bytes.is_empty();
        // The writer's own line, which says how many were dropped, always fits.
        if waiting.bytes.len() + line.len() <= MOST || self.0.writer.get() == Some(&thread::current().id()) {
            waiting.bytes.extend_from_slice(line);
        } else {
            waiting.dropped += 1;
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
        drop(waiting);
        if first {
            self.0.changed.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> &'a Self {
        self
    }
}
