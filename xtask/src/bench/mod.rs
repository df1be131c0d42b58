//! How fast the service is, beside what the machine can do at most, in one run.
//!
//! | module | subject |
//! |---|---|
//! | `limits` | the two yardsticks: a bare hyper server that syncs every request to a file, a bare poem handler |
//! | `load` | wrk, one cell at a time |
//! | `watching` | what the rate limit, the log and traces cost |
//! | `postgres` | the same on PostgreSQL, beside bare statements |
//! | `report` | medians, ratios, the table, JSON |
//! | `plot` | the picture |

pub mod limits;
pub mod load;
mod plot;
mod postgres;
pub mod report;
mod watching;

use crate::fill;
use crate::server::{Kind, Server, remove, shipped};
use crate::tools;
use anyhow::Context as _;
use load::Job;
use report::Results;

use std::fs;
use std::path::Path;

/// How a benchmark is run.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many offers the store begins with.
    #[arg(long, default_value_t = 200_000)]
    offers: usize,
    /// How often everything is measured; the medians count.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each cell is driven, in seconds.
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// The numbers of connections.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
    connections: Vec<usize>,
    /// Instead, measures what the rate limit, the log and traces cost, by running with and without each.
    #[arg(long)]
    watching: bool,
    /// On which store. On PostgreSQL, of which one is started, the yardstick is the bare statements, at 64 connections.
    #[arg(long, value_enum, default_value_t = Store::Sled)]
    store: Store,
}

/// A kind of store.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Store {
    Sled,
    Postgres,
}

/// Builds, measures all servers in turn, and writes the report into `target/bench`.
pub fn run(root: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let programs = shipped(root, &["lendpay", "xtask"])?;
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    if let Store::Postgres = arguments.store {
        tools::debian_packages(root, tools::EVERYDAY)?;
        return postgres::measure(root, &programs, &folder, arguments.rounds, arguments.seconds);
    }
    if arguments.watching {
        return watching::run(&programs, &folder, arguments.rounds);
    }

    let offers = fill::offers(arguments.offers);
    let cells = arguments.connections.len() * Job::ALL.len();
    let mut results = Results::default();
    for round in 1..=arguments.rounds {
        for kind in Kind::ALL {
            println!("\nround {round} of {}: {}", arguments.rounds, kind.name());
            let data = folder.join("data");
            remove(&data)?;
            let mut server = Server::start(&programs, &folder, kind, &data)?;
            let key = if kind == Kind::Lendpay { fill::fill(&server, &folder, &offers)? } else { String::new() };
            // A slice of offers for each number of connections: more for more connections, which use them up faster.
            let weights: Vec<_> = arguments.connections.iter().map(|&n| (n as f64).sqrt() + 4.0).collect();
            let mut slices = load::slices(&offers, &weights).into_iter();
            for &connections in &arguments.connections {
                let slice = slices.next().expect("there is one for each number of connections");
                for job in Job::ALL {
                    let cell = load::drive(&server, &folder, &key, job, connections, slice, arguments.seconds)?;
                    println!("  {}", cell.line());
                    results.add(kind, job, connections, cell);
                }
            }
            server.kill()?;
            remove(&data)?;
        }
    }
    anyhow::ensure!(results.count() == arguments.rounds * Kind::ALL.len() * cells, "a cell is missing");
    let table = report::table(&results);
    print!("\n{table}");
    let write = |name: &str, text: &str| -> anyhow::Result<()> {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{} written", path.display());
        Ok(())
    };
    write("report.md", &table)?;
    write("results.json", &report::json(&results)?)?;
    write("plot.svg", &plot::svg(&results)?)
}
