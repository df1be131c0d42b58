//! Medians over the rounds, and what they are to the limits.

use super::load::{Cell, Job};
use crate::server::Kind;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Everything that was measured.
#[derive(Default)]
pub struct Results(BTreeMap<(Job, usize, Kind), Vec<Cell>>);

impl Results {
    /// Adds a cell of a round.
    pub fn add(&mut self, kind: Kind, job: Job, connections: usize, cell: Cell) {
        self.0.entry((job, connections, kind)).or_default().push(cell);
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// The numbers of connections, ascending.
    pub fn connections(&self) -> Vec<usize> {
        let mut all: Vec<_> = self.0.keys().map(|(_, connections, _)| *connections).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The median of a figure.
    pub fn median(&self, kind: Kind, job: Job, connections: usize, figure: impl Fn(&Cell) -> f64) -> f64 {
        let mut values: Vec<_> = self.0.get(&(job, connections, kind)).into_iter().flatten().map(figure).collect();
        median(&mut values)
    }
}

/// The middle of some values; of an even number, the middle of the two there.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// The report for people, in Markdown.
pub fn table(results: &Results) -> String {
    let mut text = String::new();
    for job in Job::ALL {
        let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
        line(format!("## {}\n", job.name()));
        line("| connections | server | requests/s | p50 ms | p99 ms | p99.9 ms | errors | CPU µs | peak MiB | of (a) | of (b) | p99 to (a) |".into());
        line(format!("|{}", "---|".repeat(12)));
        for connections in results.connections() {
            for kind in Kind::ALL {
                let median = |figure: fn(&Cell) -> f64| results.median(kind, job, connections, figure);
                let to =
                    |limit, figure: fn(&Cell) -> f64| median(figure) / results.median(limit, job, connections, figure);
                line(format!(
                    "| {connections} | {} | {:.0} | {:.2} | {:.2} | {:.2} | {:.0} | {:.1} | {:.0} | {:.2} | {:.2} | {:.2} |",
                    kind.name(),
                    median(|cell| cell.rps),
                    median(|cell| cell.p50_ms),
                    median(|cell| cell.p99_ms),
                    median(|cell| cell.p999_ms),
                    median(|cell| cell.errors as f64),
                    median(|cell| cell.cpu_us),
                    median(|cell| cell.peak_mib),
                    to(Kind::Disk, |cell| cell.rps),
                    to(Kind::Poem, |cell| cell.rps),
                    to(Kind::Disk, |cell| cell.p99_ms),
                ));
            }
        }
        line(String::new());
    }
    text
}

/// The report for programs: every cell of every round.
pub fn json(results: &Results) -> anyhow::Result<String> {
    let cells: Vec<_> = results
        .0
        .iter()
        .map(|((job, connections, kind), rounds)| {
            json!({ "server": kind.name(), "job": job.name(), "connections": connections, "rounds": rounds })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&cells)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(rps: f64) -> Cell {
        Cell { rps, p50_ms: 1.0, p99_ms: 2.0, p999_ms: 3.0, errors: 0, cpu_us: 4.0, peak_mib: 5.0 }
    }

    #[test]
    fn the_median_is_the_middle_and_ratios_are_of_medians() {
        let mut results = Results::default();
        for rps in [300.0, 100.0, 200.0] {
            results.add(Kind::Disk, Job::Accept, 64, cell(rps));
            results.add(Kind::Lendpay, Job::Accept, 64, cell(rps / 2.0));
        }
        assert!((results.median(Kind::Disk, Job::Accept, 64, |cell| cell.rps) - 200.0).abs() < f64::EPSILON);
        assert!(
            table(&results).contains("| 64 | lendpay | 100 | 1.00 | 2.00 | 3.00 | 0 | 4.0 | 5 | 0.50 | NaN | 1.00 |")
        );
        assert_eq!(results.count(), 6);
        assert_eq!(results.connections(), [64]);
    }
}
