//! Writers that remember what was acknowledged.

use crate::data::Data;
use crate::process::{client, post};
use lendpay_domain::{BuyerId, OfferId};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the service is run under load: with no line for each request, and with as many as come.
pub const UNLIMITED: [&str; 4] = ["--log", "warn,lendpay::serve=info", "--rate-limit", "off"];

/// What the service has acknowledged so far.
#[derive(Default)]
pub struct Acknowledged {
    /// Accepted offers with the time that the answer gave.
    pub offers: Mutex<HashMap<OfferId, String>>,
    pub buyers: Mutex<HashSet<BuyerId>>,
    count: AtomicUsize,
    refused: AtomicUsize,
}

impl Acknowledged {
    /// How many writes were acknowledged.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// How many got 503.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }
}

/// Runs so many writers, each accepting offers of its own and creating buyers, until the service is gone; calls `watch`
/// beside them.
pub fn write(
    writers: usize,
    address: &str,
    data: &Data,
    next: &AtomicUsize,
    acknowledged: &Acknowledged,
    watch: impl FnOnce(),
) {
    std::thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| while one(&client(), address, data, next, acknowledged).is_some() {});
        }
        watch();
    });
}

/// Writes on one connection until something fails; `None` when the service is gone.
fn one(
    client: &ureq::Agent,
    address: &str,
    data: &Data,
    next: &AtomicUsize,
    acknowledged: &Acknowledged,
) -> Option<()> {
    loop {
        let n = next.fetch_add(1, Ordering::SeqCst);
        let key = [("x-service-apikey", data.key.as_str())];
        // Without offers that are left it goes on with buyers.
        if let Some(&offer) = data.offers.get(n) {
            let reply = post(client, address, &data.accept_path(offer), &key, "").ok()?;
            match reply.status {
                200 => {
                    let at = reply.body["statusChangedAt"].as_str().expect("a time").to_owned();
                    acknowledged.offers.lock().expect("unpoisoned").insert(offer, at);
                    acknowledged.count.fetch_add(1, Ordering::SeqCst);
                }
                503 => {
                    acknowledged.refused.fetch_add(1, Ordering::SeqCst);
                    return Some(());
                }
                other => panic!("{other}: {}", reply.body),
            }
        }
        let idempotency = format!("key-{n}");
        let headers = [key[0], ("idempotency-key", &idempotency)];
        let reply = post(client, address, "/payments/buyers", &headers, &format!(r#"{{"name":"Buyer {n}"}}"#)).ok()?;
        match reply.status {
            201 => {
                let id = reply.body["id"].as_str().and_then(BuyerId::parse).expect("an id");
                acknowledged.buyers.lock().expect("unpoisoned").insert(id);
                acknowledged.count.fetch_add(1, Ordering::SeqCst);
            }
            503 => {
                acknowledged.refused.fetch_add(1, Ordering::SeqCst);
                return Some(());
            }
            other => panic!("{other}: {}", reply.body),
        }
    }
}
