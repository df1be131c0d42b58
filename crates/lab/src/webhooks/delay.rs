//! What an endpoint that hangs, and one that is down, cost the others: the time from an event to its arrival.

use super::service::{Place, endpoint};
use crate::fill::{self, BUYERS};
use crate::http::Connection;
use crate::lab::Lab;
use crate::stores::Stores;
use anyhow::{Context as _, ensure};
use lendpay_receiver::{Behaviour, Receiver};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How many partners have an endpoint each. That of the first hangs, that of the second is down.
const PARTNERS: usize = 20;

/// How many events there are each second.
const RATE: u32 = 500;

/// How long an event may take to the others, at the 99th percentile.
const MOST: Duration = Duration::from_millis(200);

/// How long the last events may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Creates buyers of all partners, and looks when they arrive. Returns what is too much.
pub fn run(lab: &Lab, stores: &Stores, seconds: u32) -> anyhow::Result<Vec<String>> {
    let (receiver, down) = (Receiver::start(), Receiver::start());
    let mut server = Place::new(lab, stores, &receiver)?.serve()?;
    let mut keys = Vec::new();
    for n in 0..PARTNERS {
        let partner = fill::partner_id(n);
        keys.push(fill::partner(&server, &partner)?.text);
        let (at, behaviour) = match n {
            0 => (&receiver, Behaviour::Hangs),
            1 => (&down, Behaviour::Takes),
            _ => (&receiver, Behaviour::Takes),
        };
        endpoint(server.operator, at, &format!("endpoint-{n}"), Some(&partner), behaviour)?;
    }
    drop(down);
    let begin = Instant::now();
    let pause = Duration::from_secs(1) * PARTNERS as u32 / RATE;
    // Each partner at its own rate, on a connection of its own.
    let told: Vec<HashMap<String, Instant>> = std::thread::scope(|scope| {
        let client = |key: &str| -> anyhow::Result<_> {
            let (mut connection, mut told) = (Connection::new(server.partner), HashMap::new());
            for n in 0..seconds * RATE / PARTNERS as u32 {
                std::thread::sleep((begin + pause * n).saturating_duration_since(Instant::now()));
                let answer = connection.post(key, BUYERS, &[], b"{}")?;
                ensure!(answer.status == 201, "{} {}", answer.status, answer.body);
                told.insert(answer.text("id")?, Instant::now());
            }
            Ok(told)
        };
        let clients: Vec<_> = keys.iter().map(|key| scope.spawn(move || client(key))).collect();
        clients.into_iter().map(|client| client.join().expect("no client panics")).collect::<anyhow::Result<_>>()
    })?;
    let end = Instant::now() + PATIENCE;
    let mut delays = Vec::new();
    for (n, told) in told.iter().enumerate().skip(2) {
        let name = format!("endpoint-{n}");
        while receiver.received(&name).len() < told.len() {
            ensure!(Instant::now() < end, "{name} has not got all events");
            std::thread::sleep(Duration::from_millis(50));
        }
        for event in receiver.received(&name) {
            let buyer = event.body["data"]["buyerId"].as_str().context("a buyer")?;
            let created = told.get(buyer).context("an event of nobody's buyer")?;
            delays.push(event.at.saturating_duration_since(*created));
        }
    }
    delays.sort_unstable();
    let p99 = delays[delays.len() * 99 / 100];
    println!("  {} events beside an endpoint that hangs and one that is down: p99 {p99:.1?}", delays.len());
    server.stop()?;
    Ok(if p99 > MOST { vec![format!("delay {p99:.1?}")] } else { Vec::new() })
}
