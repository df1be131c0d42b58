//! What one partner's load costs another, and what a row that somebody holds costs everybody else.

use crate::bench::report::median;
use crate::fill::{self, BUYERS, Key, PARTNER, Pair};
use crate::http::{Connection, Operator};
use crate::lab::Lab;
use crate::load::{self, Job};
use crate::server::Server;
use crate::stores::{self, Stores, Wanted};
use anyhow::{Context as _, anyhow, ensure};
use lendpay_cluster::Cluster;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

/// How it is measured.
#[derive(clap::Args)]
pub struct Arguments {
    /// How often everything is measured; the medians count.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each measurement takes, in seconds.
    #[arg(long, default_value_t = 12)]
    seconds: u32,
    #[command(flatten)]
    wanted: Wanted,
}

/// The partner with many connections.
const BUSY: &str = "00000000-0000-4000-8000-000000000002";

/// How many connections it has.
const CONNECTIONS: usize = 2_000;

/// How much longer the other partner may wait, at the 99th percentile.
const SLOWER: f64 = 5.0;

/// Which part of the accepts must remain while one offer is held.
const REMAINS: f64 = 0.8;

/// The rate limit is off, or as it ships.
const LIMITS: [&str; 2] = ["off", "2000/300s"];

/// How many callers ask for the offer that is held.
const CALLERS: usize = 3;

/// Measures on both stores; fails if it costs too much.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("neighbours", true)?;
    lab.needs("load")?;
    lab.needs("everyday")?;
    let mut failed = Vec::new();
    for stores in arguments.wanted.start() {
        let name = stores.name();
        for limit in LIMITS {
            println!("\n{name}, rate limit {limit}, {CONNECTIONS} busy connections of another partner in half a core");
            let mut ratios = Vec::new();
            for round in 1..=arguments.rounds {
                let server = start(&lab, &stores, "data", limit)?;
                let control = start(&lab, &stores, "control", limit)?;
                let ratio = beside(&lab, &server, &control, arguments.seconds);
                ratios.push(ratio.with_context(|| format!("round {round}"))?);
            }
            let ratio = median(&mut ratios);
            println!("{name}, rate limit {limit}: p99 {ratio:.1} times its value alone");
            if ratio > SLOWER {
                failed.push(format!("{name}, rate limit {limit}"));
            }
        }
        let Some(cluster) = stores.cluster() else { continue };
        let mut remains = Vec::new();
        for _ in 0..arguments.rounds {
            remains.push(held(&lab, cluster, arguments.seconds.min(6))?);
        }
        let remains = median(&mut remains);
        println!("\n{name}: {remains:.2} of the accepts remain while {CALLERS} callers wait for an offer that is held");
        if remains < REMAINS {
            failed.push("an offer that is held".to_owned());
        }
    }
    ensure!(failed.is_empty(), "too much: {}", failed.join("; "));
    Ok(())
}

/// The service on an empty store; `name` is that of its directory, if it has one.
fn start(lab: &Lab, stores: &Stores, name: &str, limit: &str) -> anyhow::Result<Server> {
    lab.serve(&stores.empty(lab, name)?, &["--rate-limit", limit])
}

/// How many times longer a partner waits beside a busy one. What it would wait then at `control`, a process that nobody
/// else calls, is shown beside it: so much is the cost of a machine that has too few cores for the attack, and of no
/// service.
fn beside(lab: &Lab, server: &Server, control: &Server, seconds: u32) -> anyhow::Result<f64> {
    let elsewhere = fill::partner(control, PARTNER)?;
    let (quiet, busy) = (fill::partner(server, PARTNER)?, fill::partner(server, BUSY)?);
    let alone = waits(server, &quiet, seconds)?;
    let mut lines = String::new();
    for n in 0..5_000 {
        lines += &format!("POST {BUYERS} {}\n", load::buyer(n));
    }
    let header = ("X-Service-ApiKey", &*busy.text);
    let mut command = load::command(lab, server.partner, header, CONNECTIONS, 2 * seconds + 5, &lines, true)?;
    let mut attacker = command.stdout(Stdio::null()).spawn().context("cannot start wrk")?;
    let pid = Pid::from_child(&attacker);
    let over = AtomicBool::new(false);
    let attacked = std::thread::scope(|scope| {
        scope.spawn(|| half_a_core(pid, &over));
        std::thread::sleep(Duration::from_secs(2));
        let attacked = waits(server, &quiet, seconds).and_then(|here| Ok((here, waits(control, &elsewhere, seconds)?)));
        over.store(true, Ordering::SeqCst);
        attacked
    });
    attacker.kill()?;
    attacker.wait()?;
    let (attacked, elsewhere) = attacked?;
    println!(
        "  p99 {alone:.2} ms alone, {attacked:.2} ms beside the other: {:.1} times; then {elsewhere:.2} ms at another process",
        attacked / alone
    );
    Ok(attacked / alone)
}

/// Lets a process of one thread run for half of each 10 ms. A quota of the kernel has a period of 100 ms unless it is
/// told another: for half of that all others would share what is left of two cores, and the 99th percentile would be
/// that of a machine that is too small.
fn half_a_core(pid: Pid, over: &AtomicBool) {
    while !over.load(Ordering::SeqCst) {
        for signal in [Signal::STOP, Signal::CONT] {
            // It may have ended.
            kill_process(pid, signal).ok();
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Creates buyers on two connections, with pauses; returns the 99th percentile of the waits, in milliseconds. So few
/// requests that the rate limit as it ships lets them through.
fn waits(server: &Server, key: &Key, seconds: u32) -> anyhow::Result<f64> {
    const PAUSE: Duration = Duration::from_millis(30);
    let end = Instant::now() + Duration::from_secs(seconds.into());
    let client = || {
        let (mut connection, mut times) = (Connection::new(server.partner), Vec::new());
        while Instant::now() < end {
            let sent = Instant::now();
            let answer = connection.post(&key.text, BUYERS, &[], b"{}")?;
            times.push(sent.elapsed().as_secs_f64() * 1_000.0);
            ensure!(answer.status == 201, "{} {}", answer.status, answer.body);
            std::thread::sleep(PAUSE);
        }
        Ok(times)
    };
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(client);
        let two = client();
        (one.join().unwrap_or_else(|_| Err(anyhow!("a client panicked"))), two)
    });
    let mut times = [one?, two?].concat();
    times.sort_by(f64::total_cmp);
    times.get(times.len() * 99 / 100).copied().context("no request was answered")
}

/// Which part of the accepts remains on PostgreSQL while another session holds an offer for which some callers wait.
fn held(lab: &Lab, cluster: &Cluster, seconds: u32) -> anyhow::Result<f64> {
    const ACCEPTS: usize = 64;
    let offers = fill::offers(120_000);
    let url = stores::database(lab, cluster)?;
    let server = lab.serve(&url, &[])?;
    let key = fill::fill(lab, &server, &offers)?;
    let (wanted, rest) = offers.split_first().context("an offer")?;
    let (first, second) = rest.split_at(rest.len() / 2);
    let accept = |offers: &[Pair]| load::drive(lab, &server, &key, Job::Accept, ACCEPTS, offers, seconds);
    let alone = accept(first)?.rps();
    let runtime = tokio::runtime::Runtime::new()?;
    let holder = runtime.block_on(async {
        let (holder, connection) = tokio_postgres::connect(&url, NoTls).await?;
        drop(tokio::spawn(connection));
        holder
            .batch_execute(&format!("BEGIN; SELECT FROM offers WHERE offer_id = '{}' FOR UPDATE", wanted.offer))
            .await?;
        anyhow::Ok(holder)
    })?;
    let over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                let mut connection = Connection::new(server.partner);
                while !over.load(Ordering::SeqCst) {
                    // 503 while it is held.
                    drop(connection.post(&key, &wanted.accept_path(), &[], b"{}"));
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let beside = accept(second);
        over.store(true, Ordering::SeqCst);
        drop(holder);
        beside
    })?;
    ensure!(beside.errors == 0.0, "{} others were refused", beside.errors);
    let status = Operator::new(server.operator).call("GET", &wanted.operator_path(), "", &[200])?;
    println!(
        "  {alone:.0} accepts a second, {:.0} while an offer is held, which is {} in the end",
        beside.rps(),
        status["status"]
    );
    Ok(beside.rps() / alone)
}
