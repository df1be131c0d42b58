//! `lendpay demo`, as somebody would try it who has just cloned the project.

use crate::process::{BINARY, Process, command};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

struct Demo {
    process: Process,
    screen: Vec<String>,
}

/// Starts a demo that puts temporary files into `temporary`, and reads its screen.
fn start(temporary: &Path, arguments: &[&str]) -> Demo {
    let mut demo = command(BINARY);
    demo.arg("demo").args(arguments).env("TMPDIR", temporary).stdout(Stdio::piped());
    let mut process = Process::spawn(demo);
    let mut screen = Vec::new();
    for line in BufReader::new(process.stdout()).lines().map_while(Result::ok) {
        let last = line.contains("Ctrl-C");
        screen.push(line);
        if last {
            return Demo { process, screen };
        }
    }
    panic!("the demo ended early: {screen:#?} {:#?}", process.wait().1);
}

impl Demo {
    /// Pastes the nth curl line into a shell; returns the status and the body.
    fn paste(&self, n: usize) -> (String, Value) {
        let line = self.screen.iter().filter(|line| line.starts_with("curl ")).nth(n).expect("a curl line");
        let script = format!("{line} -s -w '\\n%{{http_code}}'");
        let output = Command::new("bash").args(["-c", &script]).output().expect("bash runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let (body, status) = text.rsplit_once('\n').expect("a body and a status");
        (status.to_owned(), serde_json::from_str(body).expect("JSON"))
    }
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).expect("a directory").next().is_none()
}

#[test]
fn its_curl_lines_work_when_pasted_and_ctrl_c_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().expect("a directory");
    let demo = start(temporary.path(), &["--listen", "127.0.0.1:0"]);
    let (status, offer) = demo.paste(0);
    assert_eq!((status.as_str(), &offer["status"]), ("200", &Value::from("CustomerAccepted")), "{offer}");
    let (status, buyer) = demo.paste(1);
    assert_eq!((status.as_str(), &buyer["countryCode"]), ("201", &Value::from("GB")), "{buyer}");
    assert!(demo.screen.len() <= 24, "one screen: {:#?}", demo.screen);

    assert!(!is_empty(temporary.path()));
    demo.process.signal("INT");
    let (status, log) = demo.process.wait();
    assert_eq!(status.code(), Some(0), "{log:#?}");
    assert!(is_empty(temporary.path()), "the demo's data is gone");
}

#[test]
fn it_takes_another_free_port_and_says_so() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let temporary = tempfile::tempdir().expect("a directory");
    let demo = start(temporary.path(), &["--listen", &address]);
    assert!(demo.screen.iter().any(|line| line.contains(&format!("{address} is in use"))), "{:#?}", demo.screen);
    assert_eq!(demo.paste(0).0, "200");
}

#[test]
fn data_keeps_the_data_and_a_second_demo_starts_on_it() {
    let temporary = tempfile::tempdir().expect("a directory");
    let kept = temporary.path().join("kept");
    for _ in 0..2 {
        let demo = start(temporary.path(), &["--listen", "127.0.0.1:0", "--data", &kept.display().to_string()]);
        assert_eq!(demo.paste(0).0, "200");
        demo.process.signal("TERM");
        assert_eq!(demo.process.wait().0.code(), Some(0));
        assert!(kept.join("log").exists());
    }
}
