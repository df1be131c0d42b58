//! The primary dies under load, its standby takes over, and the same processes go on.

use super::{Ends, Offer, Service, migrated};
use crate::process::{Reply, client};
use lendpay_cluster::{Begin, Cluster};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CALLERS: usize = 64;

/// Writes that are acknowledged before the primary dies, and again after the promotion.
const WRITES: usize = 300;

/// Writes that are repeated at the end.
const REPEATED: usize = 100;

/// What the callers were told.
#[derive(Default)]
struct Told {
    /// Ids of buyers, by idempotency key.
    buyers: Mutex<HashMap<String, String>>,
    /// Times of accepts, by offer.
    accepted: Mutex<HashMap<String, String>>,
    count: AtomicUsize,
    refused: AtomicUsize,
    next: AtomicUsize,
    ended: AtomicBool,
}

impl Told {
    fn wait_for(&self, count: usize) {
        while self.count.load(Ordering::SeqCst) < count {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_failover_under_load_loses_nothing_and_doubles_nothing() {
    // What is killed is the server, not the machine: its files stay without being synced.
    let primary = Cluster::start(Begin::Empty, &["fsync=off"]);
    migrated({
        primary.sql("postgres", "CREATE DATABASE loans");
        primary.url("loans")
    });
    let standby = Cluster::start(Begin::Standby(&primary, "standby"), &["fsync=off"]);
    primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    primary.sql("postgres", "SELECT pg_reload_conf()");
    while primary.sql("postgres", "SELECT sync_state FROM pg_stat_replication") != "sync" {
        std::thread::sleep(Duration::from_millis(10));
    }
    let store = format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/loans", primary.port(), standby.port());
    let services = [Service::start(&store, &[]), Service::start(&store, &[])];
    let key = services[0].partner().text;
    let offers = services[0].offers(450);
    let told = Told::default();
    assert_eq!(services[0].ready().0, 200);
    let metrics = services[0].metrics();
    assert!(metrics.contains("\nlendpay_store_synchronous_standbys 1\n"), "{metrics}");

    std::thread::scope(|scope| {
        for n in 0..CALLERS {
            let (service, key, offers, told) = (&services[n % 2], &key, &offers, &told);
            scope.spawn(move || {
                while !told.ended.load(Ordering::SeqCst) {
                    write(service, key, offers, told);
                }
            });
        }
        let _ends = Ends(&told.ended);
        told.wait_for(WRITES);
        primary.kill();
        for service in &services {
            while service.ready().0 != 503 {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        standby.promote();
        let promoted = Instant::now();
        let before = told.count.load(Ordering::SeqCst);
        told.wait_for(before + CALLERS);
        let back = promoted.elapsed();
        println!("back {back:?} after the promotion; {} refused meanwhile", told.refused.load(Ordering::SeqCst));
        assert!(back < Duration::from_secs(5), "{back:?}");
        told.wait_for(before + WRITES);
    });
    for service in &services {
        assert_eq!(service.ready().0, 200);
    }

    let (mut created, mut accepted) = (HashSet::new(), HashSet::new());
    for event in services[1].events(0) {
        let id = |field: &str| event[field].as_str().expect("an id").to_owned();
        match event["type"].as_str().expect("a type") {
            "buyer.created" => assert!(created.insert(id("buyerId")), "twice: {event}"),
            "offer.accepted" => assert!(accepted.insert(id("offerId")), "twice: {event}"),
            "offer.created" => {}
            other => panic!("{other}"),
        }
    }
    let (buyers, offers_accepted) =
        (told.buyers.lock().expect("unpoisoned"), told.accepted.lock().expect("unpoisoned"));
    println!("{} buyers and {} accepts acknowledged, all there", buyers.len(), offers_accepted.len());
    assert!(buyers.values().all(|id| created.contains(id)), "an acknowledged buyer is lost");
    assert!(offers_accepted.keys().all(|id| accepted.contains(id)), "an acknowledged accept is lost");
    assert_eq!(buyers.values().collect::<HashSet<_>>().len(), buyers.len(), "two keys made one buyer");
    let agent = client();
    for (key_of_buyer, id) in buyers.iter().take(REPEATED) {
        let reply = services[0].create(&agent, &key, key_of_buyer).expect("an answer");
        assert_eq!((reply.status, reply.body["id"].as_str()), (201, Some(id.as_str())));
    }
    for offer in offers.iter().filter(|offer| offers_accepted.contains_key(&offer.id)).take(REPEATED) {
        let reply = services[0].accept(&agent, &key, offer).expect("an answer");
        assert_eq!(reply.body["statusChangedAt"], offers_accepted[&offer.id].as_str());
    }
}

/// Creates a buyer and accepts an offer, each again until it is acknowledged, or nobody waits for it any more.
fn write(service: &Service, key: &str, offers: &[Offer], told: &Told) {
    let agent = client();
    let n = told.next.fetch_add(1, Ordering::SeqCst);
    let idempotency = format!("key-{n}");
    let until_acknowledged = |wanted: u16, send: &dyn Fn() -> Result<Reply, ureq::Error>| loop {
        let reply = send().expect("the service is there");
        if reply.status == wanted {
            told.count.fetch_add(1, Ordering::SeqCst);
            return Some(reply);
        }
        assert_eq!(reply.status, 503, "nothing else may come in between");
        told.refused.fetch_add(1, Ordering::SeqCst);
        if told.ended.load(Ordering::SeqCst) {
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    if let Some(reply) = until_acknowledged(201, &|| service.create(&agent, key, &idempotency)) {
        let id = reply.body["id"].as_str().expect("an id").to_owned();
        told.buyers.lock().expect("unpoisoned").insert(idempotency.clone(), id);
    }
    let Some(offer) = offers.get(n) else { return };
    if let Some(reply) = until_acknowledged(200, &|| service.accept(&agent, key, offer)) {
        let at = reply.body["statusChangedAt"].as_str().expect("a time").to_owned();
        told.accepted.lock().expect("unpoisoned").insert(offer.id.clone(), at);
    }
}
