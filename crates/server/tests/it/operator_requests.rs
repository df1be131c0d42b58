//! What became of requests, from the command line: events by filter, one operation, health.

use crate::data::fill;
use crate::operator::{Both, KEY};
use crate::outgoing::Peer;
use crate::process::{BINARY, command};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
}

#[test]
fn events_are_narrowed_and_followed_by_filters() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 600);
    let both = Both::start(directory.path(), &[]);
    let key = [("x-service-apikey", data.key.as_str())];
    let accept = |n: usize| both.server.post(&data.accept_path(data.offers[n]), &key, "").expect("an answer").status;

    let mut follow = both.command(&["events", "--follow", "--json", "--type", "offer.accepted,buyer.created"]);
    let mut follow = follow.args(["--limit", "3"]).stdout(Stdio::piped()).spawn().expect("the binary runs");
    let mut lines = BufReader::new(follow.stdout.take().expect("piped")).lines();
    assert_eq!(accept(7), 200);
    let mut next = || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("UTF-8")).expect("JSON") };
    assert_eq!(next()["offerId"], data.offers[7].to_string(), "past more than a page of others");
    let buyer = both.server.post("/payments/buyers", &key, "{}").expect("an answer").body["id"].clone();
    assert_eq!(next()["buyerId"], buyer);
    assert_eq!(accept(8), 200);
    assert_eq!(next()["offerId"], data.offers[8].to_string());
    assert!(follow.wait().expect("a child").success(), "at its limit");

    let found = |arguments: &[&str]| both.run_json(&[&["events"], arguments].concat());
    let offer = data.offers[7].to_string();
    assert_eq!(types(&found(&["--offer", &offer])), ["offer.created", "offer.accepted"]);
    assert_eq!(types(&found(&["--type", "offer.accepted", "--type", "buyer.created"])).len(), 3);
    assert_eq!(types(&found(&["--buyer", buyer.as_str().expect("an id")])), ["buyer.created"]);
    assert_eq!(found(&["--application", &data.application.to_string(), "--type", "offer.accepted"]).len(), 2);
    assert_eq!(found(&["--partner", "Test", "--limit", "501"]).len(), 501);
    // The offers were put in 2023, and a partner, a key and an application before them.
    assert_eq!(found(&["--until", "2024-01-01"]).len(), 603);
    assert_eq!(found(&["--from", "2024-01-01"]).len(), 3);
    assert!(both.fails(&["events", "--offer", "x"], KEY).contains("is no id"));
}

#[test]
fn an_operation_is_looked_up_by_its_id() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let both = Both::start(directory.path(), &[]);
    let look_up = |id: &str, more: &[&str]| {
        let output = both.command(&[&["operation", id], more].concat()).output().expect("the binary runs");
        assert!(output.status.success());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (text(output.stdout), text(output.stderr))
    };
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traceparent = format!("00-{trace}-00f067aa0ba902b7-01");
    let headers = [("x-service-apikey", data.key.as_str()), ("traceparent", &traceparent)];
    assert_eq!(both.server.post(&data.accept_path(data.offers[0]), &headers, "").expect("an answer").status, 200);
    let (table, told) = look_up(trace, &[]);
    assert!(table.contains("offer.accepted") && table.lines().count() == 2 && told.is_empty(), "{table}{told}");
    let (json, _) = look_up(&trace.to_uppercase(), &["--json"]);
    let found: Value = serde_json::from_str(&json).expect("one line of JSON");
    let event = &found["events"]["items"][0];
    assert_eq!((&event["operationId"], &event["offerId"]), (&trace.into(), &data.offers[0].to_string().into()));

    let refused = both.server.post(&data.accept_path(data.offers[0]), &[], "").expect("an answer");
    let id = refused.body["operationId"].as_str().expect("an id");
    let (record, told) = look_up(id, &[]);
    let offer = format!("OFFER         {}", data.offers[0]);
    for line in ["METHOD        POST", "STATUS        401", "ERROR         InvalidApiKey", "ACTOR         -", &offer] {
        assert!(record.lines().any(|found| found == line), "{line}: {record}");
    }
    assert!(told.is_empty() && !record.contains("SEQUENCE"), "{record}{told}");

    let (nothing, told) = look_up(&trace.replace('4', "5"), &[]);
    assert!(nothing.is_empty() && told.contains("Nothing is kept") && told.contains("\"operation\":\"5bf"), "{told}");
    let wrong = both.command(&["operation", "x"]).output().expect("the binary runs");
    assert!(wrong.status.code() == Some(2) && String::from_utf8_lossy(&wrong.stderr).contains("32 hexadecimal"));
}

#[test]
fn health_says_whether_the_service_is_ready_and_needs_no_key() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let health = |url: &str, more: &[&str]| {
        let output = command(BINARY).args(["health", "--operator-url", url]).args(more).output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(health(&both.url, &[]), (Some(0), format!("The service at {} is ready.\n", both.url), String::new()));
    assert_eq!(health(&both.url, &["--json"]), (Some(0), "{\"status\":\"ready\"}\n".to_owned(), String::new()));
    let body = r#"{"status":"unavailable","reason":"the disk\u001b[2J is full"}"#;
    for more in [&[][..], &["--json"]] {
        let (code, stdout, stderr) = health(&Peer::json("503 X", body).url, more);
        assert!(code == Some(1) && stderr.contains("is not ready: the disk [2J is full"), "{stderr}");
        assert!(!stdout.contains('\u{1b}') && stdout.is_empty() != more.contains(&"--json"), "{stdout}");
    }
    let (code, _, stderr) = health(&Peer::json("200 OK", "{}").url, &[]);
    assert!(code == Some(1) && stderr.contains("not as a Lendpay service"), "{stderr}");
    let (code, _, stderr) = health("http://127.0.0.1:1", &[]);
    assert!(code == Some(1) && stderr.contains("cannot be reached at http://127.0.0.1:1"), "{stderr}");
}

/// What no record may hold.
const SECRETS: [&str; 3] = ["GB33BUKB20201555555556", "Secret Ltd", "key-of-nobody"];

/// Makes a malformed and an unauthenticated call; their operation ids.
fn refused_calls(both: &Both, key: &str) -> [String; 2] {
    let [iban, name, wrong] = SECRETS;
    let body = format!(r#"{{"name":"{name}","type":"x","bankAccount":{{"iban":"{iban}"}}}}"#);
    [(key, 400), (wrong, 401)].map(|(key, status)| {
        let answer = both.server.post("/payments/buyers", &[("x-service-apikey", key)], &body).expect("an answer");
        assert_eq!(answer.status, status, "{}", answer.body);
        answer.body["operationId"].as_str().expect("an id").to_owned()
    })
}

/// The one call that is known of each operation.
fn found(both: &Both, ids: &[String]) -> Vec<Value> {
    let one = |id: &String| {
        let found = both.run_json(&["operation", id]).remove(0);
        assert_eq!(found["calls"].as_array().map(Vec::len), Some(1), "{found}");
        found["calls"][0].clone()
    };
    ids.iter().map(one).collect()
}

#[test]
fn refused_calls_are_found_after_a_restart_and_a_kill_and_hold_nothing_that_was_sent() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let both = Both::start(directory.path(), &[]);
    let mut ids = refused_calls(&both, &data.key).to_vec();
    both.server.process.signal("TERM");
    assert_eq!(both.server.process.wait().0.code(), Some(0));

    let both = Both::start(directory.path(), &[]);
    ids.extend(refused_calls(&both, &data.key));
    let before = found(&both, &ids);
    both.server.process.signal("KILL");
    drop(both);
    let both = Both::start(directory.path(), &["--operations-kept", "1h"]);
    let calls = found(&both, &ids);
    assert_eq!(calls, before);
    let statuses: Vec<_> = calls.iter().map(|call| call["status"].as_u64().expect("a number")).collect();
    assert_eq!(statuses, [400, 401, 400, 401]);
    assert!(calls[0]["errors"].to_string().contains("bankAccount.iban: "), "{}", calls[0]);
    assert!(both.metrics().contains("\nlendpay_operations_dropped_total 0\n"));

    let mut files = 0;
    for entry in std::fs::read_dir(directory.path().join("calls")).expect("a directory") {
        let path = entry.expect("readable").path();
        let held = String::from_utf8_lossy(&std::fs::read(&path).expect("readable")).into_owned();
        for secret in SECRETS.iter().chain([&data.key.as_str()]) {
            assert!(!held.contains(secret), "{secret} in {}", path.display());
        }
        files += usize::from(held.contains("/payments/buyers"));
    }
    assert_eq!(files, 2, "one of the partner and one of nobody");
    drop(both);

    let both = Both::start(directory.path(), &["--operations-kept", "1s"]);
    refused_calls(&both, &data.key);
    while both.run_json(&["operation", &ids[3]])[0]["calls"] != serde_json::json!([]) {}
}

#[test]
fn what_is_refused_before_it_can_be_read_is_found_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let mut stream = TcpStream::connect(&both.server.address).expect("a connection");
    stream.write_all(b"what is this\r\n\r\n").expect("a write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let id = answer.lines().find_map(|line| line.strip_prefix("x-request-id: ")).expect("an id");
    let call = found(&both, &[id.to_owned()]).remove(0);
    assert_eq!(
        (&call["status"], &call["errorCode"], &call["route"]),
        (&400.into(), &"BadRequest".into(), &Value::Null)
    );
}
