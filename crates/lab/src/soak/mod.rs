//! Whether the service keeps standing: mixed load with faults for a long time, and everything that was promised
//! checked.
//!
//! | module | subject |
//! |---|---|
//! | `worker` | a client that does everything in turn, well and badly |
//! | `killed` | clients that are processes, and that are killed |
//! | `keys` | keys that come and go meanwhile |
//! | `feeder` | the operator, who puts offers |
//! | `attack` | clients that are there to do harm |
//! | `log` | the reader of the service's log, whom an attack stalls |
//! | `memory` | how much the process has, over time |
//! | `pace` | how long clients that behave well wait, before the attack and during it |

mod attack;
mod feeder;
mod keys;
pub mod killed;
mod log;
mod memory;
mod pace;
mod worker;

use crate::http::Operator;
use crate::lab::Lab;
use crate::ledger::{Ledger, Page};
use anyhow::{Context as _, anyhow, bail, ensure};
use attack::{ATTACKS, Address, Secure};
use keys::Keys;
use memory::Memory;
use pace::Pace;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    /// Take the service as tests build it, which takes no time to build.
    #[arg(long)]
    unoptimized: bool,
}

/// The service's cache, in MiB: so small that it is full soon.
const CACHE: &str = "32";

/// How many connections the service takes: so few that attackers want all of them.
const CONNECTIONS: usize = 1_024;

/// Which part of the time goes by before the attack begins.
const BEFORE_ATTACK: f64 = 0.25;

/// A limit that is on, and that nobody meets.
const RATE_LIMIT: &str = "1000000000/1s";

/// What everybody shares.
struct Shared {
    partner: SocketAddr,
    operator: SocketAddr,
    secure: Address,
    log_stalled: Arc<AtomicBool>,
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
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.connections > killed::CONNECTIONS, "--connections: more than {}", killed::CONNECTIONS);
    let lab = Lab::new("soak", !arguments.unoptimized)?;
    let descriptors = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: descriptors.maximum, ..descriptors })?;
    let (connections, store) = (CONNECTIONS.to_string(), lab.store("data"));
    let more = ["--cache", CACHE, "--rate-limit", RATE_LIMIT, "--connections", &connections];
    let (log, stderr) = std::io::pipe()?;
    let log = log::Reader::start(log, File::create(lab.path("server.log"))?);
    let mut server = lab.serve_logging_to(stderr, &store, &more)?;
    let (secure, secure_address) = Secure::start(&lab)?;
    println!(
        "{} s of mixed load and faults on {} connections, without a pause for those who are killed",
        arguments.seconds, arguments.connections
    );
    let (keys, start, time) = (Keys::new(&server)?, Instant::now(), Duration::from_secs(arguments.seconds));
    let shared = Arc::new(Shared {
        partner: server.partner,
        operator: server.operator,
        secure: secure_address,
        log_stalled: log.stalled(),
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
    let mut spawn = |from: Instant, work: fn(&Shared) -> anyhow::Result<()>| {
        let shared = Arc::clone(&shared);
        threads.push(std::thread::spawn(move || {
            std::thread::sleep(from.saturating_duration_since(Instant::now()));
            work(&shared)
        }));
    };
    for _ in killed::CONNECTIONS..arguments.connections {
        spawn(start, |shared| Worker::new(shared).work());
    }
    for work in [feeder::feed, |shared: &Shared| shared.keys.rotate(shared), killed::kill] {
        spawn(start, work);
    }
    (0..pace::CLIENTS).for_each(|_| spawn(start, pace::measure));
    for (attack, count) in ATTACKS {
        (0..count).for_each(|_| spawn(shared.attacked_from, attack));
    }

    let mut memory = Memory::default();
    while !shared.over() {
        memory.note(server.memory()?, shared.ledger.acknowledged());
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
    println!("  {}", shared.pace.judge(shared.attacked_from)?);
    println!("  {}", secure.judge()?);
    let repeated = shared.ledger.check_answers(&server, shared.keys.any().text(), Page::default())?;
    println!("  {repeated} repetitions were answered as the first time");
    let counted = dropped_lines(&mut Operator::new(server.operator))?;
    server.stop()?;
    let told = log.finish()?;
    ensure!(counted > 0 && told == counted, "{counted} log lines were dropped, and the log tells of {told}");
    println!("  {counted} log lines were dropped while nobody read them, and the log says so");
    println!("  {}", shared.ledger.check_export(&lab, &store)?);
    println!("  no panic, no 5xx, exit code 0");
    Ok(())
}

/// How many lines of its log the service has dropped; fails if it counts an answer 5xx.
fn dropped_lines(operator: &mut Operator) -> anyhow::Result<u64> {
    let metrics = operator.call("GET", "/metrics", "", &[200])?;
    let mut lines = metrics.as_str().context("metrics are no text")?.lines();
    let bad = lines.clone().find(|line| line.starts_with("lendpay_http_requests_total") && line.contains("status=\"5"));
    if let Some(bad) = bad {
        bail!("the service counts failures: {bad}");
    }
    let count = lines.find_map(|line| line.strip_prefix("lendpay_log_lines_dropped_total "));
    Ok(count.context("no count of dropped lines")?.parse()?)
}
