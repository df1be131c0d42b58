//! The service on PostgreSQL: several processes on one database, and a database that goes away.

mod backup;
mod endpoints;
mod failover;
mod following;
mod outages;
mod rate_limit;
mod start;
mod tls;
mod two;
mod upgrade;
mod waits;

use crate::operator::KEY;
use crate::process::{BINARY, Process, Reply, client, command, run};
use lendpay_cluster::Cluster;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

const PARTNER: &str = "/operator/partners/00000000-0000-4000-8000-000000000001";

/// A process that serves.
struct Service {
    process: Process,
    /// `127.0.0.1:PORT` of the partners' side.
    address: String,
    /// `http://127.0.0.1:PORT` of the operator's side.
    operator: String,
}

impl Service {
    fn start(store: &str, more: &[&str]) -> Self {
        Self::start_until("ready", store, more)
    }

    /// Starts it on a database that does not answer, and waits until it listens.
    fn start_without_database(store: &str) -> Self {
        Self::start_until("listening, but not ready: the store does not work", store, &[])
    }

    fn start_until(message: &str, store: &str, more: &[&str]) -> Self {
        let mut serve = command(BINARY);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--store", store, "--operator-listen", "127.0.0.1:0"]);
        serve.args(["--operator-key", KEY, "--log", "info,lendpay::request=off"]).args(more);
        if !more.contains(&"--rate-limit") {
            serve.args(["--rate-limit", "off"]);
        }
        let mut process = Process::spawn(serve);
        let ready = process.wait_for(message);
        let text = |field: &str| ready[field].as_str().expect("an address").to_owned();
        Self { address: text("address"), operator: format!("http://{}", text("operator")), process }
    }

    /// Asks the operator's side; the answer's status and body.
    fn operate(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.operator));
        let request = request.header("x-operator-key", KEY).header("content-type", "application/json");
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut response = client().run(request.body(body).expect("a request")).expect("an answer");
        let text = response.body_mut().read_to_string().expect("a text");
        (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// The same, which must succeed.
    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.operate(method, path, Some(body));
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// What `/health/ready` says.
    fn ready(&self) -> (u16, Value) {
        self.operate("GET", "/health/ready", None)
    }

    /// What `/metrics` answers.
    fn metrics(&self) -> String {
        let mut answer = client().get(format!("{}/metrics", self.operator)).call().expect("an answer");
        answer.body_mut().read_to_string().expect("a text")
    }

    /// Puts the partner; returns a key of it.
    fn partner(&self) -> Key {
        self.must("PUT", PARTNER, &json!({"name": "Test"}));
        let areas = json!({"name": "Test", "areas": ["lending", "payments"]});
        let key = self.must("POST", &format!("{PARTNER}/keys"), &areas);
        let text = |field: &str| key[field].as_str().expect("a text").to_owned();
        Key { id: text("keyId"), text: text("key") }
    }

    /// Puts an application with so many offers.
    fn offers(&self, count: usize) -> Vec<Offer> {
        let application = Uuid::from_bytes(rand_bytes()).to_string();
        self.must("PUT", &format!("/operator/applications/{application}"), &json!({"partnerId": &PARTNER[19..]}));
        let offer = |_| Offer { application: application.clone(), id: Uuid::from_bytes(rand_bytes()).to_string() };
        let offers: Vec<_> = (0..count).map(offer).collect();
        let terms = json!({
            "details": "A test", "fundingType": "TermLoan", "offerType": "Underwritten", "annualPercentageRate": 0.09
        });
        std::thread::scope(|scope| {
            for some in offers.chunks(count.div_ceil(16)) {
                let put = |offer: &Offer| drop(self.must("PUT", &offer.operator_path(), &terms));
                scope.spawn(move || some.iter().for_each(put));
            }
        });
        offers
    }

    /// Accepts an offer.
    fn accept(&self, agent: &ureq::Agent, key: &str, offer: &Offer) -> Result<Reply, ureq::Error> {
        let path = format!("/lending/applications/{}/offers/{}/accept", offer.application, offer.id);
        crate::process::post(agent, &self.address, &path, &[("x-service-apikey", key)], "")
    }

    /// Creates a buyer with an idempotency key.
    fn create(&self, agent: &ureq::Agent, key: &str, idempotency: &str) -> Result<Reply, ureq::Error> {
        let headers = [("x-service-apikey", key), ("idempotency-key", idempotency)];
        let body = format!(r#"{{"name":"Buyer {idempotency}"}}"#);
        crate::process::post(agent, &self.address, "/payments/buyers", &headers, &body)
    }

    /// Every event about offers and buyers after a sequence, page by page.
    fn events(&self, after: u64) -> Vec<Value> {
        let (mut events, mut last) = (Vec::new(), after);
        loop {
            let (status, page) = self.operate("GET", &format!("/operator/events?after={last}&limit=500"), None);
            assert_eq!(status, 200, "{page}");
            let items = page["items"].as_array().expect("a list");
            let Some(end) = items.last() else { return events };
            last = end["sequence"].as_u64().expect("a number");
            events.extend(
                items.iter().filter(|event| !event["offerId"].is_null() || !event["buyerId"].is_null()).cloned(),
            );
        }
    }
}

/// Tells threads to end when the test does, in whatever way.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Key {
    id: String,
    text: String,
}

#[derive(Clone)]
struct Offer {
    application: String,
    id: String,
}

impl Offer {
    fn operator_path(&self) -> String {
        format!("/operator/applications/{}/offers/{}", self.application, self.id)
    }
}

/// Bits that differ from call to call.
fn rand_bytes() -> [u8; 16] {
    lendpay_api::uuid().into_bytes()
}

/// What `/metrics` answers on PostgreSQL, once somebody has asked whether the service is ready.
pub fn metrics() -> String {
    let service = Service::start(&database(), &[]);
    assert_eq!(service.ready().0, 200);
    service.metrics()
}

/// A database with tables, in the cluster that all tests share.
fn database() -> String {
    migrated(Cluster::shared().database())
}

fn migrated(url: String) -> String {
    let done = run(&["migrate", "--store", &url]);
    assert!(done.status.success(), "{}", done.stderr);
    url
}
