//! Log lines on their way to standard error, many in one write.
//!
//! A write for each line was a tenth of the CPU time of an accept, and tracing-appender's channel costs as much as the write
//! that it saves. Here a line is copied into a buffer, and a thread writes out what there is every few milliseconds.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// How long lines are collected before they are written.
const COLLECT: Duration = Duration::from_millis(5);

/// How many bytes may wait. Whoever logs more writes it out itself, and so waits for who reads the log.
const MOST: usize = 1024 * 1024;

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Held while bytes are written, so that lines stay whole and in order.
    out: Mutex<Vec<u8>>,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes out what waits.
    fn flush(&self) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut self.waiting().bytes, &mut out);
        // Nobody is left to tell when standard error is gone.
        let _ = io::stderr().write_all(&out);
        out.clear();
    }
}

/// Where the lines go.
#[derive(Clone)]
pub struct Lines(Arc<Shared>);

/// Writes what is left when it is dropped.
pub struct Writing {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread.
pub fn start() -> io::Result<(Lines, Writing)> {
    let shared = Arc::new(Shared::default());
    let written = Arc::clone(&shared);
    let thread = thread::Builder::new().name("log lines".to_owned()).spawn(move || {
        loop {
            let nothing = |waiting: &mut Waiting| waiting.bytes.is_empty() && !waiting.ended;
            let waiting = written.changed.wait_while(written.waiting(), nothing);
            if waiting.unwrap_or_else(PoisonError::into_inner).ended {
                return;
            }
            thread::sleep(COLLECT);
            written.flush();
        }
    })?;
    Ok((Lines(Arc::clone(&shared)), Writing { shared, thread: Some(thread) }))
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.shared.waiting().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic; there is nothing to hear.
            let _ = thread.join();
        }
        self.shared.flush();
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.waiting();
        let (first, ended) = (waiting.bytes.is_empty(), waiting.ended);
        waiting.bytes.extend_from_slice(line);
        let full = waiting.bytes.len() > MOST;
        drop(waiting);
        if first {
            self.0.changed.notify_one();
        }
        if full || ended {
            self.0.flush();
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
