//! Measures the service, and tries to break it: `cargo lab --help`.
//!
//! | module | subject |
//! |---|---|
//! | `bench` | throughput and latency, beside what the machine can do at most |
//! | `soak` | mixed load with faults and attackers |
//! | `durability` | kills and power cuts under load |
//! | `failover` | PostgreSQL whose leader is lost under load |
//! | `scale` | what a large store costs |
//! | `neighbours` | what one partner's load costs another |
//! | `expiries` | what it costs that offers expire on time |
//! | `webhooks` | whether events arrive, and what that costs |
//! | `stores` | empty stores of either kind |
//! | `lab` | the programs that are measured, and the folder where that is done |
//! | `server` | a server that runs |
//! | `http` | the client |
//! | `load` | wrk, which drives as much load as there can be |
//! | `fill` | offers and buyers |
//! | `ledger` | what was acknowledged, and whether it is there |

mod bench;
mod durability;
mod expiries;
mod failover;
mod fill;
mod http;
mod lab;
mod ledger;
mod load;
mod neighbours;
mod scale;
mod server;
mod soak;
mod stores;
mod webhooks;

use clap::Parser;
use std::process::ExitCode;

/// Measures the service and tries to break it, as a program beside its binary.
#[derive(Parser)]
#[command(name = "lab", bin_name = "cargo lab")]
enum Experiment {
    /// Measures throughput, latency, CPU and memory beside what this machine can do at most, in one run
    ///
    /// Builds the binary as it is shipped, fills a fresh store, and drives both operations with wrk at several numbers
    /// of connections, in turn with two yardsticks: a bare hyper server that syncs every request to a file, and a bare
    /// poem handler. The report goes to target/bench/report.md.
    Bench(bench::Arguments),
    /// Keeps the service under mixed load, with bad requests, clients that break off or are killed, keys that are
    /// revoked, and attackers
    ///
    /// Every answer is checked while it goes on, and in the end that there was no panic and no failure, that memory did
    /// not grow after the warm-up, and that everything that was acknowledged is there. The test run does it for a
    /// moment.
    Soak(soak::Arguments),
    /// Kills the service, and cuts its disk's power, under load, and checks that nothing acknowledged is lost
    ///
    /// A power cut is simulated: ext4 on a loop device that is shut down without its journal being written. That needs
    /// root; without it only the kills are done, and the report says so.
    Durability(durability::Arguments),
    /// Loses the leader of three PostgreSQL servers under load, and checks that nothing acknowledged is lost or done
    /// twice
    ///
    /// Patroni keeps the servers, with strict synchronous replication; each has a network of its own, which needs root.
    /// Two processes of the service write to them, one of them by way of HAProxy. The leader is killed, frozen and cut
    /// off in turn. Takes half an hour.
    Failover(failover::Arguments),
    /// Measures what a large store costs: lists, export, import, speed, memory, disk, reopening
    ///
    /// Takes some minutes, and 10 GB below target/scale.
    Scale(scale::Arguments),
    /// Measures what one partner's load costs another, and what a row that is held costs everybody else
    ///
    /// The 99th percentile of a partner's waits beside 2,000 busy connections of another, on both stores, as a ratio to
    /// its value alone; and the accepts that remain on PostgreSQL while another session holds an offer.
    Neighbours(neighbours::Arguments),
    /// Measures how fast expiries are recorded that are due within one second, and what that costs accepts beside it
    ///
    /// On both stores, of which one on PostgreSQL is started. Takes a quarter of an hour.
    Expiries(expiries::Arguments),
    /// Shows that every event arrives at every endpoint of webhooks, and what deliveries cost
    ///
    /// Receivers refuse, fail, hang, are slow and reset connections at random, and the service is killed meanwhile; on
    /// PostgreSQL one of two processes for good. Then the delay beside an endpoint that hangs, and what endpoints cost
    /// commits.
    Webhooks(webhooks::Arguments),
    /// A yardstick of the benchmark
    #[command(hide = true, subcommand)]
    Limit(bench::limits::Limit),
    /// A client of the soak that is there to be killed
    #[command(hide = true)]
    KilledClient { address: std::net::SocketAddr, connections: usize, key: String },
}

fn main() -> ExitCode {
    let done = match Experiment::parse() {
        Experiment::Bench(arguments) => bench::run(&arguments),
        Experiment::Soak(arguments) => soak::run(&arguments),
        Experiment::Durability(arguments) => durability::run(&arguments),
        Experiment::Failover(arguments) => failover::run(&arguments),
        Experiment::Scale(arguments) => scale::run(&arguments),
        Experiment::Neighbours(arguments) => neighbours::run(&arguments),
        Experiment::Expiries(arguments) => expiries::run(&arguments),
        Experiment::Webhooks(arguments) => webhooks::run(&arguments),
        Experiment::Limit(limit) => bench::limits::run(limit),
        Experiment::KilledClient { address, connections, key } => {
            soak::killed::client(address, connections, &key);
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
