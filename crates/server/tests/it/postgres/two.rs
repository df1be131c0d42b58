//! Two processes on one database.

use super::{Service, database, migrated};
use crate::process::client;
use lendpay_cluster::{Cluster, Pooler};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

fn two() -> (Service, Service) {
    two_on(&database())
}

fn two_on(store: &str) -> (Service, Service) {
    (Service::start(store, &[]), Service::start(store, &[]))
}

/// One transition wins each time, whichever process it came through, and everybody is told the truth.
#[test]
fn races_of_one_offer_have_one_winner_across_processes() {
    let (one, other) = two();
    let key = one.partner().text;
    for offer in one.offers(20) {
        let told: Vec<_> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..32)
                .map(|n| {
                    let (service, key, offer) = (if n % 2 == 0 { &one } else { &other }, &key, &offer);
                    scope.spawn(move || match n % 3 {
                        0 => {
                            let reply = service.accept(&client(), key, offer).expect("an answer");
                            ("CustomerAccepted", reply.status, reply.body)
                        }
                        n => {
                            let (action, status) =
                                if n == 1 { ("decline", "CustomerDeclined") } else { ("archive", "Archived") };
                            let path = format!("{}/{action}", offer.operator_path());
                            let (code, body) = service.operate("POST", &path, None);
                            (status, code, body)
                        }
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().expect("no caller panics")).collect()
        });
        let of_offer = |event: &&Value| event["offerId"] == offer.id.as_str();
        let types: Vec<_> = other.events(0).iter().filter(of_offer).map(|event| event["type"].clone()).collect();
        let path: Vec<_> = types.iter().filter_map(Value::as_str).collect();
        let possible = [
            &["offer.created", "offer.accepted", "offer.archived"][..],
            &["offer.created", "offer.declined", "offer.archived"],
            &["offer.created", "offer.archived"],
        ];
        assert!(possible.contains(&&path[..]), "{path:?}");
        let mut done: HashMap<&str, usize> = HashMap::new();
        for (status, code, body) in told {
            match code {
                200 => {
                    assert_eq!(body["status"], status);
                    *done.entry(status).or_default() += 1;
                }
                _ => assert_eq!(code, 409, "{body}"),
            }
        }
        assert_eq!(done.contains_key("CustomerAccepted"), path.contains(&"offer.accepted"), "{path:?}");
        assert_eq!(done.get("CustomerDeclined").copied().unwrap_or(0), usize::from(path.contains(&"offer.declined")));
        assert_eq!(done["Archived"], 1);
        let (_, seen) = one.operate("GET", &offer.operator_path(), None);
        assert_eq!(seen["status"], "Archived");
    }
}

#[test]
fn one_idempotency_key_makes_one_buyer_across_processes() {
    one_buyer(two());
}

/// What one process prepares in a session of the database is not there for the other.
#[test]
fn processes_share_the_sessions_of_a_pooler() {
    let pooler = Pooler::start(Cluster::shared(), "transaction", &["default_pool_size = 4"]);
    one_buyer(two_on(&migrated(pooler.url(&Cluster::shared().database()))));
}

fn one_buyer((one, other): (Service, Service)) {
    let key = one.partner().text;
    for round in 0..10 {
        let idempotency = format!("key-{round}");
        let replies: Vec<_> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..32)
                .map(|n| {
                    let (service, key, idempotency) = (if n % 2 == 0 { &one } else { &other }, &key, &idempotency);
                    scope.spawn(move || service.create(&client(), key, idempotency).expect("an answer"))
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().expect("no caller panics")).collect()
        });
        assert!(replies.iter().all(|reply| reply.status == 201));
        let ids: HashSet<_> = replies.iter().map(|reply| reply.body["id"].to_string()).collect();
        assert_eq!(ids.len(), 1);
        let fresh = replies.iter().filter(|reply| !reply.headers.contains_key("idempotency-replayed")).count();
        assert_eq!(fresh, 1);
    }
    assert_eq!(one.events(0).len(), 10);
}

#[test]
fn a_key_that_one_process_revokes_is_soon_refused_by_the_other() {
    let (one, other) = two();
    let key = one.partner();
    let agent = client();
    assert_eq!(other.create(&agent, &key.text, "a").expect("an answer").status, 201);
    let (status, _) = one.operate("DELETE", &format!("{}/keys/{}", super::PARTNER, key.id), None);
    assert_eq!(status, 204);
    let revoked = Instant::now();
    assert_eq!(one.create(&agent, &key.text, "b").expect("an answer").status, 401, "at once where it was revoked");
    // The bound is part of the promise: 5 s.
    loop {
        let begun = revoked.elapsed();
        let status = other.create(&agent, &key.text, "c").expect("an answer").status;
        if status == 401 {
            break;
        }
        assert_eq!(status, 201);
        assert!(begun.as_secs() < 5, "it is still let in");
    }
}

#[test]
fn a_call_that_one_process_has_refused_is_found_by_the_other() {
    let (one, other) = two();
    let refused = one.create(&client(), "wrong", "a").expect("an answer");
    let path = format!("/operator/operations/{}", refused.body["operationId"].as_str().expect("an id"));
    // The first keeps it within a second.
    loop {
        let (status, found) = other.operate("GET", &path, None);
        assert_eq!(status, 200, "{found}");
        if let Some(call) = found["calls"].get(0) {
            assert_eq!((&call["status"], &call["errorCode"]), (&401.into(), &"InvalidApiKey".into()));
            break;
        }
    }
    assert_eq!(one.operate("GET", &path, None), other.operate("GET", &path, None));
}
