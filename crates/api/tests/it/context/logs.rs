//! Every log line of the whole test run, of every thread and at every level, to be searched.

use serde_json::Value;
use std::io;
use std::sync::{Mutex, Once};
use tracing_subscriber::fmt::MakeWriter;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Writer {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self
    }
}

/// Begins to keep lines.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .json()
            .flatten_event(true)
            .with_max_level(tracing::Level::TRACE)
            .with_writer(Writer)
            .init();
    });
}

/// Every line so far.
pub fn all() -> String {
    String::from_utf8(LINES.lock().expect("not poisoned").clone()).expect("log lines are UTF-8")
}

/// The lines that name an operation.
pub fn of(operation: &str) -> Vec<Value> {
    let lines = all();
    let lines = lines.lines().filter(|line| line.contains(operation));
    lines.map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}
