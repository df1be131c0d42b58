//! Expiries that come by themselves, and readers that wait for events.

use crate::data::fill;
use crate::operator::Both;
use crate::process::{Reply, Server, client};
use crate::sandbox;
use lendpay_api::sandbox::{Call, KEY, OFFERS};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn get(server: &Server, target: &str, key: &str) -> Reply {
    let headers = vec![("X-Service-ApiKey", key.to_owned())];
    let call = Call { method: "GET", target: target.to_owned(), headers, body: "" };
    sandbox::send(&server.address, &call).expect("an answer")
}

/// The expiry of an offer of the sandbox, once it comes.
fn expiry_of(server: &Server, n: usize) -> Value {
    let mut after = "0".to_owned();
    loop {
        let page = get(server, &format!("/events?type=offer.expired&wait=25&after={after}"), KEY).body;
        for event in page["items"].as_array().expect("a list") {
            if event["offerId"] == OFFERS[n].id {
                return event.clone();
            }
            after = event["sequence"].to_string();
        }
    }
}

#[test]
fn an_offer_expires_when_its_time_has_come_and_nobody_asks_for_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = sandbox::start(directory.path(), &[]);
    // It expires some seconds after the start.
    let event = expiry_of(&server, 2);
    assert_eq!(event["actor"], "clock");
    let path = format!("/lending/applications/{}/offers/{}", lendpay_api::sandbox::APPLICATION, OFFERS[2].id);
    let offer = get(&server, &path, KEY).body;
    assert_eq!((&offer["status"], &offer["expiryAt"]), (&json!("Expired"), &event["occurredAt"]));
    assert_eq!(offer["statusChangedAt"], event["occurredAt"]);
}

#[test]
fn what_the_clock_of_a_sandbox_passes_over_expires() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = sandbox::start(directory.path(), &[]);
    let moved = Call { method: "POST", target: "/sandbox/clock?by=40d".to_owned(), headers: Vec::new(), body: "" };
    assert_eq!(sandbox::send(&server.address, &moved).expect("an answer").status, 200);
    assert_eq!(expiry_of(&server, 0)["actor"], "clock");
    // A reset begins another history: who waits is told that.
    let events = get(&server, "/events", KEY).body;
    let last = events["items"].as_array().and_then(|items| items.last()).expect("events")["sequence"].clone();
    let history = events["history"].as_str().expect("an id");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| get(&server, &format!("/events?wait=25&after={history}:{last}"), KEY).status);
        let reset = Call { method: "POST", target: "/sandbox/reset".to_owned(), headers: Vec::new(), body: "" };
        assert_eq!(sandbox::send(&server.address, &reset).expect("an answer").status, 200);
        assert_eq!(waits.join().expect("no panic"), 409);
    });
}

#[test]
fn a_stop_answers_those_who_wait() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let both = Both::start(directory.path(), &[]);
    let after = get(&both.server, "/events", &data.key).body["items"].as_array().map_or(0, Vec::len);
    assert_eq!(after, 1, "the offer's creation");
    let page = get(&both.server, "/events?type=buyer.created", &data.key).body;
    assert_eq!(page["items"], json!([]));
    std::thread::scope(|scope| {
        let (server, key) = (&both.server, &data.key);
        let waits = scope.spawn(move || {
            let begin = Instant::now();
            (get(server, "/events?type=buyer.created&wait=25", key), begin.elapsed())
        });
        while !both.metrics().contains("lendpay_waiting_readers{side=\"partner\"} 1\n") {}
        let mut answer = client().get(format!("{}/metrics", both.url)).call().expect("an answer");
        let metrics = answer.body_mut().read_to_string().expect("a text");
        assert!(metrics.contains("lendpay_waiting_readers{side=\"operator\"} 0\n"), "{metrics}");
        both.server.process.signal("TERM");
        let (reply, took) = waits.join().expect("no panic");
        assert_eq!((reply.status, &reply.body["items"]), (200, &json!([])));
        assert!(took < Duration::from_secs(20), "{took:?}");
    });
    assert_eq!(both.server.process.wait().0.code(), Some(0));
}
