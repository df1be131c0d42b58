//! Whether cost grows with the data.

use super::Place;
use crate::bench::report::median;
use crate::fill::{self, Pair};
use crate::load::{self, Job};
use crate::server::Server;
use anyhow::Context as _;
use std::time::Instant;

/// How many offers the small store holds.
const FEW: usize = 50_000;

/// How often the two stores are measured in turn.
const ROUNDS: usize = 5;

/// How many accepts one measurement may take: the small store's share.
const ACCEPTS: usize = FEW / ROUNDS;

const CONNECTIONS: usize = 64;

pub fn measure(place: &Place, many: usize, updates: usize) -> anyhow::Result<()> {
    let (mut small, small_key) = place.filled("small", FEW)?;
    let (mut large, large_key) = place.filled("large", many)?;
    println!("  {:.0} bytes of disk an offer; {}", place.size("large")? / many as f64, memory(&large)?);

    let (few, all) = (fill::offers(FEW), fill::offers(many));
    // From all over the store, so that most of what is needed is in no cache.
    let stride = (many / FEW).max(2);
    let spread: Vec<Pair> = all.iter().step_by(stride).take(FEW).cloned().collect();
    let (mut of_few, mut of_many) = (Vec::new(), Vec::new());
    for (few, spread) in few.chunks(ACCEPTS).zip(spread.chunks(ACCEPTS)) {
        of_few.push(accepts(place, &small, &small_key, few)?);
        of_many.push(accepts(place, &large, &large_key, spread)?);
    }
    let (of_few, of_many) = (median(&mut of_few), median(&mut of_many));
    println!(
        "  accepts with {CONNECTIONS} connections: {of_few:.0}/s with {FEW} offers, {of_many:.0}/s with {many}: {:.2} times",
        of_many / of_few
    );
    println!("  {}", memory(&large)?);
    small.stop()?;

    if updates > 0 {
        // What was accepted cannot be overwritten; the spread begins with the first offer, so these are the others.
        let open: Vec<Pair> =
            all.iter().enumerate().filter(|(n, _)| n % stride != 0).map(|(_, pair)| pair.clone()).collect();
        for (round, start) in (0..updates).step_by(open.len()).enumerate() {
            fill::overwrite(&place.lab, &large, &open[..open.len().min(updates - start)], (round + 1) * many)?;
        }
        let size = place.size("large")? / many as f64;
        println!("  {size:.0} bytes of disk an offer after {updates} updates; {}", memory(&large)?);
    }

    let begin = Instant::now();
    large.stop()?;
    println!("  stopped in {:.2} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let large = place.start("large").context("the large store does not open again")?;
    println!("  open again in {:.2} s; {}", begin.elapsed().as_secs_f64(), memory(&large)?);
    Ok(())
}

fn accepts(place: &Place, server: &Server, key: &str, offers: &[Pair]) -> anyhow::Result<f64> {
    /// Longer than so few accepts take.
    const SECONDS: u32 = 60;
    let cell = load::drive(&place.lab, server, key, Job::Accept, CONNECTIONS, offers, SECONDS)?;
    anyhow::ensure!(cell.errors == 0.0, "{} accepts failed", cell.errors);
    Ok(cell.rps())
}

fn memory(server: &Server) -> anyhow::Result<String> {
    Ok(format!("{:.0} MiB of memory at most", server.peak_memory()?))
}
