//! What is refused before an endpoint sees it: even then the answer has the contract's shape and headers.

use crate::data::fill;
use crate::operator::Both;
use crate::process::{Server, client, post};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

/// Sends bytes and reads to the end of the connection.
fn exchange(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("a connection");
    // The server may answer and close before everything is sent.
    let _ = stream.write_all(bytes);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer in UTF-8");
    answer
}

/// The answer has this status, the headers of every answer, and an error body for `lending` or not.
pub fn assert_refused(answer: &str, status: u16, lending: bool) -> Value {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    let header = |name: &str| {
        let mut values =
            head.lines().filter_map(|line| line.split_once(": ")).filter(|(n, _)| n.eq_ignore_ascii_case(name));
        let value = values.next().unwrap_or_else(|| panic!("no {name}: {answer}")).1;
        assert_eq!(values.next(), None, "{answer}");
        value
    };
    assert_eq!(header("access-control-allow-origin"), "*");
    assert_eq!(header("content-type"), "application/json");
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert_eq!(body["operationId"], header("x-request-id"));
    let mut fields = vec!["title", "message", "errors", "date", "operationId"];
    if lending {
        fields.insert(2, "errorCode");
    }
    assert_eq!(body.as_object().expect("an object").keys().collect::<Vec<_>>(), fields);
    body
}

#[test]
fn what_is_not_http_or_has_too_long_a_head() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start(directory.path(), &[]);
    assert_refused(&exchange(&server, b"what is this\r\n\r\n"), 400, false);
    assert_refused(&exchange(&server, b"POST /payments/buyers HTTP/1.1\r\nno colon\r\n\r\n"), 400, false);
    let long = "a".repeat(40_000);
    let head = format!("POST /payments/buyers HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n");
    assert_refused(&exchange(&server, head.as_bytes()), 431, false);
    let many = "X: y\r\n".repeat(200);
    assert_refused(&exchange(&server, format!("POST / HTTP/1.1\r\nHost: x\r\n{many}\r\n").as_bytes()), 431, false);
}

#[test]
fn whoever_has_no_key_and_goes_on_asking_gets_429_but_not_who_has_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let both = Both::start(directory.path(), &["--log", "warn,lendpay::serve=info"]);
    let server = &both.server;
    let (client, path) = (client(), data.accept_path(data.offers[0]));
    let ask = |key: &str| post(&client, &server.address, &path, &[("x-service-apikey", key)], "").expect("an answer");
    let mut statuses = Vec::new();
    // Some come back while this runs: at most as many again.
    while statuses.last() != Some(&429) && statuses.len() < 2_000 {
        statuses.push(ask("wrong").status);
    }
    assert!(statuses.len() > 1_000, "{}", statuses.len());
    assert!(statuses[..statuses.len() - 1].iter().all(|&status| status == 401));
    let refused = ask("wrong");
    if refused.status == 429 {
        assert_eq!(refused.body["errorCode"], "RateLimited");
        assert_eq!(refused.headers["retry-after"], "1");
    }
    let reply = ask(&data.key);
    assert_eq!(reply.status, 200, "whoever shares the address and has a key is not locked out");
    assert_eq!(reply.headers["ratelimit-policy"], "\"partner\";q=2000;w=300");
    assert_eq!(reply.headers["ratelimit"], "\"partner\";r=1999;t=1");
    let metrics = both.metrics();
    let count = |over: &str| {
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix(&format!(r#"lendpay_rate_limited_total{{over="{over}"}} "#)));
        line.and_then(|count| count.parse::<u64>().ok()).expect("a count")
    };
    assert_eq!(count("partner"), 0);
    assert!((1..=2).contains(&count("address")), "{}", count("address"));
}

#[test]
fn a_head_or_a_body_that_drips_gets_408() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let server = Server::start(directory.path(), &["--request-timeout", "1"]);
    assert_refused(&exchange(&server, b"POST /payments/buyers HTTP/1.1\r\nHost: x\r\n"), 408, false);
    let key = format!("X-Service-ApiKey: {}\r\n", data.key);
    let body = format!("POST /payments/buyers HTTP/1.1\r\nHost: x\r\n{key}Content-Length: 9\r\n\r\n{{");
    assert_refused(&exchange(&server, body.as_bytes()), 408, false);
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: x\r\n{key}Transfer-Encoding: chunked\r\n\r\n1\r\n",
        data.accept_path(data.offers[0])
    );
    let refused = assert_refused(&exchange(&server, head.as_bytes()), 408, true);
    assert_eq!(refused["errorCode"], "Timeout");
}

#[test]
fn a_body_of_64_kib_and_one_byte_gets_413_with_and_without_its_length() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 2);
    let server = Server::start(directory.path(), &[]);
    for size in [65_537, 300_000] {
        let body = "x".repeat(size);
        let with = format!(
            "POST {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n{body}",
            data.accept_path(data.offers[0])
        );
        assert_eq!(assert_refused(&exchange(&server, with.as_bytes()), 413, true)["errorCode"], "RequestTooLarge");
        let without = format!(
            "POST /payments/buyers HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Service-ApiKey: {}\r\n\
             Transfer-Encoding: chunked\r\n\r\n\
             {size:x}\r\n{body}\r\n0\r\n\r\n",
            data.key
        );
        assert_refused(&exchange(&server, without.as_bytes()), 413, false);
    }
    let key = [("x-service-apikey", data.key.as_str())];
    let fits = server.post(&data.accept_path(data.offers[0]), &key, &"x".repeat(65_536)).expect("an answer");
    assert_eq!(fits.status, 200, "{}", fits.body);
    assert_eq!(fits.headers["access-control-allow-origin"], "*");
}

#[test]
fn a_chunk_that_is_malformed_gets_400_and_the_next_connection_works() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let server = Server::start(directory.path(), &[]);
    let head = format!(
        "POST /payments/buyers HTTP/1.1\r\nHost: x\r\nX-Service-ApiKey: {}\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n",
        data.key
    );
    assert_refused(&exchange(&server, head.as_bytes()), 400, false);
    let key = [("x-service-apikey", data.key.as_str())];
    assert_eq!(server.post("/payments/buyers", &key, "{}").expect("an answer").status, 201);
}

#[test]
fn a_request_without_one_valid_host_gets_400_on_both_listeners() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 1);
    let both = Both::start(directory.path(), &[]);
    let operator = both.url.trim_start_matches("http://");
    for hosts in ["", "Host: x\r\nHost: x\r\n", "Host:\r\n", "Host: a b\r\n", "Host: user@x\r\n", "Host: x:99999\r\n"] {
        let ask = |address: &str, path: &str| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            let head = format!("GET {path} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("takes it");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("an answer");
            answer
        };
        assert_refused(&ask(&both.server.address, "/docs"), 400, false);
        assert_refused(&ask(&both.server.address, "/lending/applications"), 400, true);
        let answer = ask(operator, "/health/live");
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("\"errorCode\":\"BadRequest\""), "{answer}");
    }
    let old = exchange(&both.server, b"GET /openapi.json HTTP/1.0\r\n\r\n");
    assert!(old.starts_with("HTTP/1.0 200 "), "HTTP/1.0 knows no Host");
}

#[test]
fn a_client_that_closes_its_side_after_the_request_is_answered() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let server = Server::start(directory.path(), &[]);
    for _ in 0..20 {
        let mut stream = TcpStream::connect(&server.address).expect("a connection");
        let (head, key) = ("POST /payments/buyers HTTP/1.1\r\nHost: x\r\n", &data.key);
        let request = format!("{head}X-Service-ApiKey: {key}\r\nContent-Length: 2\r\n\r\n{{}}");
        stream.write_all(request.as_bytes()).expect("takes it");
        stream.shutdown(Shutdown::Write).expect("half closed");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer:?}");
    }
}

#[test]
fn who_has_no_key_is_told_before_the_body_and_gets_to_read_it() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 1);
    let server = Server::start(directory.path(), &[]);
    let head = "POST /payments/buyers HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n";
    // Neither waits for the body, nor asks for it.
    for expect in ["", "Expect: 100-continue\r\n"] {
        let answer = exchange(&server, format!("{head}{expect}\r\n").as_bytes());
        assert_refused(&answer, 401, false);
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
    // Whoever sends it nevertheless sees the answer, and a short body does not cost the connection.
    assert_refused(&exchange(&server, format!("{head}\r\n{}", "x".repeat(59_999)).as_bytes()), 401, false);
    let short =
        |more: &str| format!("POST /payments/buyers HTTP/1.1\r\nHost: x\r\n{more}Content-Length: 2\r\n\r\n{{}}");
    let answers = exchange(&server, [short(""), short(""), short("Connection: close\r\n")].concat().as_bytes());
    assert_eq!(answers.matches("HTTP/1.1 401 ").count(), 3, "{answers}");
}
