//! Starts that cannot succeed: one clear sentence, exit code 1 (2 for a wrong command line), no backtrace.

use crate::data::fill;
use crate::process::{BINARY, Ended, Server, arguments, command, run};
use std::os::unix::fs::FileExt as _;

fn serve(data: &std::path::Path) -> Ended {
    let arguments = arguments(data);
    run(&arguments.each_ref().map(String::as_str))
}

/// The run failed with one sentence that holds `words`.
fn assert_sentence(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", ended.stderr);
    assert!(lines[0].starts_with("lendpay: "), "{}", ended.stderr);
    for word in words {
        assert!(lines[0].contains(word), "{word}: {}", ended.stderr);
    }
}

#[test]
fn a_second_process_on_the_same_data() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 1);
    let server = Server::start(directory.path(), &[]);
    assert_sentence(&serve(directory.path()), &["in use by another process", &directory.path().display().to_string()]);
    drop(server);
}

#[test]
fn a_data_directory_that_cannot_be_written() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let inside = file.path().join("data");
    assert_sentence(&serve(&inside), &["cannot be used", &inside.display().to_string()]);
}

#[test]
fn a_corrupt_log() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 2_000);
    let path = directory.path().join("log");
    let size = std::fs::metadata(&path).expect("the log").len();
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the log");
    for at in (0..size).step_by(4_096) {
        file.write_all_at(&[0xa5; 512], at).expect("a write");
    }
    drop(file);
    assert_sentence(&serve(directory.path()), &["damaged", "lendpay import", &directory.path().display().to_string()]);
}

#[test]
fn an_address_in_use() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let directory = tempfile::tempdir().expect("a directory");
    let store = format!("sled:{}", directory.path().display());
    let ended = run(&["serve", "--listen", &address, "--store", &store]);
    assert_sentence(&ended, &[&address, "--listen"]);
}

#[test]
fn a_misspelt_setting() {
    let output = command(BINARY).arg("serve").env("LENDPAY_LISTNE", "x").output().expect("the binary runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("LENDPAY_LISTNE") && stderr.lines().count() == 1, "{stderr}");
    for (arguments, words) in [
        (&["serve", "--nope"][..], "--nope"),
        (&["serve", "--store", "mysql://x"], "sled:./lendpay-data"),
        (&["serve", "--listen", "8080"], "--listen"),
        (&["serve", "--request-timeout", "0"], "1 to 3600"),
        (&["serve", "--buyer-checks", "some"], "contract"),
        (&[], "Usage"),
    ] {
        let ended = run(arguments);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn help_names_every_flag_and_its_variable() {
    let help = run(&["serve", "--help"]).stdout;
    for word in ["--listen", "LENDPAY_LISTEN", "--store", "LENDPAY_STORE", "--buyer-checks", "--log-format"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn a_start_that_fails_leaves_no_data_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = held.local_addr().expect("an address").to_string();
    for more in [
        &["--listen", &taken][..],
        &["--operator-key", crate::operator::KEY, "--operator-listen", &taken],
        &["--operator-key", "short"],
        &["--operator-listen", "127.0.0.1:0"],
        &["--tls-cert", "/nowhere", "--tls-key", "/nowhere"],
        &["--oauth-issuer", "https://id.example"],
        &["--ca", "/nowhere", "--otlp-endpoint", "http://127.0.0.1:4318"],
    ] {
        let store = format!("sled:{}", data.display());
        let listen = if more[0] == "--listen" { &[][..] } else { &["--listen", "127.0.0.1:0"] };
        assert_sentence(&run(&[&["serve", "--store", &store], listen, more].concat()), &[]);
        assert!(!data.exists(), "{more:?}");
    }
}

#[test]
fn listeners_may_be_named_and_levels_are_checked() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serve = command(BINARY);
    serve.args(["serve", "--listen", "localhost:0", "--store", &format!("sled:{}", directory.path().display())]);
    let server = Server::ready(crate::process::Process::spawn(serve));
    assert!(server.address.starts_with("127.0.0.1:") || server.address.starts_with("[::1]:"), "{}", server.address);
    for level in ["blah=,,", "inof", ""] {
        let ended = run(&["serve", "--log", level]);
        assert_eq!(ended.status.code(), Some(2), "{level}: {}", ended.stderr);
        assert!(ended.stderr.contains("warn,lendpay::request=info"), "{}", ended.stderr);
    }
}
