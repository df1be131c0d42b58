//! A leader that is lost: PostgreSQL that Patroni keeps, two processes of the service, and writers that repeat what
//! failed.

mod writers;

use crate::fill;
use crate::lab::Lab;
use crate::ledger::{Ledger, Page};
use crate::server::Server;
use anyhow::{Context as _, ensure};
use lendpay_cluster::{Fault, Node, Patroni};
use std::sync::Arc;
use std::time::{Duration, Instant};
use writers::Writers;

/// How the rounds are run.
#[derive(clap::Args)]
pub struct Arguments {
    /// How often the leader is lost: killed, frozen and cut off in turn.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Acknowledged writes in a round before the leader is lost.
    #[arg(long, default_value_t = 3_000)]
    writes: usize,
    /// Concurrent writers, half of them at each process.
    #[arg(long, default_value_t = 32)]
    writers: usize,
    /// Take the service as tests build it, which takes no time to build.
    #[arg(long)]
    unoptimized: bool,
}

/// How soon writes must be back once there is a new leader.
const BACK: Duration = Duration::from_secs(5);

/// How long is waited for anything before the experiment has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs all rounds, and checks afterwards that what was acknowledged is there, once.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("failover", !arguments.unoptimized)?;
    lab.needs("load")?;
    lab.needs("failover")?;
    println!(
        "\nThree servers that Patroni keeps, with strict synchronous replication; HAProxy for one of two processes"
    );
    let patroni = Patroni::start();
    let url = patroni.url("postgres");
    lab.lendpay(&["migrate", "--store", &url])?;
    let proxy = patroni.url_of_proxy("postgres");
    let mut servers = [lab.below("direct")?.serve(&url, &[])?, lab.below("proxy")?.serve(&proxy, &[])?];
    // Half of the writes are accepts: there is as much for what is written slowly.
    let offers = fill::offers(arguments.rounds * arguments.writes + 10_000);
    let key = fill::fill(&lab, &servers[0], &offers)?;
    let ledger = Arc::new(Ledger::new(offers, Vec::new(), 0));
    let writers = Writers::start(&servers, &key, &ledger, arguments.writers);
    let mut late = Vec::new();
    for (round, fault) in (1..=arguments.rounds).zip(Fault::ALL.into_iter().cycle()) {
        let back =
            lose(&patroni, fault, &ledger, &writers, arguments.writes).with_context(|| format!("round {round}"))?;
        println!("  round {round}, {fault:?}: {back}");
        if back.writes > BACK {
            late.push(round);
        }
    }
    println!("\nWhat the writers were answered in place of success:\n{}", writers.end()?);
    for server in &servers {
        let checked = ledger.check_answers(server, &key, Page::default())?;
        println!("  {checked} records checked at one process, 0 lost");
    }
    servers.iter_mut().try_for_each(Server::stop)?;
    println!("  {}", ledger.check_export(&lab, &url)?);
    ensure!(late.is_empty(), "writes were not back within {BACK:?} of a new leader in the rounds {late:?}");
    Ok(())
}

/// How long it took.
struct Back {
    leader: Duration,
    writes: Duration,
    longest: Duration,
    rebuilt: Vec<Node>,
}

impl std::fmt::Display for Back {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { leader, writes, longest, rebuilt } = self;
        write!(f, "a new leader after {leader:.1?}, writes {writes:.1?} later, none waited longer than {longest:.1?}")?;
        if !rebuilt.is_empty() {
            write!(f, "; standbys that had to be rebuilt: {rebuilt:?}")?;
        }
        Ok(())
    }
}

/// The leader is lost once so many more writes were acknowledged, and comes back once there is another one.
fn lose(patroni: &Patroni, fault: Fault, ledger: &Ledger, writers: &Writers, writes: usize) -> anyhow::Result<Back> {
    writers.hurry(true);
    let enough = ledger.acknowledged() + writes;
    until("writes", writers, || (ledger.acknowledged() >= enough).then_some(()))?;
    let old: Node = patroni.leader(None).context("no leader")?;
    patroni.strike(old, fault);
    let begin = Instant::now();
    until("a new leader", writers, || patroni.leader(Some(old)).map(drop))?;
    let leader = begin.elapsed();
    let before = writers.done();
    let all_write = || writers.done().iter().zip(&before).all(|(now, before)| now > before);
    until("a write at each process", writers, || all_write().then_some(()))?;
    let writes = begin.elapsed() - leader;
    let longest = writers.hurry(false);
    patroni.heal(old, fault);
    let rebuilt = patroni.wait_until_whole();
    Ok(Back { leader, writes, longest, rebuilt })
}

fn until(what: &str, writers: &Writers, done: impl Fn() -> Option<()>) -> anyhow::Result<()> {
    let begin = Instant::now();
    while done().is_none() {
        writers.check()?;
        ensure!(begin.elapsed() < PATIENCE, "{what} did not come within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
