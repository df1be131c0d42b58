//! What was acknowledged survives: kill -9 and power cuts under load, everything acknowledged checked afterwards.
//!
//! | module | subject |
//! |---|---|
//! | `disk` | a disk whose power can be cut |
//! | `load` | writers that remember what they were told |

mod disk;
mod load;

use crate::server::{Kind, Server, remove, shipped};
use crate::{fill, tools};
use anyhow::Context as _;
use disk::Disk;
use load::{Ledger, Load, Page};
use std::fs;
use std::path::Path;
use std::time::Instant;

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
}

/// Builds the service and runs all rounds.
pub fn run(root: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let programs = shipped(root, &["lendpay"])?;
    let folder = root.join("target/durability");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;

    let data = folder.join("data");
    remove(&data)?;
    rounds(&programs, &folder, &data, arguments, arguments.kills, "kill -9", &mut |server, _| server.kill())?;
    remove(&data)?;
    if arguments.cuts == 0 {
        return Ok(());
    }
    if !tools::is_root(root) {
        println!("\nPOWER CUTS NOT DONE: a loop device needs root.");
        return Ok(());
    }
    tools::debian_packages(root, tools::POWER_SWITCH)?;
    let disk = Disk::create(root, &folder)?;
    let data = disk.mounted_at().join("data");
    rounds(&programs, &folder, &data, arguments, arguments.cuts, "power cut", &mut |server, ledger| {
        // A machine without power answers nobody. This one does: in every seventh cut or so the kernel reports one more sync
        // as done that is lost, also to a loop that does nothing but append and fdatasync.
        ledger.close();
        // The power goes first: a process that is killed by a signal could not write either, but a cut must be what ends it.
        disk.cut()?;
        server.kill()?;
        disk.restore()
    })
}

fn rounds(
    programs: &Path,
    folder: &Path,
    data: &Path,
    arguments: &Arguments,
    count: usize,
    name: &str,
    end: &mut dyn FnMut(&mut Server, &Ledger) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if count == 0 {
        return Ok(());
    }
    println!("\n{name}: {count} rounds of {} acknowledged writes by {} writers", arguments.writes, arguments.writers);
    let offers = fill::offers(count * arguments.writes + 20_000);
    let mut server = Server::start(programs, folder, Kind::Lendpay, data)?;
    let key = fill::fill(&server, folder, &offers)?;
    let ledger = Ledger::new(offers);
    for round in 1..=count {
        let overwriting = round % 2 == 0;
        let page = ledger.page();
        let load = Load { server: &server, key: &key, ledger: &ledger, overwriting };
        let killed = load.run(arguments.writers, arguments.writes)?;
        end(&mut server, &ledger)?;
        killed.join()?;
        let begin = Instant::now();
        server = Server::start(programs, folder, Kind::Lendpay, data)
            .with_context(|| format!("round {round}: the store does not open again"))?;
        let reopened = begin.elapsed();
        let checked = ledger.check(&server, &key, page)?;
        checked.nothing_lost().with_context(|| format!("round {round}"))?;
        println!(
            "  round {round}{}: open again in {:.2} s, {} records checked, 0 lost",
            if overwriting { ", overwriting" } else { "" },
            reopened.as_secs_f64(),
            checked.count
        );
    }
    let checked = ledger.check(&server, &key, Page::default())?;
    checked.nothing_lost().context("in the end")?;
    server.kill()?;
    println!("{name}: 0 of {} acknowledged writes lost, 0 of {count} openings failed", ledger.acknowledged());
    Ok(())
}
