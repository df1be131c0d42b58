//! A disk that takes no more.

use crate::data::{check, fill_with};
use crate::load::{Acknowledged, UNLIMITED, write};
use crate::process::{BINARY, Process, Server, arguments, command};
use std::sync::atomic::AtomicUsize;

/// The kernel refuses to let a file grow past a limit, as a full disk would (EFBIG instead of ENOSPC).
#[test]
fn a_full_disk_fails_who_waits_and_ends_the_process_and_loses_nothing_acknowledged() {
    let directory = tempfile::tempdir().expect("a directory");
    // So long that the log is and stays longer than the index.
    let data = fill_with(directory.path(), 10_000, &"x".repeat(2_000));
    // Enough for some thousand writes.
    let size = std::fs::metadata(directory.path().join("log")).expect("a log").len();
    let blocks = size / 1024 + 512;
    let mut limited = command("bash");
    // The signal that comes with EFBIG is ignored, here and in what is executed.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    limited.args(["-c", &script, BINARY]).args(arguments(directory.path())).args(UNLIMITED);

    let server = Server::ready(Process::spawn(limited));
    let (next, acknowledged) = (AtomicUsize::new(0), Acknowledged::default());
    write(16, &server.address, &data, &next, &acknowledged, || {});

    let (status, log) = server.process.wait();
    assert_eq!(status.code(), Some(1), "{log:#?}");
    let last = log.last().expect("a last line");
    assert!(last.starts_with("lendpay: the store has failed and the process ends:"), "{log:#?}");
    assert!(!log.iter().any(|line| line.contains("stack backtrace")), "{log:#?}");
    assert!(
        acknowledged.count() > 0 && acknowledged.refused() > 0,
        "{} {}",
        acknowledged.count(),
        acknowledged.refused()
    );
    check(directory.path(), &data, data.offers.len(), &acknowledged);
}
