//! What the rate limit, the log lines and the traces cost: the same server with and without each, in one run.

use super::report::Results;
use crate::fill;
use crate::lab::Lab;
use crate::load::{self, Job};
use anyhow::Context as _;

const CONNECTIONS: usize = 64;

/// How many accepts one measurement takes.
const ACCEPTS: usize = 60_000;

/// For how long buyers are created, in seconds.
const SECONDS: u32 = 3;

/// A limit that counts, and that nobody meets.
const LIMIT: [&str; 2] = ["--rate-limit", "1000000000/1s"];

/// Measures every variant in turn, so often; the yardstick is the first.
pub fn measure(lab: &Lab, rounds: usize) -> anyhow::Result<Results> {
    // It takes traces too.
    let poem = super::start_limit(lab, "poem")?;
    let collector = format!("http://{}", poem.partner);
    let variants: [(&str, Vec<&str>); 5] = [
        ("neither limit nor log", vec!["--log", "off"]),
        ("log, no limit", vec![]),
        ("limit, no log", [&LIMIT[..], &["--log", "off"]].concat()),
        ("as it ships", LIMIT.to_vec()),
        ("and traces", [&LIMIT[..], &["--otlp-endpoint", &collector]].concat()),
    ];
    let (offers, store) = (fill::offers(ACCEPTS * rounds * variants.len()), lab.store("data"));
    let mut server = lab.serve(&store, &[])?;
    let key = fill::fill(lab, &server, &offers)?;
    server.stop()?;
    let mut slices = offers.chunks(ACCEPTS);
    let mut results = Results::new(variants.iter().map(|(name, _)| *name).collect(), 1);
    for round in 1..=rounds {
        println!("\nround {round} of {rounds}");
        for (place, (_, more)) in variants.iter().enumerate() {
            let mut server = lab.serve(&store, more)?;
            let slice = slices.next().context("offers for every measurement")?;
            for (job, offers, seconds) in [(Job::Accept, slice, 60), (Job::Create, &[][..], SECONDS)] {
                let cell = load::drive(lab, &server, &key, job, CONNECTIONS, offers, seconds)?;
                results.add(place, job, CONNECTIONS, cell);
            }
            server.stop()?;
        }
    }
    Ok(results)
}
