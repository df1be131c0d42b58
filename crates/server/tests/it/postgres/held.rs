//! Endpoints of webhooks that a process holds.

use super::{Ends, Service, database};
use crate::process::client;
use crate::webhooks::{USUAL, key_file, until};
use lendpay_cluster::Cluster;
use lendpay_domain::webhook::HELD;
use lendpay_receiver::{Behaviour, Receiver};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was delivered is saved each second, and an endpoint is held again each second: neither may keep the other from its
/// row until the time is over for which it was held.
#[test]
fn an_endpoint_is_held_without_a_gap_while_events_are_delivered() {
    let (store, folder, receiver) = (database(), tempfile::tempdir().expect("a directory"), Receiver::start());
    let name = store.rsplit('/').next().expect("a name");
    let sql = |sql: &str| Cluster::shared().sql(name, sql);
    // Saving takes long.
    sql("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END'; \
         CREATE TRIGGER slow AFTER UPDATE ON webhooks FOR EACH ROW \
         WHEN (OLD.progress IS DISTINCT FROM NEW.progress) EXECUTE FUNCTION slow()");
    let (authority, secrets) =
        (receiver.authority().display().to_string(), key_file(folder.path()).display().to_string());
    let settings = ["--ca", &authority, "--secrets-key-file", &secrets];
    let service = Service::start(&store, &[&settings[..], &USUAL].concat());
    let key = service.partner().text;
    let made = service.must("POST", "/operator/webhooks", &json!({ "url": receiver.url("all") }));
    receiver.expect("all", &[made["secret"].as_str().expect("a secret")], Behaviour::Takes);
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
