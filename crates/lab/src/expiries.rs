//! What it costs that offers expire on time: many are due within one second, while others are accepted.

use crate::bench::report::median;
use crate::fill::{self, Pair};
use crate::http::Connection;
use crate::lab::Lab;
use crate::load::{self, Job};
use crate::server::{OPERATOR_KEY, Server};
use crate::stores::{Stores, Wanted};
use anyhow::{Context as _, ensure};
use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime};

/// How it is measured.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many offers are due within one second.
    #[arg(long, default_value_t = 100_000)]
    due: usize,
    /// How many are there to be accepted: a third of them before, a third meanwhile, and a third after it.
    #[arg(long, default_value_t = 800_000)]
    offers: usize,
    /// How long accepts are measured, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// How often everything is measured; the medians count.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long writing the offers that will be due may take, in seconds.
    #[arg(long, default_value_t = 60)]
    lead: u64,
    #[command(flatten)]
    wanted: Wanted,
}

/// How many connections accept offers.
const CONNECTIONS: usize = 64;

/// Which part of the accepts must remain.
const REMAINS: f64 = 0.9;

/// Within which time all must have expired after the first is due.
const fn limit(stores: &Stores) -> Duration {
    match stores {
        Stores::Sled => Duration::from_secs(5),
        Stores::Postgres(_) => Duration::from_secs(30),
    }
}

/// Measures on both stores; fails if expiries come too late or cost too much.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("expiries", true)?;
    lab.needs("load")?;
    let mut failed = Vec::new();
    for stores in arguments.wanted.start() {
        let name = stores.name();
        let (mut remains, mut times) = (Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            let (part, time) = measure(&lab, &lab.serve(&stores.empty(&lab, "data")?, &[])?, arguments)?;
            println!("  {name}: all had expired after {time:.1} s, {part:.2} of the accepts remained meanwhile");
            remains.push(part);
            times.push(time);
        }
        let (part, time) = (median(&mut remains), median(&mut times));
        println!("{name}: {} expiries in {time:.1} s, {part:.2} of the accepts remain", arguments.due);
        if part < REMAINS || time > limit(&stores).as_secs_f64() {
            failed.push(name);
        }
    }
    ensure!(failed.is_empty(), "too late or too much on {}", failed.join(", "));
    Ok(())
}

/// Which part of the accepts remains, and after how many seconds all have expired. The accepts before and after it
/// count alike: a disk and a database that has just been filled become slower or faster by themselves.
fn measure(lab: &Lab, server: &Server, arguments: &Arguments) -> anyhow::Result<(f64, f64)> {
    let offers = fill::offers(arguments.offers + arguments.due);
    let (due, others) = offers.split_at(arguments.due);
    let (before, others) = others.split_at(others.len() / 3);
    let (meanwhile, after) = others.split_at(others.len() / 2);
    let key = fill::fill(lab, server, &offers)?;
    let accept = |offers: &[Pair]| load::drive(lab, server, &key, Job::Accept, CONNECTIONS, offers, arguments.seconds);
    let (begin, lead) = (Instant::now(), Duration::from_secs(arguments.lead));
    let first = now() + lead;
    let mut lines = String::new();
    for (n, pair) in due.iter().enumerate() {
        let expiry = first + Duration::from_secs(1) * u32::try_from(n)? / u32::try_from(due.len())?;
        writeln!(lines, "PUT {} {}", pair.operator_path(), fill::terms_until(n, &expiry.to_rfc3339()))?;
    }
    fill::put(lab, server, lines)?;
    println!("  {} offers were given their expiry in {:.1} s", due.len(), begin.elapsed().as_secs_f64());
    let before = accept(before)?.rps();
    ensure!(begin.elapsed() < lead, "there was no time left: --lead must be longer");
    std::thread::sleep(lead - begin.elapsed());
    let (beside, time) = std::thread::scope(|scope| {
        let expired = scope.spawn(|| all_expired(server, due.len()));
        let beside = accept(meanwhile);
        Ok::<_, anyhow::Error>((beside?, expired.join().expect("it does not panic")?))
    })?;
    let after = accept(after)?.rps();
    println!(
        "  {before:.0} accepts/s before, {:.0} meanwhile, p99 {:.1} ms, {after:.0} after",
        beside.rps(),
        beside.p99_ms
    );
    Ok((beside.rps() / f64::midpoint(before, after), time))
}

/// After how many seconds so many offers have expired.
fn all_expired(server: &Server, count: usize) -> anyhow::Result<f64> {
    let begin = Instant::now();
    let mut connection = Connection::new(server.operator);
    loop {
        let answer = connection.call("GET", "/metrics", &[("X-Operator-Key", OPERATOR_KEY)], b"")?;
        let metrics = answer.body.as_str().context("metrics are a text")?;
        let line = metrics.lines().find_map(|line| line.strip_prefix(r#"lendpay_events_total{type="offer.expired"} "#));
        if line.and_then(|count| count.parse::<usize>().ok()).context("no such metric")? >= count {
            return Ok(begin.elapsed().as_secs_f64());
        }
        ensure!(begin.elapsed() < Duration::from_secs(300), "they do not expire");
        // Making this page costs what is measured.
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[expect(clippy::disallowed_methods, reason = "offers expire by the clock of the machine")]
fn now() -> chrono::DateTime<chrono::Utc> {
    SystemTime::now().into()
}
