//! Whether the service keeps standing: mixed load with faults for a long time, and everything that was promised looked at.
//!
//! | module | subject |
//! |---|---|
//! | `connection` | HTTP by hand, so that it can be done badly |
//! | `worker` | a client that does everything in turn, well and badly |
//! | `keys` | keys that come and go meanwhile |
//! | `feeder` | the operator, who puts offers |
//! | `ledger` | what was acknowledged, and whether it is there |
//! | `memory` | how much the process has, over time |
//! | `attack` | clients that are there to do harm |
//! | `pace` | how long a client that behaves well waits, before the attack and during it |

mod attack;
mod connection;
mod feeder;
mod keys;
mod ledger;
mod memory;
mod pace;
mod worker;

use crate::server::{Kind, Server, built, remove, shipped};
use anyhow::{Context as _, anyhow, bail, ensure};
use attack::{ATTACKS, Address, Secure};
use connection::Connection;
use keys::Keys;
use ledger::Ledger;
use memory::Memory;
use pace::Pace;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use worker::Worker;

/// How long and how hard.
#[derive(clap::Args)]
pub struct Arguments {
    /// For how long, in seconds.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// The number of connections.
    #[arg(long, default_value_t = 256)]
    connections: usize,
    /// How long a client waits between two requests on average, in milliseconds.
    #[arg(long, default_value_t = 50)]
    pause: u64,
    /// Soak the service as tests build it, which takes no time to build.
    #[arg(long)]
    unoptimized: bool,
}

/// What the test run does: the same for a moment.
const SHORT: Arguments = Arguments { seconds: 15, connections: 256, pause: 50, unoptimized: true };

/// How many connections clients have that are killed. They are some of all.
const KILLED: usize = 16;

/// The service's cache, in MiB: so small that it is full soon.
const CACHE: &str = "32";

/// How many connections the service takes: so few that attackers want all of them.
const CONNECTIONS: usize = 1_024;

/// Which part of the time goes by before the attack begins.
const BEFORE_ATTACK: f64 = 0.2;

/// A limit that is on, and that nobody meets.
const RATE_LIMIT: &str = "1000000000/1s";

/// What everybody shares.
struct Shared {
    partner: SocketAddr,
    operator: SocketAddr,
    secure: Address,
    keys: Keys,
    ledger: Ledger,
    pace: Pace,
    pause: Duration,
    attacked_from: Instant,
    until: Instant,
    requests: AtomicU64,
    faults: AtomicU64,
}

impl Shared {
    fn over(&self) -> bool {
        Instant::now() >= self.until
    }
}

/// Builds the service and soaks it.
pub fn run(root: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let programs = if arguments.unoptimized { built(root)? } else { shipped(root, &["lendpay"])? };
    soak(root, &programs, arguments)
}

/// Soaks the service as tests build it, for a moment.
pub fn run_short(root: &Path) -> anyhow::Result<()> {
    run(root, &SHORT)
}

fn soak(root: &Path, programs: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.connections > KILLED, "--connections: more than {KILLED}");
    let folder = root.join("target/soak");
    remove(&folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let descriptors = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: descriptors.maximum, ..descriptors })?;
    let connections = CONNECTIONS.to_string();
    let more = ["--cache", CACHE, "--rate-limit", RATE_LIMIT, "--connections", &connections].map(str::to_owned);
    let mut server = Server::start_with(programs, &folder, Kind::Lendpay, &folder.join("data"), &more)?;
    let (secure, secure_address) = Secure::start(programs, &folder)?;
    println!(
        "{} s of mixed load and faults on {} connections, without a pause for those who are killed",
        arguments.seconds, arguments.connections
    );
    let (keys, start, time) = (Keys::new(&server)?, Instant::now(), Duration::from_secs(arguments.seconds));
    let shared = Arc::new(Shared {
        partner: server.address,
        operator: server.operator,
        secure: secure_address,
        keys,
        ledger: Ledger::default(),
        pace: Pace::default(),
        pause: Duration::from_millis(arguments.pause),
        attacked_from: start + time.mul_f64(BEFORE_ATTACK),
        until: start + time,
        requests: AtomicU64::new(0),
        faults: AtomicU64::new(0),
    });
    let mut threads = Vec::new();
    let mut spawn = |work: fn(&Shared) -> anyhow::Result<()>| {
        let shared = Arc::clone(&shared);
        threads.push(std::thread::spawn(move || work(&shared)));
    };
    for _ in KILLED..arguments.connections {
        spawn(|shared| Worker::new(shared).work());
    }
    spawn(feeder::feed);
    spawn(|shared| shared.keys.rotate(shared));
    spawn(kill_clients);
    spawn(pace::measure);
    for (attack, count) in ATTACKS {
        for _ in 0..count {
            let shared = Arc::clone(&shared);
            threads.push(std::thread::spawn(move || {
                std::thread::sleep(shared.attacked_from.saturating_duration_since(Instant::now()));
                attack(&shared)
            }));
        }
    }

    let mut memory = Memory::default();
    while !shared.over() {
        memory.note(server.memory()?, shared.ledger.records());
        std::thread::sleep(Duration::from_millis(500));
        if threads.iter().any(|thread| thread.is_finished()) && !shared.over() {
            break;
        }
    }
    for thread in threads {
        thread.join().map_err(|_| anyhow!("a client panicked"))??;
    }
    println!(
        "  {} requests were answered as they should be, {} clients broke off on purpose, {} keys were revoked",
        shared.requests.load(Ordering::Relaxed),
        shared.faults.load(Ordering::Relaxed),
        shared.keys.revoked(),
    );
    println!("  {}", memory.judge()?);
    println!("  {}", shared.pace.judge()?);
    println!("  {}", secure.judge()?);
    println!("  {}", shared.ledger.check(&server)?);
    no_failures(&server, &folder)?;
    server.stop()?;
    println!("  no panic, no 5xx, exit code 0");
    remove(&folder)
}

/// Starts processes that send requests as fast as they can, and kills each in the middle of it.
fn kill_clients(shared: &Shared) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    while !shared.over() {
        let mut client = Command::new(&program)
            .args(["soak-client", &shared.partner.to_string(), &KILLED.to_string(), shared.keys.any().text()])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        std::thread::sleep(Duration::from_millis(rand::random_range(50..500)));
        client.kill()?;
        client.wait()?;
        shared.faults.fetch_add(KILLED as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// A client that is there to be killed: until then it creates a buyer over and over, on so many connections.
pub fn client(address: SocketAddr, connections: usize, key: &str) {
    std::thread::scope(|scope| {
        for n in 0..connections {
            scope.spawn(move || {
                let mut connection = Connection::new(address);
                let headers = [("X-Service-ApiKey", key), ("Idempotency-Key", &*format!("killed-{n}"))];
                while connection.post("/payments/buyers", &headers, b"{}").is_ok() {}
            });
        }
    });
}

/// Fails if the service counts an answer 5xx, or logged an error.
fn no_failures(server: &Server, folder: &Path) -> anyhow::Result<()> {
    let metrics = server.operate("GET", "/metrics", "")?;
    let bad =
        metrics.lines().find(|line| line.starts_with("lendpay_http_requests_total") && line.contains("status=\"5"));
    if let Some(bad) = bad {
        bail!("the service counts failures: {bad}");
    }
    let log = fs::read_to_string(folder.join("server.log"))?;
    let bad = log.lines().find(|line| !line.contains(r#""level":"INFO""#));
    match bad {
        Some(bad) => bail!("the service logged: {bad}"),
        None => Ok(()),
    }
}
