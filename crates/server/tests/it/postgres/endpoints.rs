//! Endpoints of webhooks.

use super::{Ends, Service, database};
use crate::process::{Reply, client};
use crate::webhooks::{USUAL, key_file, until};
use lendpay_cluster::Cluster;
use lendpay_domain::webhook::HELD;
use lendpay_receiver::{Behaviour, Received, Receiver};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// The service with webhooks, whose endpoints are a receiver's, and the folder of its key.
fn serve(store: &str, receiver: &Receiver) -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a directory");
    let (authority, secrets) =
        (receiver.authority().display().to_string(), key_file(folder.path()).display().to_string());
    let settings = ["--ca", &authority, "--secrets-key-file", &secrets];
    (Service::start(store, &[&settings[..], &USUAL].concat()), folder)
}

/// Adds an endpoint, of a partner or of the lender, which takes everything.
fn add(service: &Service, receiver: &Receiver, name: &str, partner: Option<&str>) {
    let new = json!({ "url": receiver.url(name), "partnerId": partner });
    let made = service.must("POST", "/operator/webhooks", &new);
    receiver.expect(name, &[made["secret"].as_str().expect("a secret")], Behaviour::Takes);
}

/// The log is read once for all endpoints, and only for the partners that have one.
#[test]
fn an_endpoint_that_is_added_while_others_are_served_gets_every_event_of_its_partner() {
    const EACH: usize = 30;
    let (store, receiver) = (database(), Receiver::start());
    let (service, _folder) = serve(&store, &receiver);
    let created: Vec<_> = std::thread::scope(|scope| {
        let begin = |n: usize| {
            let id = format!("00000000-0000-4000-8000-1{n:011}");
            let path = format!("/operator/partners/{id}");
            service.must("PUT", &path, &json!({ "name": format!("Partner {n}") }));
            let key = service.must("POST", &format!("{path}/keys"), &json!({ "name": "Test", "areas": ["payments"] }));
            let (name, key) = (format!("endpoint-{n}"), key["key"].as_str().expect("a key").to_owned());
            add(&service, &receiver, &name, Some(&id));
            let service = &service;
            let create = move || {
                let agent = client();
                let create = |k: usize| service.create(&agent, &key, &k.to_string()).expect("an answer");
                let id = |reply: Reply| reply.body["id"].as_str().expect("a buyer").to_owned();
                (0..EACH).map(create).map(id).collect::<Vec<_>>()
            };
            (name, scope.spawn(create))
        };
        let threads: Vec<_> = (0..12).map(begin).collect();
        threads.into_iter().map(|(name, created)| (name, created.join().expect("all are created"))).collect()
    });
    for (name, created) in created {
        let buyer = |event: Received| event.body["data"]["buyerId"].as_str().map(str::to_owned);
        let buyers = || receiver.received(&name).into_iter().filter_map(buyer).collect::<BTreeSet<_>>();
        until("all events arrive", || created.iter().all(|buyer| buyers().contains(buyer)));
    }
}

/// What was delivered is saved each second, and an endpoint is held again each second: neither may keep the other from
/// its row until the time is over for which it was held.
#[test]
fn an_endpoint_is_held_without_a_gap_while_events_are_delivered() {
    let (store, receiver) = (database(), Receiver::start());
    let name = store.rsplit('/').next().expect("a name");
    let sql = |sql: &str| Cluster::shared().sql(name, sql);
    // Saving takes long.
    sql("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END'; \
         CREATE TRIGGER slow AFTER UPDATE ON webhooks FOR EACH ROW \
         WHEN (OLD.progress IS DISTINCT FROM NEW.progress) EXECUTE FUNCTION slow()");
    let (service, _folder) = serve(&store, &receiver);
    let key = service.partner().text;
    add(&service, &receiver, "all", None);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = Ends(&ended);
        scope.spawn(|| {
            let agent = client();
            for n in (0..).take_while(|_| !ended.load(Ordering::SeqCst)) {
                let reply = service.create(&agent, &key, &n.to_string()).expect("an answer");
                assert_eq!(reply.status, 201, "{}", reply.body);
            }
        });
        let saved = || sql("SELECT md5(progress) FROM webhooks");
        for _ in 0..2 {
            let before = saved();
            until("what was delivered is saved", || saved() != before);
        }
        let held = || sql("SELECT extract(epoch FROM held_until) FROM webhooks").parse::<f64>().expect("a time");
        for _ in 0..3 {
            let before = held();
            until("it is held again", || held() != before);
            let late = held() - HELD.as_secs_f64() - before;
            assert!(late < 0.0, "held by nobody for {late} s");
        }
    });
}
