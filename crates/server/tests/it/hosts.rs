//! By which names the operator's side answers: a page whose name was made to resolve to this machine (DNS rebinding) is
//! not one.

use crate::operator::{Both, KEY};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// The status and the body of a request for a target, with these headers.
fn ask(both: &Both, target: &str, headers: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(both.url.trim_start_matches("http://")).expect("a connection");
    let head = format!("GET {target} HTTP/1.1\r\n{headers}X-Operator-Key: {KEY}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("a write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

#[test]
fn the_operators_side_answers_only_for_this_machine_and_for_names_that_are_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--operator-hosts", "ops.example,other.example"]);
    let events = "/operator/events";
    let mine =
        ["localhost", "LOCALHOST:9", "127.0.0.1:8081", "127.0.0.2", "[::1]:8081", "ops.example", "Other.example:1"];
    for host in mine {
        assert_eq!(ask(&both, events, &format!("Host: {host}\r\n")).0, 200, "{host}");
    }
    for path in [
        events,
        "/operator/console",
        "/operator/docs",
        "/operator/openapi.json",
        "/health/live",
        "/metrics",
        "/nowhere",
    ] {
        for host in ["evil.example", "evil.example:8081", "localhost.evil.example", "192.0.2.7", "0.0.0.0:8081"] {
            let (status, body) = ask(&both, path, &format!("Host: {host}\r\n"));
            assert_eq!((status, &body["errorCode"]), (421, &"UnknownHost".into()), "{host}{path}");
            assert!(body["message"].as_str().expect("a text").contains("--operator-hosts"), "{body}");
        }
    }
    // The target's host decides where it has one (RFC 9112, 3.2.2); neither may be strange.
    for (target, host) in [("http://evil.example/metrics", "localhost"), ("http://localhost/metrics", "evil.example")] {
        assert_eq!(ask(&both, target, &format!("Host: {host}\r\n")).0, 421, "{target} {host}");
    }
    // Partners may call by any name.
    let url = format!("http://{}/openapi.json", both.server.address);
    let answer = crate::process::client().get(url).header("host", "api.lender.example").call();
    assert_eq!(answer.expect("an answer").status(), 200);
}

#[test]
fn a_list_of_names_that_is_none_is_refused() {
    for names in ["", "ops.example:8081", "https://ops.example", "a b"] {
        let ended = crate::process::run(&["serve", "--operator-hosts", names]);
        assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("--operator-hosts"), "{}", ended.stderr);
    }
}
