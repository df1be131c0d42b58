//! How fast the service is, beside what the machine can do at most, in one run.
//!
//! | module | subject |
//! |---|---|
//! | `limits` | the two yardsticks: a bare hyper server that syncs every request to a file, a bare poem handler |
//! | `watching` | what the rate limit, the log and traces cost |
//! | `postgres` | the same on PostgreSQL, beside bare statements |
//! | `report` | medians, ratios, the table |

pub mod limits;
mod postgres;
pub mod report;
mod watching;

use crate::fill;
use crate::lab::{Lab, remove};
use crate::load::{self, Job};
use crate::server::{Server, free_address};
use crate::stores::Kind;
use report::Results;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

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
    /// The numbers of connections; if absent 1, 16, 64 and 256, on PostgreSQL 64.
    #[arg(long, value_delimiter = ',')]
    connections: Vec<usize>,
    /// Of how many partners the offers and buyers are.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    partners: u16,
    /// Instead, measures what the rate limit, the log and traces cost, by running with and without each.
    #[arg(long)]
    watching: bool,
    /// On which store. On PostgreSQL, of which one is started, the yardstick is the bare statements.
    #[arg(long, value_enum, default_value_t = Kind::Sled)]
    store: Kind,
    /// Each commit on PostgreSQL waits for a standby, which runs on the same machine.
    #[arg(long)]
    standby: bool,
    /// Another build of lendpay, which is measured in turn with this one, such as the state before a change.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
}

impl Arguments {
    fn connections(&self) -> &[usize] {
        match self.store {
            _ if !self.connections.is_empty() => &self.connections,
            Kind::Sled => &[1, 16, 64, 256],
            Kind::Postgres => &[64],
        }
    }
}

/// The yardsticks, and their names as arguments.
const LIMITS: [(&str, &str); 2] = [("(a) hyper, synced append", "disk"), ("(b) poem, no disk", "poem")];

/// How a report names the service, and another build of it.
const LENDPAY: &str = "lendpay";
const BESIDE: &str = "the-other-build";

/// Builds, measures all servers in turn, and writes the report.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("bench", true)?;
    lab.needs("load")?;
    let results = match arguments.store {
        Kind::Postgres => postgres::measure(&lab, arguments)?,
        Kind::Sled if arguments.watching => watching::measure(&lab, arguments.rounds)?,
        Kind::Sled => measure(&lab, arguments)?,
    };
    let (table, report) = (results.table(), lab.path("report.md"));
    print!("\n{table}");
    fs::write(&report, &table)?;
    println!("{} written", report.display());
    Ok(())
}

fn measure(lab: &Lab, arguments: &Arguments) -> anyhow::Result<Results> {
    let partners = usize::from(arguments.partners);
    let offers = fill::offers_of(partners, arguments.offers);
    // A slice of offers for each number of connections: more for more connections, which use them up faster.
    let weights: Vec<_> = arguments.connections().iter().map(|&n| (n as f64).sqrt() + 4.0).collect();
    let other = arguments.beside.as_deref().map(|program| (BESIDE, lab.with(program)));
    let builds: Vec<_> = other.into_iter().chain([(LENDPAY, lab.clone())]).collect();
    let names = LIMITS.iter().map(|limit| limit.0).chain(builds.iter().map(|build| build.0)).collect::<Vec<_>>();
    let yardsticks = names.len() - 1;
    let mut results = Results::new(names, yardsticks);
    for round in 1..=arguments.rounds {
        println!("\nround {round} of {}", arguments.rounds);
        let mut servers = Vec::new();
        for (_, limit) in LIMITS {
            servers.push((start_limit(lab, limit)?, vec![String::new(); partners]));
        }
        for (name, lab) in &builds {
            let server = lab.serve(&lab.store(name), &[])?;
            let keys = fill::fill_for(partners, lab, &server, &offers)?;
            servers.push((server, keys));
        }
        // All of them are driven in turn in each cell: a machine whose speed changes changes it for all.
        for (&connections, slice) in arguments.connections().iter().zip(slices(&offers, &weights)) {
            for job in Job::ALL {
                for (place, (server, keys)) in servers.iter().enumerate() {
                    let cell = load::drive_for(keys, lab, server, job, connections, slice, arguments.seconds)?;
                    results.add(place, job, connections, cell);
                }
            }
        }
        servers.iter_mut().try_for_each(|(server, _)| server.kill())?;
        builds.iter().try_for_each(|(name, _)| remove(&lab.path(name)))?;
    }
    Ok(results)
}

/// Starts a yardstick. It has no operator's side.
fn start_limit(lab: &Lab, name: &str) -> anyhow::Result<Server> {
    let address = free_address()?;
    let mut command = lab.program("lendpay-lab");
    command.args(["limit", name, "--listen", &address.to_string()]).stdout(Stdio::null());
    if name == "disk" {
        command.arg("--file").arg(lab.path("synced"));
    }
    Server::start(&mut command, address, address)
}

/// Cuts `items` into consecutive slices in proportion to `weights`.
fn slices<'a, T>(items: &'a [T], weights: &[f64]) -> Vec<&'a [T]> {
    let (total, mut begin, mut so_far) = (weights.iter().sum::<f64>(), 0, 0.0);
    let slice = |weight: &f64| {
        so_far += weight;
        let end = ((items.len() as f64 * so_far / total) as usize).min(items.len());
        &items[std::mem::replace(&mut begin, end)..end]
    };
    weights.iter().map(slice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_distinct_and_cover_everything() {
        let items: Vec<_> = (0..100).collect();
        let slices = slices(&items, &[5.0, 8.0, 12.0]);
        assert_eq!(slices.concat(), items);
        assert!(slices[0].len() < slices[1].len() && slices[1].len() < slices[2].len());
    }
}
