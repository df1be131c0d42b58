//! A new version goes in while the old one serves.

use super::{Ends, Service, database};
use crate::process::client;
use lendpay_cluster::Cluster;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What `lendpay migrate` of a later program does if it only adds: programs of this version go on.
const ADDS: &str = "BEGIN; \
    INSERT INTO lendpay_migrations SELECT max(version) + 1, now(), max(version) FROM lendpay_migrations; \
    ALTER TABLE offers ADD COLUMN later text; CREATE TABLE later (one integer); COMMIT";

/// What it does if they cannot.
const TAKES_AWAY: &str =
    "INSERT INTO lendpay_migrations SELECT max(version) + 1, now(), max(version) + 1 FROM lendpay_migrations";

/// Creates buyers through a process while something is done, and for some calls before and after; notes their ids.
fn under_load<T>(service: &Service, key: &str, created: &Mutex<HashSet<String>>, work: impl FnOnce() -> T) -> T {
    let (count, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let wait_for = |calls: usize| {
        while count.load(Ordering::SeqCst) < calls && !ended.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                // If one fails, nobody waits for the others.
                let _ends = Ends(&ended);
                while !ended.load(Ordering::SeqCst) {
                    let reply = service.create(&client(), key, &lendpay_api::uuid().to_string()).expect("an answer");
                    assert_eq!(reply.status, 201, "{}", reply.body);
                    let id = reply.body["id"].as_str().expect("an id").to_owned();
                    created.lock().expect("unpoisoned").insert(id);
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _ends = Ends(&ended);
        wait_for(50);
        let done = work();
        wait_for(count.load(Ordering::SeqCst) + 50);
        done
    })
}

#[test]
fn processes_go_on_and_start_on_tables_to_which_a_later_version_has_added() {
    let store = database();
    let name = store.rsplit('/').next().expect("a name");
    let [one, other] = [(); 2].map(|()| Service::start(&store, &[]));
    let (key, created) = (one.partner().text, Mutex::default());
    under_load(&one, &key, &created, || drop(Cluster::shared().sql(name, ADDS)));
    drop(one);
    let one = under_load(&other, &key, &created, || Service::start(&store, &[]));
    drop(other);
    let other = under_load(&one, &key, &created, || Service::start(&store, &[]));
    under_load(&other, &key, &created, || ());

    let id = |event: &serde_json::Value| event["buyerId"].as_str().expect("an id").to_owned();
    let events: Vec<_> = other.events(0).iter().map(id).collect();
    let kept: HashSet<_> = events.iter().cloned().collect();
    assert_eq!(kept.len(), events.len(), "none is there twice");
    assert_eq!(kept, created.into_inner().expect("unpoisoned"));

    Cluster::shared().sql(name, TAKES_AWAY);
    let ended = crate::process::run(&["serve", "--store", &store, "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("run the program that made them, or a newer one"), "{}", ended.stderr);
}
