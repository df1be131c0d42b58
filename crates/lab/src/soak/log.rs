//! The reader of the service's log.

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the service says when it has dropped lines.
const DROPPED: &str = "log lines were dropped, since nobody read them";

/// Reads lines until their end, unless it is told to stall.
pub struct Reader {
    stalled: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<u64>>,
}

impl Reader {
    /// Begins to read, and copies every line to a file.
    pub fn start(log: PipeReader, copy: File) -> Self {
        let stalled = Arc::new(AtomicBool::new(false));
        let stall = Arc::clone(&stalled);
        Self { stalled, thread: std::thread::spawn(move || read(log, copy, &stall)) }
    }

    /// Whoever sets this makes it stall.
    pub fn stalled(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stalled)
    }

    /// Waits for the last line. Fails at a line that is worse than INFO, but for those that say how many were dropped;
    /// returns the sum of these.
    pub fn finish(self) -> anyhow::Result<u64> {
        self.thread.join().map_err(|_| anyhow!("the reader of the log panicked"))?
    }
}

fn read(log: PipeReader, mut copy: File, stalled: &AtomicBool) -> anyhow::Result<u64> {
    let (mut dropped, mut bad) = (0, None);
    for line in BufReader::new(log).lines() {
        let line = line?;
        writeln!(copy, "{line}")?;
        if line.contains(DROPPED) {
            let line: Value = serde_json::from_str(&line)?;
            dropped += line["lines"].as_u64().with_context(|| format!("no number of lines: {line}"))?;
        } else if !line.contains(r#""level":"INFO""#) {
            bad.get_or_insert(line);
        }
        while stalled.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    match bad {
        Some(bad) => bail!("the service logged: {bad}"),
        None => Ok(dropped),
    }
}
