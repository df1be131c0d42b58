//! What became of requests, from the command line: events by filter, one operation, health.

use crate::data::fill;
use crate::operator::{Both, KEY};
use crate::outgoing::Peer;
use crate::process::{BINARY, command};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
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
    assert!(table.contains("offer.accepted") && table.lines().count() == 2, "{table}");
    assert!(told.contains("only in the service's log"), "{told}");
    let (json, _) = look_up(&trace.to_uppercase(), &["--json"]);
    let event: Value = serde_json::from_str(&json).expect("one line of JSON");
    assert_eq!((&event["operationId"], &event["offerId"]), (&trace.into(), &data.offers[0].to_string().into()));

    let refused = both.server.post(&data.accept_path(data.offers[0]), &[], "").expect("an answer");
    let id = refused.body["operationId"].as_str().expect("an id");
    let (table, told) = look_up(id, &[]);
    assert_eq!(table.lines().count(), 1, "only the heading: {table}");
    assert!(told.contains("changed nothing") && told.contains(&format!("\"operation\":\"{id}\"")), "{told}");
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
