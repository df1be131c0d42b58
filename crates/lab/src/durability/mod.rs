//! What was acknowledged survives: kill -9 and power cuts under load, everything acknowledged checked afterwards.
//!
//! | module | subject |
//! |---|---|
//! | `disk` | a disk whose power can be cut |
//! | `writers` | clients that go on until the service is gone |

mod disk;
mod writers;

use crate::fill;
use crate::lab::Lab;
use crate::ledger::{Ledger, Page};
use crate::server::Server;
use anyhow::Context as _;
use disk::Disk;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use writers::Writers;

/// How the rounds are run.
#[derive(clap::Args)]
pub struct Arguments {
    /// Rounds that end with kill -9.
    #[arg(long, default_value_t = 30)]
    kills: usize,
    /// Rounds that end with a power cut; in every second one old offers are overwritten as fast as possible.
    #[arg(long, default_value_t = 20)]
    cuts: usize,
    /// Acknowledged writes in a round before its end.
    #[arg(long, default_value_t = 20_000)]
    writes: usize,
    /// Concurrent writers.
    #[arg(long, default_value_t = 64)]
    writers: usize,
    /// Take the service as tests build it, which takes no time to build.
    #[arg(long)]
    unoptimized: bool,
}

/// How many offers are never accepted: their terms are overwritten instead.
const OVERWRITTEN: usize = 20_000;

/// Builds the service and runs all rounds.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("durability", !arguments.unoptimized)?;
    lab.needs("load")?;
    if arguments.kills > 0 {
        let kill = |server: &mut Server, _: &Ledger| server.kill();
        rounds(&lab, &lab.store("data"), arguments, arguments.kills, "kill -9", &kill)?;
    }
    if arguments.cuts == 0 {
        return Ok(());
    }
    if !rustix::process::getuid().is_root() {
        println!("\nPOWER CUTS NOT DONE: a loop device needs root.");
        return Ok(());
    }
    lab.needs("power-switch")?;
    let disk = Disk::create(&lab)?;
    let cut = |server: &mut Server, ledger: &Ledger| {
        // A machine without power answers nobody. This one does: in every seventh cut or so the kernel reports one more
        // sync as done that is lost, also to a loop that does nothing but append and fdatasync.
        ledger.closed.store(true, Ordering::SeqCst);
        // The power goes first: a process that is killed by a signal could not write either, but a cut must be what
        // ends it.
        disk.cut()?;
        server.kill()?;
        disk.restore()
    };
    rounds(&lab, &disk.store(), arguments, arguments.cuts, "power cut", &cut)
}

fn rounds(
    lab: &Lab,
    store: &str,
    arguments: &Arguments,
    count: usize,
    name: &str,
    end: &dyn Fn(&mut Server, &Ledger) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    println!("\n{name}: {count} rounds of {} acknowledged writes by {} writers", arguments.writes, arguments.writers);
    let mut offers = fill::offers(count * arguments.writes + OVERWRITTEN);
    let mut server = lab.serve(store, &[])?;
    let key = fill::fill(lab, &server, &offers)?;
    let overwritten = offers.split_off(offers.len() - OVERWRITTEN);
    let amount = offers.len();
    let ledger = Arc::new(Ledger::new(offers, overwritten, amount));
    for round in 1..=count {
        let (overwriting, page) = (round % 2 == 0, ledger.page());
        let writers = Writers::start(&server, &key, &ledger, overwriting, arguments.writers, arguments.writes)?;
        end(&mut server, &ledger)?;
        writers.join()?;
        let begin = Instant::now();
        server = lab.serve(store, &[]).with_context(|| format!("round {round}: the store does not open again"))?;
        let reopened = begin.elapsed().as_secs_f64();
        let checked = ledger.check_answers(&server, &key, page).with_context(|| format!("round {round}"))?;
        let what = if overwriting { ", overwriting" } else { "" };
        println!("  round {round}{what}: open again in {reopened:.2} s, {checked} records checked, 0 lost");
    }
    ledger.check_answers(&server, &key, Page::default()).context("in the end")?;
    server.stop()?;
    println!("  {}", ledger.check_export(lab, store)?);
    println!("{name}: 0 of {} acknowledged writes lost, 0 of {count} openings failed", ledger.acknowledged());
    Ok(())
}
