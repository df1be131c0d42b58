//! Log lines on their way to standard error, many in one write.
//!
//! A write for each line was a tenth of the CPU time of an accept, and would wait for whoever reads the log.
//! tracing-appender's channel bounds lines, which have no greatest length, and says nothing about those that it drops.
//! Here a thread writes out what there is every few milliseconds. While nobody reads, lines wait; those that come beyond
//! the bound are dropped and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
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
    /// An empty one is the end.
    send: Sender<Vec<u8>>,
    /// How many bytes wait.
    waiting: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
}

/// Writes what is left when it is dropped.
pub struct Log {
    lines: Lines,
    written: Receiver<()>,
}

/// Starts the thread.
pub fn start() -> io::Result<(Lines, Log)> {
    let ((send, receive), (tell, written)) = (channel(), channel());
    let lines = Lines { send, waiting: Arc::default(), dropped: Arc::default() };
    let of_writer = (Arc::clone(&lines.waiting), Arc::clone(&lines.dropped));
    thread::Builder::new().name(WRITER.to_owned()).spawn(move || {
        write(&receive, &of_writer.0, &of_writer.1);
        tell.send(())
    })?;
    Ok((lines.clone(), Log { lines, written }))
}

/// Writes lines until the end.
fn write(lines: &Receiver<Vec<u8>>, waiting: &AtomicUsize, dropped: &AtomicU64) {
    let (mut told, mut ended) = (0, false);
    while let Ok(mut out) = lines.recv() {
        ended |= out.is_empty();
        if !ended {
            thread::sleep(COLLECT);
        }
        for line in lines.try_iter() {
            ended |= line.is_empty();
            out.extend(line);
        }
        waiting.fetch_sub(out.len(), Ordering::Relaxed);
        // Nobody is left to tell when standard error is gone.
        let _ = io::stderr().write_all(&out);
        let all = dropped.load(Ordering::Relaxed);
        if all > told {
            tracing::warn!(lines = all - told, "log lines were dropped, since nobody read them");
            told = all;
        } else if ended {
            return;
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
        if self.lines.send.send(Vec::new()).is_ok() {
            let _ = self.written.recv_timeout(LAST_WAIT);
        }
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let waiting = self.waiting.fetch_add(line.len(), Ordering::Relaxed) + line.len();
        // The writer's own line, which says how many were dropped, always fits.
        if waiting <= MOST || thread::current().name() == Some(WRITER) {
            // Nothing is written after the end.
            let _ = self.send.send(line.to_vec());
        } else {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
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
