//! Requests without valid credentials: who sent them is in the log, and each address has so many of them.

use crate::data::fill;
use crate::operator::{Both, KEY};
use crate::process::{Server, client};
use serde_json::Value;

/// Gets a path of the operator's side with a key, and gives status and body.
fn get(both: &Both, client: &ureq::Agent, path: &str, key: &str) -> (u16, Value) {
    let request = client.get(format!("{}{path}", both.url)).header("x-operator-key", key);
    let mut answer = request.call().expect("an answer");
    let body = answer.body_mut().read_to_string().expect("a text");
    (answer.status().as_u16(), serde_json::from_str(&body).expect("JSON"))
}

#[test]
fn a_line_about_401_403_or_429_names_the_peer_and_no_other_does() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let mut server = Server::start(directory.path(), &["--rate-limit", "2/3600s"]);
    let key = [("x-service-apikey", data.key.as_str())];
    let path = data.accept_path(data.offers[0]);
    for (path, key, status, peer) in [
        (path.as_str(), &[][..], 401, true),
        (&path, &[("x-service-apikey", "wrong")], 401, true),
        (&path, &key, 200, false),
        ("/payments/buyers", &key, 201, false),
        (&path, &key, 429, true),
        ("/nowhere", &key, 404, false),
    ] {
        assert_eq!(server.post(path, key, "{}").expect("an answer").status, status);
        let line = server.process.wait_for("request");
        let wanted = if peer { Value::from("127.0.0.1") } else { Value::Null };
        assert_eq!((&line["status"], &line["peer"]), (&status.into(), &wanted), "{line}");
    }
}

#[test]
fn whoever_has_no_operator_key_and_goes_on_asking_gets_429_but_not_who_has_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--log", "warn,lendpay::serve=info"]);
    let client = client();
    let mut failures = 0_u64;
    let refused = loop {
        let (status, body) = get(&both, &client, "/operator/events", "wrong");
        failures += 1;
        if status == 429 {
            break body;
        }
        assert_eq!((status, &body["errorCode"]), (401, &Value::from("InvalidOperatorKey")));
        // Some come back while this runs: at most as many again.
        assert!(failures < 2_000, "never limited");
    };
    assert!(failures > 1_000, "{failures}");
    assert_eq!(refused["errorCode"], "RateLimited");
    assert_eq!(get(&both, &client, "/operator/events", KEY).0, 200, "whoever has the key is not locked out");
    let metrics = both.metrics();
    for (side, count) in [("partner", 0), ("operator", failures)] {
        let line = format!("lendpay_auth_failures_total{{side=\"{side}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line} in {metrics}");
    }
}
