//! Webhooks: whether every event arrives, and what deliveries cost each other and commits.
//!
//! | module | subject |
//! |---|---|
//! | `service` | the service with endpoints, on either store |
//! | `arrival` | events, receivers that fail, kills |
//! | `delay` | what an endpoint that hangs costs the others |
//! | `cost` | what endpoints cost commits, and in memory |

mod arrival;
mod cost;
mod delay;
mod service;

use crate::lab::Lab;
use crate::stores::Wanted;

/// What is measured, and how much of it.
#[derive(clap::Args)]
pub struct Arguments {
    /// Events that have to arrive.
    #[arg(long, default_value_t = 20_000)]
    events: usize,
    /// Endpoints; half of them are the lender's.
    #[arg(long, default_value_t = 20)]
    endpoints: usize,
    /// How often the service is killed meanwhile.
    #[arg(long, default_value_t = 10)]
    kills: usize,
    /// How long each measurement takes, in seconds; 0 for none.
    #[arg(long, default_value_t = 4)]
    seconds: u32,
    /// How often the costs are measured; the medians count.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Take the service as tests build it, which takes no time to build.
    #[arg(long)]
    unoptimized: bool,
    #[command(flatten)]
    wanted: Wanted,
}

/// Measures on both stores; fails if an event is missing or something costs too much.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("webhooks", !arguments.unoptimized)?;
    lab.needs("everyday")?;
    let all = arguments.wanted.start();
    for stores in &all {
        println!("\n{}", stores.name());
        arrival::run(&lab, stores, arguments)?;
    }
    if arguments.seconds == 0 {
        return Ok(());
    }
    lab.needs("load")?;
    let mut failed = Vec::new();
    for stores in &all {
        let name = stores.name();
        println!("\n{name}");
        for complaint in [delay::run(&lab, stores, arguments.seconds)?, cost::run(&lab, stores, arguments)?].concat() {
            failed.push(format!("{name}: {complaint}"));
        }
    }
    anyhow::ensure!(failed.is_empty(), "too much: {}", failed.join("; "));
    Ok(())
}
