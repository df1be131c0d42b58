//! Webhooks of the running binary, to a receiver that verifies them with the official library.

use crate::operator::{Both, KEY};
use crate::process::{BINARY, client, command};
use lendpay_receiver::{Behaviour, Received, Receiver, judge};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PARTNERS: [&str; 2] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];

/// A service with two partners, and a receiver of its webhooks.
struct Hooks {
    receiver: Receiver,
    both: Both,
    keys: [String; 2],
    folder: TempDir,
}

/// Waits until something is so.
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn key_file(folder: &Path) -> PathBuf {
    let file = folder.join("secrets.key");
    std::fs::write(&file, "ab".repeat(32)).expect("a file");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
    file
}

fn serve(folder: &Path, receiver: &Receiver, more: &[&str]) -> Both {
    let (authority, secrets) = (receiver.authority().display().to_string(), key_file(folder).display().to_string());
    let settings = ["--ca", &authority, "--secrets-key-file", &secrets, "--rate-limit", "off"];
    Both::start(&folder.join("data"), &[&settings, more].concat())
}

/// Addresses of this machine are allowed, and what fails is sent again each second.
pub const USUAL: [&str; 4] = ["--webhook-allow", "127.0.0.0/8", "--webhook-retries", "1s/7d"];

impl Hooks {
    fn start(more: &[&str]) -> Self {
        let (receiver, folder) = (Receiver::start(), tempfile::tempdir().expect("a directory"));
        let both = serve(folder.path(), &receiver, more);
        let keys = PARTNERS.map(|partner| {
            let path = format!("/operator/partners/{partner}");
            operate(&both, "PUT", &path, &json!({ "name": "Test" }));
            let key = operate(
                &both,
                "POST",
                &format!("{path}/keys"),
                &json!({ "name": "x", "areas": ["lending", "payments"] }),
            );
            key["key"].as_str().expect("a key").to_owned()
        });
        Self { receiver, both, keys, folder }
    }

    /// Adds an endpoint; returns its id.
    fn add(&self, name: &str, partner: Option<&str>, behaviour: Behaviour) -> String {
        let new = json!({ "url": self.receiver.url(name), "partnerId": partner });
        let made = operate(&self.both, "POST", "/operator/webhooks", &new);
        self.receiver.expect(name, &[made["secret"].as_str().expect("a secret")], behaviour);
        made["endpointId"].as_str().expect("an id").to_owned()
    }

    fn operate(&self, method: &str, endpoint: &str, what: &str, body: &Value) -> Value {
        operate(&self.both, method, &format!("/operator/webhooks/{endpoint}{what}"), body)
    }

    /// Creates a buyer of a partner: one event. Returns its id.
    fn buyer(&self, partner: usize) -> String {
        let headers = [("x-service-apikey", self.keys[partner].as_str()), ("content-type", "application/json")];
        let body = r#"{"name":"Hidden Ltd","bankAccount":{"iban":"GB33BUKB20201555555555"}}"#;
        let reply = self.both.server.post("/payments/buyers", &headers, body).expect("an answer");
        assert_eq!(reply.status, 201, "{}", reply.body);
        reply.body["id"].as_str().expect("an id").to_owned()
    }

    /// The buyers of the events that an endpoint has taken, in order.
    fn buyers(&self, name: &str) -> Vec<String> {
        let of = |event: Received| event.body["data"]["buyerId"].as_str().map(str::to_owned);
        self.receiver.received(name).into_iter().filter_map(of).collect()
    }

    /// Waits until the service knows of so many endpoints in a state.
    fn known(&self, state: &str, number: usize) {
        let line = format!("lendpay_webhook_endpoints{{state=\"{state}\"}} {number}\n");
        until(&line, || self.both.metrics().contains(&line));
    }

    fn arrived(&self, name: &str, buyers: &[String]) {
        until(&format!("{name} gets {buyers:?}"), || {
            let taken = self.buyers(name);
            buyers.iter().all(|buyer| taken.contains(buyer))
        });
    }

    /// Starts the service again.
    fn again(&mut self, signal: &str) {
        self.both.server.process.signal(signal);
        let process = self.both.server.process.folder();
        // Its first thread can be gone before others, which hold the lock of the store until they are.
        let threads = || std::fs::read_dir(process.join("task")).map_or(0, Iterator::count);
        until("the process ends", || !process.join("exe").exists() && threads() <= 1);
        self.both = serve(self.folder.path(), &self.receiver, &USUAL);
    }
}

/// Asks the operator's side, which must do it.
fn operate(both: &Both, method: &str, path: &str, body: &Value) -> Value {
    let request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", both.url));
    let request = request.header("x-operator-key", KEY).header("content-type", "application/json");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut response = client().run(request.body(body).expect("a request")).expect("an answer");
    let text = response.body_mut().read_to_string().expect("a text");
    assert!(response.status().is_success(), "{method} {path}: {} {text}", response.status());
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

#[test]
fn a_partner_gets_its_own_events_and_the_lender_all_and_neither_a_bank_detail() {
    let hooks = Hooks::start(&USUAL);
    hooks.add("first", Some(PARTNERS[0]), Behaviour::Takes);
    hooks.add("lender", None, Behaviour::Takes);
    let buyers = [hooks.buyer(0), hooks.buyer(1), hooks.buyer(0)];
    hooks.arrived("first", &[buyers[0].clone(), buyers[2].clone()]);
    hooks.arrived("lender", &buyers);
    assert_eq!(hooks.buyers("first").len(), 2);
    for event in [hooks.receiver.received("first"), hooks.receiver.received("lender")].concat() {
        let text = event.body.to_string();
        // The last four digits alone may be a part of an id.
        let details = ["Hidden", "GB33", "20201555", "\"5555\"", "*"];
        assert!(!details.iter().any(|detail| text.contains(detail)), "{text}");
    }
    // Those of different buyers overtake each other.
    let received = hooks.receiver.received("first");
    let first = &received.iter().find(|event| event.body["data"]["buyerId"] == buyers[0]).expect("it came").body;
    let members: Vec<_> = first.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["type", "timestamp", "sequence", "data"]);
    assert_eq!((&first["type"], &first["data"]), (&json!("buyer.created"), &json!({ "buyerId": buyers[0] })));
    assert_eq!(hooks.receiver.unverified(), 0);
}

#[test]
fn what_operators_do_to_an_endpoint_has_its_effect() {
    let hooks = Hooks::start(&USUAL);
    let id = hooks.add("a", None, Behaviour::Takes);
    hooks.arrived("a", &[hooks.buyer(0)]);
    hooks.operate("POST", &id, "/pause", &Value::Null);
    hooks.known("paused", 1);
    // Another endpoint shows that deliveries go on.
    hooks.add("b", None, Behaviour::Takes);
    let while_paused = hooks.buyer(0);
    hooks.arrived("b", std::slice::from_ref(&while_paused));
    assert_eq!(hooks.buyers("a").len(), 1);
    hooks.operate("POST", &id, "/resume", &Value::Null);
    hooks.arrived("a", &[while_paused]);

    let rotated = hooks.operate("POST", &id, "/secret", &Value::Null);
    // The receiver knows the new secret only.
    hooks.receiver.expect("a", &[rotated["secret"].as_str().expect("a secret")], Behaviour::Takes);
    hooks.arrived("a", &[hooks.buyer(0)]);

    let before = hooks.receiver.received("a");
    let first = before[0].body["sequence"].as_u64().expect("a number");
    hooks.operate("POST", &id, "/redeliver", &json!({ "after": first - 1 }));
    let again = |event: &&Received| event.id == before[0].id;
    until("the first event comes again", || hooks.receiver.received("a").iter().filter(again).count() >= 2);

    let tested = hooks.operate("POST", &id, "/test", &Value::Null);
    assert_eq!((&tested["delivered"], &tested["type"]), (&json!(true), &json!("webhook.test")));
    hooks.operate("DELETE", &id, "", &Value::Null);
    hooks.known("active", 1);
    let last = hooks.buyer(0);
    hooks.arrived("b", std::slice::from_ref(&last));
    assert!(!hooks.buyers("a").contains(&last));
}

#[test]
fn an_endpoint_that_fails_delays_nobody_and_gets_everything_later() {
    let hooks = Hooks::start(&[&USUAL[..], &["--webhook-timeout", "1"]].concat());
    let failing = hooks.add("failing", None, Behaviour::Answers(500, 0));
    hooks.add("hanging", None, Behaviour::Hangs);
    hooks.add("good", None, Behaviour::Takes);
    let buyers: Vec<_> = (0..40).map(|n| hooks.buyer(n % 2)).collect();
    hooks.arrived("good", &buyers);
    until("attempts that have failed three times", || {
        let attempts = hooks.operate("GET", &failing, "/attempts", &Value::Null);
        let third =
            |attempt: &&Value| attempt["number"] == 3 && attempt["status"] == 500 && !attempt["nextAt"].is_null();
        attempts["items"].as_array().expect("a list").iter().any(|attempt| third(&attempt))
    });
    let metrics = hooks.both.metrics();
    for line in [r#"lendpay_webhook_attempts_total{result="status"}"#, r#"lendpay_webhook_endpoints{state="active"} 3"#]
    {
        assert!(metrics.contains(line), "{metrics}");
    }
    for name in ["failing", "hanging"] {
        hooks.receiver.behave(name, Behaviour::Takes);
        hooks.arrived(name, &buyers);
        let judged = judge(&hooks.receiver.received(name)).expect("in order, each under one id");
        assert!(judged.sequences.len() >= buyers.len());
    }
}

#[test]
fn an_endpoint_that_is_gone_is_disabled_until_it_is_resumed() {
    let hooks = Hooks::start(&USUAL);
    let id = hooks.add("a", None, Behaviour::Answers(410, 0));
    let buyer = hooks.buyer(0);
    until("it is disabled", || hooks.operate("GET", &id, "", &Value::Null)["state"] == "disabled");
    let events = operate(&hooks.both, "GET", "/operator/events?type=webhook.disabled", &Value::Null);
    assert_eq!(events["items"][0]["endpointId"], id.as_str());
    until("a metric says so", || hooks.both.metrics().contains(r#"lendpay_webhook_endpoints{state="disabled"} 1"#));
    hooks.receiver.behave("a", Behaviour::Takes);
    hooks.operate("POST", &id, "/resume", &Value::Null);
    hooks.arrived("a", &[buyer]);
}

#[test]
fn what_was_delivered_is_sent_again_only_after_a_crash_and_under_the_same_id() {
    let mut hooks = Hooks::start(&USUAL);
    let id = hooks.add("a", None, Behaviour::Takes);
    let mut buyers = Vec::new();
    for _ in 0..2 {
        buyers.extend((0..20).map(|_| hooks.buyer(0)));
        hooks.again("KILL");
    }
    until("all is delivered", || {
        let progress = hooks.operate("GET", &id, "", &Value::Null);
        progress["waitingSequence"].is_null() && progress["setAside"] == 0
    });
    // The stop saves what was delivered since.
    buyers.push(hooks.buyer(0));
    hooks.arrived("a", &buyers);
    hooks.again("TERM");
    let before = hooks.receiver.received("a").len();
    buyers.push(hooks.buyer(0));
    hooks.arrived("a", &buyers);
    assert_eq!(hooks.receiver.received("a").len(), before + 1);
    judge(&hooks.receiver.received("a")).expect("in order, each under one id");
}

#[test]
fn nothing_is_sent_within_the_network_unless_it_is_allowed() {
    let hooks = Hooks::start(&["--webhook-retries", "1s/7d"]);
    let id = hooks.add("a", None, Behaviour::Takes);
    hooks.buyer(0);
    until("the attempt fails", || {
        hooks.operate("GET", &id, "/attempts", &Value::Null)["items"][0]["problem"] == "address"
    });
    assert_eq!(hooks.operate("POST", &id, "/test", &Value::Null)["problem"], "address");
    assert_eq!(hooks.receiver.connections(), 0);
}

#[test]
fn a_test_of_an_endpoint_that_hangs_is_answered_before_the_request_times_out() {
    let hooks = Hooks::start(&["--webhook-allow", "127.0.0.0/8", "--request-timeout", "6"]);
    let id = hooks.add("a", None, Behaviour::Hangs);
    assert_eq!(hooks.operate("POST", &id, "/test", &Value::Null)["problem"], "timeout");
}

#[test]
fn settings_that_cannot_be_used_stop_the_start() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = format!("sled:{}", folder.path().join("data").display());
    for (flag, value) in [
        ("--webhook-retries", "5s"),
        ("--webhook-allow", "10.0.0.1"),
        ("--webhook-timeout", "0"),
        ("--webhook-allow", "x"),
    ] {
        let mut serve = command(BINARY);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--store", &store, flag, value]);
        let output = serve.output().expect("the binary runs");
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains(flag), "{complaint}");
    }
}
