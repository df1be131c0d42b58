//! Writers that remember what they were told, and the check of it.

use crate::fill::{Pair, terms};
use crate::server::{OPERATOR_KEY, Server};
use anyhow::{Context as _, anyhow, ensure};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The last offers are never accepted: their terms are overwritten instead.
const OLD: usize = 20_000;

/// What the service says once its disk fails; it ends then.
const GONE: u16 = 503;

/// What the service has acknowledged.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    offers: Vec<Pair>,
    /// The next offer to be accepted, and the next number for anything else.
    next: AtomicUsize,
    acknowledged: AtomicUsize,
    /// Whether answers count no more.
    closed: AtomicBool,
    /// For each accepted offer the time that the answer gave.
    accepted: Mutex<Vec<(usize, String)>>,
    /// For each idempotency key the buyer's id.
    buyers: Mutex<Vec<(usize, String)>>,
    /// For each old offer the last amount that was acknowledged and the last that was sent.
    amounts: Vec<Mutex<(usize, usize)>>,
}

impl Inner {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

/// A place in the ledger.
#[derive(Clone, Copy, Default)]
pub struct Page {
    accepted: usize,
    buyers: usize,
}

/// What a check found.
pub struct Checked {
    /// How many things were asked for.
    pub count: usize,
    /// Those that are not there, or not what they were.
    pub lost: Vec<String>,
}

impl Checked {
    /// Fails with the first few things that were lost.
    pub fn nothing_lost(&self) -> anyhow::Result<()> {
        ensure!(
            self.lost.is_empty(),
            "{} of {} lost: {:?}",
            self.lost.len(),
            self.count,
            &self.lost[..self.lost.len().min(3)]
        );
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// Nothing yet of these offers.
    pub fn new(offers: Vec<Pair>) -> Self {
        let first_old = offers.len() - OLD;
        let amounts = (0..OLD).map(|n| Mutex::new((first_old + n, first_old + n))).collect();
        Self(Arc::new(Inner {
            offers,
            next: AtomicUsize::new(0),
            acknowledged: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            accepted: Mutex::default(),
            buyers: Mutex::default(),
            amounts,
        }))
    }

    /// How many writes were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.0.acknowledged.load(Ordering::SeqCst)
    }

    /// From here on no answer counts as an acknowledgement, until the next round.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::SeqCst);
    }

    /// How far the ledger has come, for a check of what follows.
    pub fn page(&self) -> Page {
        Page { accepted: locked(&self.0.accepted).len(), buyers: locked(&self.0.buyers).len() }
    }

    /// Asks the service for everything that it has acknowledged since a page.
    pub fn check(&self, server: &Server, key: &str, since: Page) -> anyhow::Result<Checked> {
        let client = Client::new(server.address, server.operator, key);
        let mut checked = Checked { count: OLD, lost: Vec::new() };
        let lost = &mut checked.lost;
        for (n, at) in &locked(&self.0.accepted)[since.accepted..] {
            checked.count += 1;
            let offer = &self.0.offers[*n];
            let (status, body) = client.accept(offer)?;
            if status != 200 || body["statusChangedAt"] != at.as_str() {
                lost.push(format!("accept of {}: {status} {body}", offer.offer));
            }
        }
        for (n, id) in &locked(&self.0.buyers)[since.buyers..] {
            checked.count += 1;
            let (status, body) = client.create(*n)?;
            if status != 201 || body["id"] != id.as_str() {
                lost.push(format!("buyer {id}: {status} {body}"));
            }
        }
        for (n, amounts) in self.0.amounts.iter().enumerate() {
            let mut amounts = locked(amounts);
            let (acknowledged, sent) = *amounts;
            let offer = &self.0.offers[self.0.offers.len() - OLD + n];
            let (status, body) = client.read(offer)?;
            let amount = body["amount"].as_f64().map(|amount| amount - 0.5);
            if status != 200 || (amount != Some(acknowledged as f64) && amount != Some(sent as f64)) {
                lost.push(format!("terms of {}: {acknowledged} or {sent}, but {status} {body}", offer.offer));
            } else if amount == Some(sent as f64) {
                // Whether or not it was acknowledged: it was seen after the restart, so it has to stay.
                amounts.0 = sent;
            }
        }
        Ok(checked)
    }
}

/// A round's load.
pub struct Load<'a> {
    /// The service.
    pub server: &'a Server,
    /// The partner's key.
    pub key: &'a str,
    /// Where acknowledgements go.
    pub ledger: &'a Ledger,
    /// Whether old offers are overwritten, instead of offers accepted and buyers created.
    pub overwriting: bool,
}

/// Writers that go on until the service is gone.
pub struct Running(Vec<JoinHandle<anyhow::Result<()>>>);

impl Running {
    /// Waits for all of them.
    pub fn join(self) -> anyhow::Result<()> {
        for writer in self.0 {
            writer.join().map_err(|_| anyhow!("a writer panicked"))??;
        }
        Ok(())
    }
}

impl Load<'_> {
    /// Starts the writers and returns once so many more writes were acknowledged.
    pub fn run(&self, writers: usize, writes: usize) -> anyhow::Result<Running> {
        self.ledger.0.closed.store(false, Ordering::SeqCst);
        let enough = self.ledger.acknowledged() + writes;
        let threads = (0..writers).map(|writer| {
            let client = Client::new(self.server.address, self.server.operator, self.key);
            let (ledger, overwriting) = (self.ledger.clone(), self.overwriting);
            std::thread::spawn(move || {
                if overwriting { overwrite(&client, &ledger.0, writer, writers) } else { add(&client, &ledger.0) }
            })
        });
        let running = Running(threads.collect());
        while self.ledger.acknowledged() < enough {
            ensure!(!running.0.iter().all(JoinHandle::is_finished), "the writers ended before the service did");
            std::thread::yield_now();
        }
        Ok(running)
    }
}

/// Accepts offers and creates buyers until the service is gone.
fn add(client: &Client, ledger: &Inner) -> anyhow::Result<()> {
    loop {
        let n = ledger.next.fetch_add(1, Ordering::SeqCst);
        ensure!(n < ledger.offers.len() - OLD, "the offers are used up");
        let Ok((status, body)) = client.accept(&ledger.offers[n]) else { return Ok(()) };
        if status == GONE || ledger.is_closed() {
            return Ok(());
        }
        ensure!(status == 200, "accept: {status} {body}");
        let at = body["statusChangedAt"].as_str().context("no time")?.to_owned();
        locked(&ledger.accepted).push((n, at));
        ledger.acknowledged.fetch_add(1, Ordering::SeqCst);
        let Ok((status, body)) = client.create(n) else { return Ok(()) };
        if status == GONE || ledger.is_closed() {
            return Ok(());
        }
        ensure!(status == 201, "create: {status} {body}");
        let id = body["id"].as_str().context("no id")?.to_owned();
        locked(&ledger.buyers).push((n, id));
        ledger.acknowledged.fetch_add(1, Ordering::SeqCst);
    }
}

/// Overwrites the terms of old offers, each writer its own, until the service is gone.
fn overwrite(client: &Client, ledger: &Inner, writer: usize, writers: usize) -> anyhow::Result<()> {
    for n in (writer..OLD).step_by(writers).cycle() {
        let amount = ledger.next.fetch_add(1, Ordering::SeqCst);
        locked(&ledger.amounts[n]).1 = amount;
        let offer = &ledger.offers[ledger.offers.len() - OLD + n];
        let Ok((status, body)) = client.put(offer, amount) else { return Ok(()) };
        if status == GONE || ledger.is_closed() {
            return Ok(());
        }
        ensure!(status == 200, "put: {status} {body}");
        locked(&ledger.amounts[n]).0 = amount;
        ledger.acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

/// One writer's connections.
struct Client {
    agent: ureq::Agent,
    partner: SocketAddr,
    operator: SocketAddr,
    key: String,
}

impl Client {
    fn new(partner: SocketAddr, operator: SocketAddr, key: &str) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { agent, partner, operator, key: key.to_owned() }
    }

    fn accept(&self, offer: &Pair) -> anyhow::Result<(u16, Value)> {
        let url = format!("http://{}{}", self.partner, offer.accept_path());
        read(self.agent.post(url).header("x-service-apikey", &self.key).send_empty()?)
    }

    fn create(&self, n: usize) -> anyhow::Result<(u16, Value)> {
        let request = self.agent.post(format!("http://{}/payments/buyers", self.partner));
        let request = request.header("x-service-apikey", &self.key).header("idempotency-key", format!("key-{n}"));
        read(request.send(format!(r#"{{"name":"Buyer {n}"}}"#))?)
    }

    fn put(&self, offer: &Pair, amount: usize) -> anyhow::Result<(u16, Value)> {
        let request = self.agent.put(format!("http://{}{}", self.operator, offer.operator_path()));
        let request = request.header("x-operator-key", OPERATOR_KEY).header("content-type", "application/json");
        read(request.send(terms(amount))?)
    }

    fn read(&self, offer: &Pair) -> anyhow::Result<(u16, Value)> {
        let request = self.agent.get(format!("http://{}{}", self.operator, offer.operator_path()));
        read(request.header("x-operator-key", OPERATOR_KEY).call()?)
    }
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> anyhow::Result<(u16, Value)> {
    let status = response.status().as_u16();
    Ok((status, serde_json::from_str(&response.body_mut().read_to_string()?)?))
}
