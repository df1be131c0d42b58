//! The sync really happens: seen from outside, with strace.

use crate::data::fill;
use crate::process::{BINARY, Process, Server, arguments, command};

#[test]
fn the_log_is_synced_between_a_write_and_its_answer() {
    const WRITES: usize = 20;
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 100);
    let trace = tempfile::NamedTempFile::new().expect("a file");
    let mut traced = command("strace");
    traced.args(["-f", "-y", "-s", "24", "-e", "trace=fdatasync,write,writev,sendto,sendmsg", "-o"]);
    traced.arg(trace.path()).arg(BINARY).args(arguments(directory.path()));
    let server = Server::ready(Process::spawn(traced));

    let key = [("x-service-apikey", data.key.as_str())];
    for &offer in &data.offers[..WRITES] {
        assert_eq!(server.post(&data.accept_path(offer), &key, "").expect("an answer").status, 200);
    }
    server.process.signal("TERM");
    server.process.wait();

    let trace = std::fs::read_to_string(trace.path()).expect("a trace");
    let log = format!("{}>", directory.path().join("log").display());
    let (mut synced, mut syncing, mut answers) = (false, None, 0);
    for line in trace.lines() {
        let thread = line.split_whitespace().next();
        if line.contains("fdatasync(") && line.contains(&log) {
            synced |= line.ends_with("= 0");
            syncing = if line.ends_with("<unfinished ...>") { thread } else { syncing };
        } else if line.contains("fdatasync resumed") && thread == syncing {
            synced |= line.ends_with("= 0");
        } else if line.contains("\"HTTP/1.1 200") {
            assert!(synced, "answer {answers} went out before the log was synced:\n{trace}");
            (synced, answers) = (false, answers + 1);
        }
    }
    assert_eq!(answers, WRITES, "{trace}");
}
