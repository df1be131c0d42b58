//! `lendpay sandbox`: lost replies, the clock, the reset, and what keeps it apart from real services.

use crate::process::{BINARY, Process, Reply, Server, client, command, run};
use chrono::DateTime;
use lendpay_api::sandbox::{APPLICATION, Call, KEY, OFFERS, ORDINARY, Way};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A sandbox that keeps its data in a directory.
pub fn start(data: &Path, more: &[&str]) -> Server {
    let mut sandbox = command(BINARY);
    sandbox.args(["sandbox", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(more).stdout(Stdio::null());
    Server::ready(Process::spawn(sandbox))
}

/// Sends a request on a connection of its own.
pub fn send(address: &str, call: &Call) -> Result<Reply, ureq::Error> {
    let request = ureq::http::Request::builder().method(call.method).uri(format!("http://{address}{}", call.target));
    let request = call.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
    let mut response = match call.method {
        "GET" => client().run(request.body(()).expect("a request")),
        _ => client().run(request.body(call.body).expect("a request")),
    }?;
    let text = response.body_mut().read_to_string()?;
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok(Reply { status: response.status().as_u16(), headers: response.headers().clone(), body })
}

/// The request of an operation that succeeds, with more headers.
fn ordinary(operation: &str, headers: &[(&'static str, &str)]) -> Call {
    let ordinary = ORDINARY.iter().find(|known| known.operation == operation).expect("an operation");
    let mut call = ordinary.call(&Way { operations: &[], status: 200, code: "", differs: &[] });
    call.headers.extend(headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
    call
}

fn get(server: &Server, target: &str, key: &str) -> Reply {
    let headers = vec![("X-Service-ApiKey", key.to_owned())];
    send(&server.address, &Call { method: "GET", target: target.to_owned(), headers, body: "" }).expect("an answer")
}

fn items(server: &Server, target: &str) -> Vec<Value> {
    get(server, target, KEY).body["items"].as_array().expect("a list").clone()
}

fn offer(n: usize) -> String {
    format!("/lending/applications/{APPLICATION}/offers/{}", OFFERS[n].id)
}

/// Calls a running sandbox from the command line.
fn sandbox(server: &Server, arguments: &[&str]) -> crate::process::Ended {
    let url = format!("http://{}", server.address);
    run(&[&["sandbox"], arguments, &["--sandbox-url", &url]].concat())
}

fn stop(server: Server) {
    server.process.signal("TERM");
    let (status, log) = server.process.wait();
    assert_eq!(status.code(), Some(0), "{log:#?}");
}

#[test]
fn what_is_repeated_after_a_lost_reply_is_done_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = start(directory.path(), &[]);
    for lost in ["lost-reply", "outcome-unknown"] {
        let (asked, key) = (("X-Sandbox", lost), ("Idempotency-Key", lost));
        for call in [ordinary("AcceptOffer", &[asked]), ordinary("CreateBuyer", &[asked, key])] {
            match send(&server.address, &call) {
                Ok(reply) => assert_eq!((reply.status, lost), (503, "outcome-unknown"), "{}", reply.body),
                Err(error) => assert_eq!(lost, "lost-reply", "{error}"),
            }
        }
        let accepted = send(&server.address, &ordinary("AcceptOffer", &[])).expect("an answer");
        assert_eq!((accepted.status, &accepted.body["status"]), (200, &"CustomerAccepted".into()));
        let created = send(&server.address, &ordinary("CreateBuyer", &[key])).expect("an answer");
        assert_eq!((created.status, &created.headers["idempotency-replayed"]), (201, &"true".parse().expect("ASCII")));
    }
    let accepted = items(&server, "/events?type=offer.accepted");
    assert_eq!(accepted.iter().filter(|event| event["offerId"] == OFFERS[0].id).count(), 1, "{accepted:#?}");
    let buyers = items(&server, "/payments/buyers");
    assert_eq!(buyers.iter().filter(|buyer| buyer["name"] == "Northwind Bicycles Ltd").count(), 2, "{buyers:#?}");
}

#[test]
fn a_slow_reply_comes_and_an_offer_expires_while_one_waits() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = start(directory.path(), &[]);
    let begin = Instant::now();
    let slow = send(&server.address, &ordinary("AcceptOffer", &[("X-Sandbox", "slow-reply")])).expect("an answer");
    assert_eq!(slow.status, 200);
    assert!(begin.elapsed() >= Duration::from_secs(5), "{:?}", begin.elapsed());
    // It was made before the sandbox was ready, and expires 5 s later.
    assert_eq!(get(&server, &offer(2), KEY).body["status"], "Expired");
    let unknown = send(&server.address, &ordinary("AcceptOffer", &[("X-Sandbox", "what")])).expect("an answer");
    assert_eq!(unknown.status, 400);
    assert!(unknown.body["errors"][0].as_str().is_some_and(|text| text.contains("lost-reply")), "{}", unknown.body);
}

#[test]
fn the_clock_goes_forward_and_stays_moved_until_the_reset() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = start(directory.path(), &[]);
    let key = "lendpay_sandbox_key_for_30_days";
    assert_eq!(get(&server, &offer(0), key).body["status"], "Offered");
    let moved = sandbox(&server, &["clock", "+31d"]);
    assert!(moved.stdout.starts_with("The sandbox's clock is at 2"), "{}{}", moved.stdout, moved.stderr);
    let late = |server: &Server| {
        assert_eq!(get(server, &offer(0), key).status, 401);
        assert_eq!(get(server, &offer(0), KEY).body["status"], "Expired");
        assert_eq!(get(server, "/sandbox/clock", KEY).body["aheadSeconds"], 31 * 24 * 60 * 60);
    };
    late(&server);
    let time = |time: &Value| DateTime::parse_from_rfc3339(time.as_str().expect("a time")).expect("RFC 3339");
    let before = time(&get(&server, "/sandbox/clock", KEY).body["now"]);
    let created = send(&server.address, &ordinary("CreateBuyer", &[])).expect("an answer").body;
    let after = time(&get(&server, "/sandbox/clock", KEY).body["now"]);
    assert!((before..=after).contains(&time(&created["createdAt"])), "{created}");

    for bad in ["", "?by=", "?by=-1d", "?by=tomorrow", "?by=40000d"] {
        let call = Call { method: "POST", target: format!("/sandbox/clock{bad}"), headers: Vec::new(), body: "" };
        let reply = send(&server.address, &call).expect("an answer");
        assert_eq!(reply.status, 400, "{bad}: {}", reply.body);
        assert!(reply.body["errors"][0].as_str().is_some_and(|text| text.starts_with("by: ")), "{}", reply.body);
    }
    let ended = sandbox(&server, &["clock", "yesterday"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("write a number and a unit"), "{}", ended.stderr);

    stop(server);
    let server = start(directory.path(), &[]);
    late(&server);
    assert_eq!(sandbox(&server, &["reset"]).stdout, "The sandbox is as it was in the beginning.\n");
    assert_eq!(get(&server, &offer(0), key).body["status"], "Offered");
    assert_eq!(get(&server, "/sandbox/clock", KEY).body["aheadSeconds"], 0);
    assert_eq!(items(&server, "/payments/buyers").len(), 2);
    stop(server);
    assert_eq!(get(&start(directory.path(), &[]), "/sandbox/clock", KEY).body["aheadSeconds"], 0);
}

#[test]
fn a_sandbox_that_was_killed_before_it_had_all_its_contents_is_made_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = start(directory.path(), &[]);
    assert_eq!(send(&server.address, &ordinary("AcceptOffer", &[])).expect("an answer").status, 200);
    stop(server);
    std::fs::write(directory.path().join("sandbox.json"), r#"{"complete":false,"aheadSeconds":0}"#).expect("written");
    assert_eq!(get(&start(directory.path(), &[]), &offer(0), KEY).body["status"], "Offered");
}

#[test]
fn sandboxes_and_real_services_refuse_each_others_directories_and_keys() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = |name: &str| directory.path().join(name);
    let store = |name: &str| format!("sled:{}", place(name).display());
    stop(start(&place("sandbox"), &[]));
    stop(Server::start(&place("real"), &[]));
    let export = place("export").display().to_string();
    assert!(run(&["export", &export, "--store", &store("sandbox")]).status.success());

    for arguments in [
        &["serve", "--listen", "127.0.0.1:0", "--store", &store("sandbox")][..],
        &["import", &export, "--merge", "--store", &store("sandbox")],
    ] {
        let ended = run(arguments);
        assert_eq!(ended.status.code(), Some(1));
        assert!(ended.stderr.contains("is the directory of a sandbox"), "{}", ended.stderr);
    }
    let ended = run(&["sandbox", "--listen", "127.0.0.1:0", "--data", &place("real").display().to_string()]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("such as a real store"), "{}", ended.stderr);
    stop(Server::start(&place("real"), &[]));

    // Even where the key is stored.
    assert!(run(&["import", &export, "--store", &store("imported")]).status.success());
    let server = Server::start(&place("imported"), &[]);
    let refused = get(&server, &offer(0), KEY);
    assert_eq!((refused.status, &refused.body["errorCode"]), (401, &"InvalidApiKey".into()));
    assert!(!refused.headers.contains_key("x-sandbox"));
    assert_eq!(get(&server, "/sandbox", KEY).status, 404);
}

#[test]
fn every_response_says_that_it_is_a_sandboxs() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = start(directory.path(), &[]);
    for (method, target, status) in [
        ("GET", "/", 200),
        ("GET", "/guides/errors", 200),
        ("GET", "/docs", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/sandbox/reset", 405),
        ("OPTIONS", "/events", 204),
    ] {
        let mut stream = TcpStream::connect(&server.address).expect("a connection");
        let request = format!("{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let answer = read(stream);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("\r\nx-sandbox: true\r\n"), "{answer}");
        // A page of another origin may ask for an answer.
        assert_eq!(answer.contains("X-Service-ApiKey, X-Sandbox\r\n"), method == "OPTIONS", "{answer}");
    }
    let mut stream = TcpStream::connect(&server.address).expect("a connection");
    stream.write_all(b"what is this\r\n\r\n").expect("sent");
    stream.shutdown(Shutdown::Write).expect("shut down");
    let answer = read(stream);
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("\r\nx-sandbox: true\r\n"), "{answer}");
    server
        .process
        .wait_for("this is a sandbox: its keys are public, and anybody who reaches it can change and reset it");
}

fn read(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}
