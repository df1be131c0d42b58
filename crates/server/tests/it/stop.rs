//! Stopping in order.

use crate::data::fill;
use crate::operator::Both;
use crate::process::{Server, client};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

#[test]
fn a_request_that_runs_is_finished_and_new_connections_are_refused() {
    for signal in ["TERM", "INT"] {
        let directory = tempfile::tempdir().expect("a directory");
        let data = fill(directory.path(), 1);
        let mut server = Server::start(directory.path(), &[]);
        let mut running = TcpStream::connect(&server.address).expect("a connection");
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: x\r\nX-Service-ApiKey: {}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
            data.accept_path(data.offers[0]),
            data.key
        );
        running.write_all(head.as_bytes()).expect("a write");
        let mut interim = [0; 25];
        running.read_exact(&mut interim).expect("the server asks for the body: the request runs");

        server.process.signal(signal);
        server.process.wait_for("stopping");
        running.write_all(b"{}").expect("a write");
        let mut answer = String::new();
        running.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(TcpStream::connect(&server.address).is_err());

        let (status, log) = server.process.wait();
        assert_eq!(status.code(), Some(0), "{log:#?}");
    }
}

#[test]
fn readiness_goes_first_and_partners_are_still_served() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let mut both = Both::start(directory.path(), &["--stop-delay", "600"]);
    let client = client();
    let ready = || client.get(format!("{}/health/ready", both.url)).call().expect("an answer").status();
    assert_eq!(ready(), 200);
    both.server.process.signal("TERM");
    both.server.process.wait_for("stopping");
    let answer = client.get(format!("{}/health/ready", both.url)).call();
    let mut answer = answer.expect("an answer");
    assert_eq!(answer.status(), 503);
    assert!(answer.body_mut().read_to_string().expect("a text").contains("the service is stopping"));
    let key = [("x-service-apikey", data.key.as_str())];
    assert_eq!(both.server.post(&data.accept_path(data.offers[0]), &key, "").expect("an answer").status, 200);
    // Whoever cannot wait asks again.
    both.server.process.signal("TERM");
    assert_eq!(both.server.process.wait().0.code(), Some(0));
}

#[test]
fn a_second_start_on_the_same_data_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let key = [("x-service-apikey", data.key.as_str())];
    let mut answers = Vec::new();
    for _ in 0..2 {
        let server = Server::start(directory.path(), &[]);
        let reply = server.post(&data.accept_path(data.offers[0]), &key, "").expect("an answer");
        assert_eq!(reply.status, 200);
        answers.push(reply.body);
        server.process.signal("TERM");
        assert_eq!(server.process.wait().0.code(), Some(0));
    }
    assert_eq!(answers[0], answers[1], "the second accept finds what the first one did");
}
