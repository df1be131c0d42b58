//! What endpoints cost commits: those of other partners, and one that gets everything. And what an idle one has in
//! memory.

use super::Arguments;
use super::service::{Place, endpoint};
use crate::bench::report::median;
use crate::fill;
use crate::lab::Lab;
use crate::load::{self, Job};
use crate::server::Server;
use crate::stores::Stores;
use anyhow::ensure;
use lendpay_receiver::{Behaviour, Receiver};
use std::time::{Duration, Instant};

/// How many connections accept offers.
const CONNECTIONS: usize = 64;

/// No service accepts more offers in a second.
const FASTEST: usize = 50_000;

/// How many endpoints other partners have.
const OTHERS: usize = 20;

/// How much more of the processor an accept may take beside them.
const MORE: f64 = 1.03;

/// Which part of the accepts must remain beside an endpoint that gets everything.
const REMAINS: f64 = 0.85;

/// How long the events of a measurement may take to arrive after it: deliveries yield to commits.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many endpoints are added to see what they have in memory, how often, and how much each may have, in KiB.
const IDLE: usize = 500;
const TIMES: usize = 4;
const MEMORY: f64 = 16.0;

/// What is measured: without endpoints, with those of others, and with one that gets everything.
const SERVICES: [&str; 3] = ["none", "others", "everything"];
const BESIDE_OTHERS: usize = 1;
const EVERYTHING: usize = 2;

/// Measures all three. Returns what is too much.
pub fn run(lab: &Lab, stores: &Stores, arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let receiver = Receiver::start();
    let offers = fill::offers(FASTEST * arguments.seconds as usize * arguments.rounds);
    let mut services = Vec::new();
    for name in SERVICES {
        let lab = lab.below(name)?;
        let server = Place::new(&lab, stores, &receiver)?.serve()?;
        let key = fill::fill(&lab, &server, &offers)?;
        services.push((lab, server, key));
    }
    for n in 0..OTHERS {
        let partner = format!("00000000-0000-4000-9000-{n:012}");
        let server = &services[BESIDE_OTHERS].1;
        fill::partner(server, &partner)?;
        endpoint(server.operator, &receiver, &format!("other-{n}"), Some(&partner), Behaviour::Takes)?;
    }
    endpoint(services[EVERYTHING].1.operator, &receiver, "everything", None, Behaviour::Takes)?;
    let (mut cpu, mut speed, mut accepted) = (Vec::new(), Vec::new(), 0);
    for (round, part) in offers.chunks(offers.len() / arguments.rounds).enumerate() {
        let mut cells = [None; SERVICES.len()];
        // Each begins in turn: whoever comes later finds a machine that has more to do in the background.
        for n in (0..SERVICES.len()).map(|n| (n + round) % SERVICES.len()) {
            let (lab, server, key) = &services[n];
            let cell = load::drive(lab, server, key, Job::Accept, CONNECTIONS, part, arguments.seconds)?;
            if n == EVERYTHING {
                let meanwhile = receiver.taken("everything") - accepted;
                accepted += cell.requests as usize;
                let lag = arrived(&receiver, accepted)?.as_secs_f64();
                println!("  {meanwhile} of {} events arrived meanwhile, the last {lag:.1} s later", cell.requests);
            }
            cells[n] = Some((cell.rps(), cell.cpu_us));
        }
        let [none, others, everything] = cells.map(|cell| cell.expect("each was measured"));
        cpu.push(others.1 / none.1);
        speed.push(everything.0 / none.0);
        println!(
            "  accepts a second and µs of the processor: none {none:.0?}, others {others:.0?}, everything {everything:.0?}"
        );
    }
    let (cpu, speed) = (median(&mut cpu), median(&mut speed));
    println!("  beside {OTHERS} endpoints of others an accept takes {cpu:.3} of the processor's time");
    println!("  beside an endpoint that gets everything {speed:.2} of the accepts remain");
    let memory = idle(&services[0].1, &receiver)?;
    println!("  an idle endpoint has {memory:.1} KiB");
    let mut complaints = Vec::new();
    for (is, what) in [
        (cpu > MORE, format!("endpoints of others: {cpu:.3}")),
        (speed < REMAINS, format!("an endpoint that gets everything: {speed:.2}")),
        (memory > MEMORY, format!("an idle endpoint: {memory:.1} KiB")),
    ] {
        complaints.extend(is.then_some(what));
    }
    services.iter_mut().try_for_each(|(_, server, _)| server.stop())?;
    Ok(complaints)
}

/// Waits until the endpoint that gets everything has so many events, and returns how long that took: no other
/// measurement is to pay for what this one left.
fn arrived(receiver: &Receiver, events: usize) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    while receiver.taken("everything") < events {
        ensure!(begin.elapsed() < PATIENCE, "{} of {events} events arrived", receiver.taken("everything"));
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(begin.elapsed())
}

/// What an endpoint without events has in memory, in KiB: what more of them add to those that are there, so that what
/// is allocated once does not count. The least of some readings is taken: the worker looks at all endpoints each
/// second.
fn idle(server: &Server, receiver: &Receiver) -> anyhow::Result<f64> {
    let with_more = |times: usize| {
        for n in 0..IDLE {
            endpoint(server.operator, receiver, &format!("{times}-{n}"), Some(fill::PARTNER), Behaviour::Takes)?;
        }
        let mut least = f64::INFINITY;
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(250));
            least = least.min(server.memory()?);
        }
        Ok(least)
    };
    let with = (0..=TIMES).map(with_more).collect::<anyhow::Result<Vec<_>>>()?;
    Ok((with[TIMES] - with[0]) * 1024.0 / (TIMES * IDLE) as f64)
}
