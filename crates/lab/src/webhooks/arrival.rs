//! Every event arrives at every endpoint that wants it, in order, while receivers fail and the service is killed.

use super::Arguments;
use super::service::{Place, endpoint};
use crate::fill;
use crate::http::{Connection, Operator};
use crate::lab::Lab;
use crate::server::Server;
use crate::stores::Stores;
use anyhow::{Context as _, bail, ensure};
use lendpay_receiver::{Behaviour, Receiver, judge};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many clients cause events.
const CLIENTS: usize = 8;

/// How many events an offer has here: it is created, accepted and archived.
const EVENTS: usize = 3;

/// The share of requests that meet a fault.
const FAULTS: f64 = 0.05;

/// How long all may take to arrive once there are no more faults of the service.
const PATIENCE: Duration = Duration::from_secs(600);

/// An endpoint of the receiver.
struct Endpoint {
    name: String,
    /// None for the lender's.
    partner: Option<String>,
}

/// Where the service is now: partners and operator.
type Addresses = Mutex<[SocketAddr; 2]>;

/// Causes events, kills the service meanwhile, and judges what arrived.
pub fn run(lab: &Lab, stores: &Stores, arguments: &Arguments) -> anyhow::Result<()> {
    let receiver = Receiver::start();
    let place = Place::new(lab, stores, &receiver)?;
    let mut server = place.serve()?;
    // On PostgreSQL another process serves endpoints too, until it is killed for good.
    let mut other = stores.cluster().map(|_| place.serve()).transpose()?;
    let mut endpoints = Vec::new();
    let mut keys = Vec::new();
    for n in 0..arguments.endpoints {
        let partner = (n % 2 == 0).then(|| fill::partner_id(n));
        if let Some(partner) = &partner {
            keys.push((partner.clone(), fill::partner(&server, partner)?.text));
        }
        let name = format!("endpoint-{n}");
        endpoint(server.operator, &receiver, &name, partner.as_deref(), Behaviour::Unreliable(FAULTS))?;
        endpoints.push(Endpoint { name, partner });
    }
    let offers = fill::offers(arguments.events.div_ceil(EVENTS));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let addresses = Mutex::new([server.partner, server.operator]);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let client = || -> anyhow::Result<()> {
            loop {
                let n = next.fetch_add(1, Ordering::SeqCst);
                let Some(pair) = offers.get(n) else { return Ok(()) };
                // The offers of an application belong to one partner.
                let (partner, key) = &keys[n / 5 % keys.len()];
                let application = format!(r#"{{"partnerId":"{partner}"}}"#);
                operate(&addresses, "PUT", &pair.application_path(), &application)?;
                operate(&addresses, "PUT", &pair.operator_path(), &fill::terms(n))?;
                until_done(&addresses, |[partners, _]| {
                    let answer = Connection::new(partners).post(key, &pair.accept_path(), &[], b"{}")?;
                    ensure!(answer.status == 200, "{} {}", answer.status, answer.body);
                    Ok(())
                })?;
                operate(&addresses, "POST", &format!("{}/archive", pair.operator_path()), "")?;
                done.fetch_add(1, Ordering::SeqCst);
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        for kill in 1..=arguments.kills {
            let enough = offers.len() * kill / (arguments.kills + 1);
            while done.load(Ordering::SeqCst) < enough && !clients.iter().all(|client| client.is_finished()) {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.kill()?;
            receiver.refuse(10);
            if kill == arguments.kills.div_ceil(2)
                && let Some(mut other) = other.take()
            {
                other.kill()?;
            }
            server = place.serve()?;
            *addresses.lock().expect("unpoisoned") = [server.partner, server.operator];
        }
        clients.into_iter().try_for_each(|client| client.join().expect("no client panics"))
    })?;
    let caused = begin.elapsed();
    let arrived = wait(&server, &receiver, &endpoints)?;
    ensure!(receiver.unverified() == 0, "{} requests were not signed as they should be", receiver.unverified());
    println!(
        "  {} kills: {} events in {:.1} s, {arrived} at {} endpoints after {:.1} s",
        arguments.kills,
        offers.len() * EVENTS,
        caused.as_secs_f64(),
        endpoints.len(),
        begin.elapsed().as_secs_f64()
    );
    server.stop()
}

/// Tries until it succeeds: the service may be killed at any moment.
fn until_done<T>(addresses: &Addresses, work: impl Fn([SocketAddr; 2]) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = *addresses.lock().expect("unpoisoned");
        match work(now) {
            Err(error) if Instant::now() > end => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
            done => return done,
        }
    }
}

fn operate(addresses: &Addresses, method: &str, path: &str, body: &str) -> anyhow::Result<()> {
    // 409: an archive whose reply was lost is repeated.
    until_done(addresses, |[_, operator]| Operator::new(operator).call(method, path, body, &[200, 201, 409]).map(drop))
}

/// Waits until everything has arrived, and judges it. Returns how many events and repeats there were.
fn wait(server: &Server, receiver: &Receiver, endpoints: &[Endpoint]) -> anyhow::Result<String> {
    let all = events(server)?;
    let end = Instant::now() + PATIENCE;
    let (mut events, mut repeats) = (0, 0);
    for Endpoint { name, partner } in endpoints {
        let wanted = all.iter().filter(|(_, of)| partner.as_ref().is_none_or(|partner| partner == of));
        let wanted: Vec<_> = wanted.map(|(sequence, _)| *sequence).collect();
        loop {
            let mut judged = judge(&receiver.received(name)).map_err(anyhow::Error::msg).context(name.clone())?;
            // The lender also gets what happened to partners and endpoints.
            judged.sequences.retain(|sequence| wanted.binary_search(sequence).is_ok());
            if judged.sequences == wanted {
                (events, repeats) = (events + wanted.len(), repeats + judged.repeats);
                break;
            }
            if Instant::now() > end {
                bail!("{name}: {} of {} events arrived", judged.sequences.len(), wanted.len());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    Ok(format!("{events} arrivals and {repeats} repeats"))
}

/// The sequences of all events of offers, with their partners.
fn events(server: &Server) -> anyhow::Result<Vec<(u64, String)>> {
    let (mut all, mut after) = (Vec::new(), String::new());
    let mut operator = Operator::new(server.operator);
    loop {
        let page = operator.call("GET", &format!("/operator/events?limit=500{after}"), "", &[200])?;
        for event in page["items"].as_array().context("a list")?.iter().filter(|event| !event["offerId"].is_null()) {
            let partner = event["partnerId"].as_str().context("a partner")?;
            all.push((event["sequence"].as_u64().context("a sequence")?, partner.to_owned()));
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return Ok(all),
        }
    }
}
