//! What the commands send over the network, to whom, and what they print of what comes back.

use crate::operator::{Both, KEY};
use crate::process::{BINARY, command};
use crate::tls::Files;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};

/// A server that gives every request the same answer, and tells what it was sent.
pub struct Peer {
    pub url: String,
    requests: Receiver<String>,
}

impl Peer {
    fn start(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (send, requests) = channel();
        let answer = answer.to_owned();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
                // The test may have ended; so may the client.
                let _ = send.send(head.join("\n"));
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, requests }
    }

    /// One with a body of JSON.
    pub fn json(status: &str, body: &str) -> Self {
        let length = body.len();
        Self::start(&format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"))
    }

    /// Everything that it was sent so far.
    fn seen(&self) -> Vec<String> {
        self.requests.try_iter().collect()
    }
}

/// A command of the operator's, without variables for proxies.
fn lendpay(arguments: &[&str], url: &str) -> Command {
    let mut command = command(BINARY);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.args(arguments).args(["--operator-url", url, "--operator-key", KEY]);
    command
}

/// The exit code, and what was printed on standard output and standard error.
fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_operators_key_goes_to_no_proxy_when_the_service_is_on_this_machine() {
    let service = Peer::json("200 OK", r#"{"items":[],"next":null}"#);
    let proxy = Peer::json("200 OK", r#"{"items":[],"next":null}"#);
    let mut events = lendpay(&["events"], &service.url);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        events.env(name, &proxy.url);
    }
    let (code, _, stderr) = ended(events.output().expect("the binary runs"));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(proxy.seen(), Vec::<String>::new());
    assert!(service.seen()[0].contains(KEY));
}

#[test]
fn the_operators_key_does_not_follow_a_redirect() {
    let other = Peer::json("200 OK", r#"{"items":[],"next":null}"#);
    let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {}/\r\ncontent-length: 0\r\n\r\n", other.url);
    let service = Peer::start(&redirect);
    let (code, _, stderr) = ended(lendpay(&["events"], &service.url).output().expect("the binary runs"));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("302"), "{stderr}");
    assert_eq!(other.seen(), Vec::<String>::new());
}

#[test]
fn the_operators_key_is_sent_in_plain_only_to_this_machine() {
    for url in ["http://192.0.2.1:8081", "http://localhost.example", "ftp://127.0.0.1", "127.0.0.1:8081"] {
        let (code, _, stderr) = ended(lendpay(&["events"], url).output().expect("the binary runs"));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("https://"), "{stderr}");
    }
}

#[test]
fn no_control_character_from_the_network_reaches_the_terminal() {
    // What moves the cursor (C0, DEL, C1), and what turns the order of letters.
    let hostile = r"x\u001b[2J\u0007\r\n\u007f\u009b31m\u202e\u2066y";
    let raw = "x\u{9b}31m\u{202e}y";
    let no_json = format!("\u{1b}[2J{raw}");
    let refusal =
        format!(r#"{{"title":"{hostile}","message":"{hostile}","errors":["{hostile}"],"operationId":"{hostile}"}}"#);
    let event = format!(r#"{{"items":[{{"sequence":1,"type":"{hostile}","{hostile}":"{raw}"}}],"next":null}}"#);
    for (status, body, code) in
        [("400 Bad Request", refusal.as_str(), 1), ("200 OK", &event, 0), ("500 X", &no_json, 1)]
    {
        for arguments in [&["events"][..], &["events", "--json"], &["events", "--csv"]] {
            let service = Peer::json(status, body);
            let events = lendpay(arguments, &service.url).output().expect("the binary runs");
            let (ended, stdout, stderr) = ended(events);
            assert_eq!(ended, Some(code), "{stderr}");
            let printed = stdout + &stderr;
            let moves =
                |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2066}';
            assert!(!printed.contains(moves), "{printed:?}");
            assert!(printed.lines().count() <= 2, "{printed:?}");
        }
    }
}

#[test]
fn commands_speak_tls_and_trust_the_authority_that_they_are_given() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = Files::new(directory.path());
    let both = Both::start(&directory.path().join("data"), &files.arguments());
    let url = both.url.replace("http://127.0.0.1", "https://localhost");
    let authority = files.certificate.display().to_string();
    for arguments in [&["partner", "add", "Northwind"][..], &["export", "-", "--running"]] {
        let trusting = lendpay(&[arguments, &["--ca", &authority]].concat(), &url);
        let (code, stdout, stderr) = ended({ trusting }.output().expect("the binary runs"));
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains("Northwind"), "{stdout}");
        let (code, _, stderr) = ended(lendpay(arguments, &url).output().expect("the binary runs"));
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("certificate"), "{stderr}");
    }
    for file in ["/nowhere", files.key.to_str().expect("UTF-8")] {
        let (code, _, stderr) = ended(lendpay(&["events", "--ca", file], &url).output().expect("the binary runs"));
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(file) && stderr.contains("--ca"), "{stderr}");
    }
}

#[test]
fn an_export_is_not_written_to_a_terminal() {
    let service = Peer::json("200 OK", "\u{1b}[2J");
    let export = format!("'{BINARY}' export - --running --operator-url {} --operator-key {KEY}", service.url);
    let mut script = command("script");
    // script(1) runs it on a terminal.
    script.args(["-qec", &export, "/dev/null"]).env("SHELL", "/bin/sh");
    let (code, screen, _) = ended(script.output().expect("script runs"));
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("not written to a terminal") && !screen.contains('\u{1b}'), "{screen:?}");
    assert_eq!(service.seen(), Vec::<String>::new());
}
