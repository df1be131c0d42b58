//! Damaged logs, checks of stopped stores, rebuilt indexes, and stores that cannot be written.

use crate::data::fill;
use crate::operator::{Both, KEY};
use crate::process::{BINARY, Process, arguments, client, command, run};
use serde_json::Value;
use std::fs::Permissions;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn store(directory: &Path) -> String {
    format!("sled:{}", directory.display())
}

/// Flips a bit in the middle of the log of a stopped store.
fn damage(directory: &Path) {
    let log = directory.join("log");
    let mut bytes = std::fs::read(&log).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).expect("writes");
}

fn readiness(both: &Both) -> (u16, Value) {
    let mut answer = client().get(format!("{}/health/ready", both.url)).call().expect("an answer");
    let body = answer.body_mut().read_to_string().expect("a text");
    (answer.status().as_u16(), serde_json::from_str(&body).expect("JSON"))
}

#[test]
fn damage_that_was_read_is_named_by_the_export_and_by_readiness() {
    const NAMED: &str = "the log is damaged at byte ";
    let directory = tempfile::tempdir().expect("a directory");
    let (data, file) = (directory.path().join("data"), directory.path().join("file"));
    fill(&data, 2_000);
    damage(&data);
    let both = Both::start(&data, &[]);
    assert_eq!(readiness(&both).0, 200, "nobody has read it yet");

    let output = both.command(&["export", &file.display().to_string(), "--running"]).output().expect("the binary runs");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complained.contains(NAMED), "{complained}");
    let answer = client().get(format!("{}/operator/export", both.url)).header("x-operator-key", KEY).call();
    let mut body = Vec::new();
    let read = answer.expect("an answer").into_body().into_reader().read_to_end(&mut body);
    assert!(read.is_err(), "who does not look at the last line sees that it is not complete");
    let last = String::from_utf8(body).expect("UTF-8").lines().last().map(serde_json::from_str::<Value>);
    let last = last.expect("lines").expect("JSON");
    let reason = last["error"]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with(NAMED), "{reason}");

    let (status, body) = readiness(&both);
    assert_eq!((status, &body["reason"]), (503, &reason.into()));
    assert!(both.metrics().contains("\nlendpay_store_up 0\n"));
    both.server.process.signal("TERM");
    assert_eq!(both.server.process.wait().0.code(), Some(0));

    let ended = run(&["export", &file.display().to_string(), "--store", &store(&data)]);
    assert!(!ended.status.success() && ended.stderr.contains(reason), "{}", ended.stderr);
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1, "no file is left");

    let ended = run(&["verify", "--store", &store(&data)]);
    assert_eq!(ended.status.code(), Some(1));
    let byte = &reason[NAMED.len()..];
    assert!(ended.stdout.contains(&format!("the log is damaged from byte {byte} to byte ")), "{}", ended.stdout);
    assert!(ended.stderr.contains("problems were found in"), "{}", ended.stderr);
}

#[test]
fn a_store_that_is_whole_passes_the_check() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let ended = run(&["verify", "--store", &store(&data)]);
    assert!(ended.status.code() == Some(1) && ended.stderr.contains("there is no store in"), "{}", ended.stderr);
    assert!(!data.exists());
    fill(&data, 10);
    let ended = run(&["verify", "--store", &store(&data)]);
    assert!(ended.status.success() && ended.stdout.is_empty(), "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("13 records of the log can be read"), "{}", ended.stderr);
    let both = Both::start(&data, &[]);
    let ended = run(&["verify", "--store", &store(&data)]);
    assert!(ended.status.code() == Some(1) && ended.stderr.contains("in use"), "{}", ended.stderr);
    drop(both);
    let ended = run(&["verify", "--store", "postgres://localhost/lendpay"]);
    assert!(ended.status.code() == Some(1) && ended.stderr.contains("sled:"), "{}", ended.stderr);
}

#[test]
fn a_start_says_what_it_did_to_the_files() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 100);
    let started = |arguments_more: &[&str], variable: Option<&str>| {
        let mut serve = command(BINARY);
        serve.args(arguments(directory.path())).args(["--operator-listen", "127.0.0.1:0", "--operator-key", KEY]);
        serve.args(arguments_more).envs(variable.map(|value| ("LENDPAY_REBUILD_INDEX", value)));
        let mut process = Process::spawn(serve);
        let opened = process.wait_for("the store is open");
        let both = Both::ready(process);
        let metrics = both.metrics();
        let value = |name: &str| -> f64 {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)).expect("the metric");
            line.trim().parse().expect("a number")
        };
        let rebuilt = value("lendpay_index_rebuilt ");
        let (cut, estimate) = (value("lendpay_log_cut_bytes "), value("lendpay_index_rebuild_estimate_seconds "));
        assert!(estimate > 0.0005 && estimate < 0.01, "{estimate}");
        assert_eq!(opened["rebuilt"], rebuilt > 0.0, "{opened}");
        assert_eq!(opened["cut_bytes"].as_f64(), Some(cut), "{opened}");
        both.server.process.signal("TERM");
        assert_eq!(both.server.process.wait().0.code(), Some(0));
        (rebuilt, cut)
    };
    assert_eq!(started(&[], None), (0.0, 0.0));
    assert_eq!(started(&["--rebuild-index"], None), (1.0, 0.0));
    assert_eq!(started(&[], Some("true")), (1.0, 0.0));
    assert_eq!(started(&[], Some("false")), (0.0, 0.0));
    let log = directory.path().join("log");
    let mut bytes = std::fs::read(&log).expect("there");
    bytes.extend([7; 11]);
    std::fs::write(&log, bytes).expect("writes");
    assert_eq!(started(&[], None), (0.0, 11.0));
}

/// No file may grow, and nothing in the directory may be written.
#[test]
fn a_store_on_a_disk_that_takes_no_write_is_exported() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 500);
    let whole = run(&["export", "-", "--store", &store(directory.path())]);
    assert!(whole.status.success(), "{}", whole.stderr);
    let log = directory.path().join("log");
    let mut bytes = std::fs::read(&log).expect("there");
    // Left by a write that was not finished.
    bytes.extend([7; 11]);
    std::fs::write(&log, &bytes).expect("writes");
    let mode = |mode: u32| {
        let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
        let files = std::fs::read_dir(directory.path()).expect("a directory").map(|entry| entry.expect("there").path());
        files.filter(|path| path.is_file()).for_each(|path| set(&path, mode & 0o666));
        set(&directory.path().join("index"), mode);
        set(directory.path(), mode);
    };
    mode(0o500);
    let mut limited = command("bash");
    // The signal that comes with EFBIG is ignored, here and in what is executed.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    limited.args(["-c", script, BINARY, "export", "-", "--store", &store(directory.path())]);
    let output = limited.output().expect("the binary runs");
    mode(0o700);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = |text: &str| text.split_once('\n').expect("a header").1.to_owned();
    assert_eq!(lines(&String::from_utf8(output.stdout).expect("UTF-8")), lines(&whole.stdout));
    assert!(std::fs::read(&log).expect("there") == bytes, "nothing was cut");
}
