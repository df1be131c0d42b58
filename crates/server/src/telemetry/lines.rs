//! Log lines on their way to standard error, many in one write.
//!
//! A write for each line was a tenth of the CPU time of an accept, and would wait for whoever reads the log.
//! tracing-appender's channel bounds lines, which have no greatest length, and says nothing about those that it drops.
//! Here a thread writes out what there is every few milliseconds. While nobody reads, lines wait; those that come
//! beyond the bound are dropped and counted.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// How long lines are collected before they are written.
const COLLECT: Duration = Duration::from_millis(5);

/// How many bytes may wait. As many again may be with the thread that writes.
const MOST: usize = 1024 * 1024;

/// How long the end of the process waits for what is left to be read.
pub const LAST_WAIT: Duration = Duration::from_secs(2);

/// The thread that writes.
const WRITER: &str = "log lines";

/// Where the lines go.
#[derive(Clone)]
pub struct Lines {
    waiting: Arc<Mutex<Vec<u8>>>,
    /// Told when there are lines where there were none, and, with true, of the end.
    wake: Sender<bool>,
    dropped: Arc<AtomicU64>,
}

/// Writes what is left when it is dropped.
pub struct Log {
    lines: Lines,
    written: Receiver<()>,
}

/// Starts the thread.
pub fn start() -> io::Result<(Lines, Log)> {
    let ((wake, woken), (tell, written)) = (channel(), channel());
    let lines = Lines { waiting: Arc::default(), wake, dropped: Arc::default() };
    let of_writer = lines.clone();
    thread::Builder::new().name(WRITER.to_owned()).spawn(move || {
        of_writer.write_out(&woken);
        tell.send(())
    })?;
    Ok((lines.clone(), Log { lines, written }))
}

impl Lines {
    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines until the end.
    fn write_out(&self, woken: &Receiver<bool>) {
        let (mut out, mut told, mut ended) = (Vec::new(), 0, false);
        while let Ok(end) = woken.recv() {
            ended |= end;
            if !ended {
                thread::sleep(COLLECT);
            }
            mem::swap(&mut *self.waiting(), &mut out);
            // Nobody is left to tell when standard error is gone.
            let _ = io::stderr().write_all(&out);
            out.clear();
            let all = self.dropped.load(Ordering::Relaxed);
            if all > told {
                tracing::warn!(lines = all - told, "log lines were dropped, since nobody read them");
                told = all;
            } else if ended {
                return;
            }
        }
    }
}

impl Log {
    /// How many lines were dropped since nobody read them.
    pub fn dropped(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lines.dropped)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // The process ends in any case, and with it the thread.
        if self.lines.wake.send(true).is_ok() {
            let _ = self.written.recv_timeout(LAST_WAIT);
        }
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.waiting();
        // The writer's own line, which says how many were dropped, always fits.
        if waiting.len() + line.len() > MOST && thread::current().name() != Some(WRITER) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(line.len());
        }
        let is_first = waiting.is_empty();
        waiting.extend_from_slice(line);
        drop(waiting);
        if is_first {
            // Nothing is written after the end.
            let _ = self.wake.send(false);
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
