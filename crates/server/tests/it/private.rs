//! What belongs to the service's user alone: the data, the files with keys, the memory.

use crate::operator::KEY;
use crate::process::{BINARY, Process, Server, arguments, command, run};
use crate::tls::Files;
use serde_json::Value;
use std::fs::{Permissions, metadata, read_dir, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const READABLE: &str = "other users of this machine can read the data";

fn set_mode(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// A directory and everything below it.
fn all(path: &Path) -> Vec<PathBuf> {
    let below = read_dir(path).into_iter().flatten().flat_map(|entry| all(&entry.expect("an entry").path()));
    std::iter::once(path.to_owned()).chain(below).collect()
}

/// The server, started by a shell after a command.
fn serve_after(script: &str, data: &Path) -> Server {
    let mut bash = command("bash");
    bash.args(["-c", &format!("{script}; exec \"$@\""), "bash", BINARY]).args(arguments(data));
    Server::ready(Process::spawn(bash))
}

fn stop(server: Server) -> Vec<String> {
    server.process.signal("TERM");
    let (status, log) = server.process.wait();
    assert_eq!(status.code(), Some(0), "{log:#?}");
    log
}

#[test]
fn the_data_belongs_to_the_services_user_alone_whatever_the_umask() {
    let directory = tempfile::tempdir().expect("a directory");
    for umask in ["0", "022", "0777"] {
        let data = directory.path().join(umask).join("data");
        let log = stop(serve_after(&format!("umask {umask}"), &data));
        let files = all(&data);
        assert!(files.len() > 3, "{files:?}");
        for file in files {
            let about = metadata(&file).expect("it is there");
            let mode = about.permissions().mode() & 0o777;
            assert_eq!(mode, if about.is_dir() { 0o700 } else { 0o600 }, "{} with umask {umask}", file.display());
        }
        assert!(!log.join("").contains(READABLE));
    }
}

#[test]
fn a_looser_mode_is_warned_of_with_the_command_that_corrects_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("it's here");
    stop(Server::start(&data, &[]));
    for (path, mode) in [(data.clone(), 0o755), (data.join("log"), 0o644)] {
        set_mode(&path, mode);
        let log = stop(Server::start(&data, &[]));
        let lines = log.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let warning = lines.into_iter().find(|line| line["message"] == READABLE).expect("a warning");
        assert_eq!(warning["level"], "WARN");
        let correct = warning["run"].as_str().expect("a command");
        assert!(correct.starts_with("chmod "), "{correct}");
        assert!(command("bash").args(["-c", correct]).status().expect("bash runs").success(), "{correct}");
        assert!(!stop(Server::start(&data, &[])).join("").contains(READABLE));
    }
}

#[test]
fn a_file_with_a_key_that_others_can_read_stops_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let operator = directory.path().join("operator.key");
    std::fs::write(&operator, KEY).expect("a file");
    let tls = Files::new(directory.path());
    let file = operator.display().to_string();
    let serve = arguments(&data);
    let serve: Vec<_> = serve.iter().map(String::as_str).collect();
    let starts = [
        (&operator, [&serve, &["--operator-key-file", &file][..]].concat()),
        (&operator, vec!["events", "--operator-key-file", &file]),
        (&tls.key, [&serve, &tls.arguments()[..]].concat()),
    ];
    for (key, arguments) in &starts {
        // The group may read a file of root's: that is how service managers hand out secrets.
        for mode in [0o604, 0o602, 0o660, 0o644] {
            set_mode(key, mode);
            let ended = run(arguments);
            assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
            let correct = format!("chmod 600 '{}'", key.display());
            assert!(ended.stderr.contains(&correct) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
            assert!(!data.exists(), "nothing was made");
        }
        set_mode(key, 0o600);
    }
    stop(Server::start(
        &data,
        &[&["--operator-key-file", &file, "--operator-listen", "127.0.0.1:0"], &tls.arguments()[..]].concat(),
    ));
}

#[test]
fn a_crash_leaves_no_core_dump() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = serve_after("ulimit -S -c \"$(ulimit -H -c)\"", &directory.path().join("data"));
    let limits = std::fs::read_to_string(server.process.folder().join("limits")).expect("a process");
    let line = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit");
    assert_eq!(line.split_whitespace().nth(4), Some("0"), "{line}");
}
