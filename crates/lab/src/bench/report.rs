//! Medians over the rounds, and what they are to those of the yardsticks.

use crate::load::{Cell, Job};
use std::collections::BTreeMap;

/// Everything that was measured, of servers that are known by their place in a list.
pub struct Results {
    servers: Vec<&'static str>,
    /// How many of the servers, from the first, the others are compared with.
    yardsticks: usize,
    cells: BTreeMap<(Job, usize, usize), Vec<Cell>>,
}

impl Results {
    /// Nothing yet of these servers.
    pub const fn new(servers: Vec<&'static str>, yardsticks: usize) -> Self {
        Self { servers, yardsticks, cells: BTreeMap::new() }
    }

    /// Adds a cell of a round, and shows it.
    pub fn add(&mut self, server: usize, job: Job, connections: usize, cell: Cell) {
        let figures =
            FIGURES.iter().zip(&HEAD[2..]).map(|((figure, digits), name)| format!("{:.digits$} {name}", figure(&cell)));
        println!("  {} {}: {}", job.name(), self.servers[server], figures.collect::<Vec<_>>().join(", "));
        self.cells.entry((job, connections, server)).or_default().push(cell);
    }

    fn median(&self, (job, connections, server): (Job, usize, usize), figure: Figure) -> f64 {
        let cells = self.cells.get(&(job, connections, server)).into_iter().flatten();
        median(&mut cells.map(figure).collect::<Vec<_>>())
    }

    /// The report in Markdown.
    pub fn table(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = String::new();
        for job in Job::ALL {
            let mut head: Vec<_> = HEAD.iter().map(|&name| name.to_owned()).collect();
            head.extend(self.servers[..self.yardsticks].iter().map(|name| format!("of {name} | p99 to it")));
            let rule = vec!["---".to_owned(); HEAD.len() + 2 * self.yardsticks];
            text += &format!("## {}\n\n{}{}", job.name(), row(head), row(rule));
            for place in self.cells.keys().filter(|place| place.0 == job) {
                let (_, connections, server) = *place;
                let median = |figure| self.median(*place, figure);
                let mut cells = vec![connections.to_string(), self.servers[server].to_owned()];
                cells.extend(FIGURES.map(|(figure, digits)| format!("{:.digits$}", median(figure))));
                cells.extend((0..self.yardsticks).map(|yardstick| {
                    let to = |figure| median(figure) / self.median((job, connections, yardstick), figure);
                    format!("{:.2} | {:.2}", to(Cell::rps), to(|cell| cell.p99_ms))
                }));
                text += &row(cells);
            }
            text.push('\n');
        }
        text
    }
}

const HEAD: [&str; 9] =
    ["connections", "server", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "errors", "CPU µs", "peak MiB"];

type Figure = fn(&Cell) -> f64;

/// Those of a cell, with the digits that they are shown with.
const FIGURES: [(Figure, usize); 7] = [
    (Cell::rps, 0),
    (|cell| cell.p50_ms, 2),
    (|cell| cell.p99_ms, 2),
    (|cell| cell.p999_ms, 2),
    (|cell| cell.errors, 0),
    (|cell| cell.cpu_us, 1),
    (|cell| cell.peak_mib, 0),
];

/// The middle of some values; of an even number, the middle of the two there.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_ratios_are_of_medians() {
        let mut results = Results::new(vec!["limit", "lendpay"], 1);
        for rps in [300.0, 100.0, 200.0] {
            let cell = Cell {
                requests: rps,
                seconds: 1.0,
                p50_ms: 1.0,
                p99_ms: 2.0,
                p999_ms: 3.0,
                errors: 0.0,
                cpu_us: 4.0,
                peak_mib: 5.0,
            };
            results.add(0, Job::Accept, 64, cell);
            results.add(1, Job::Accept, 64, Cell { seconds: 2.0, ..cell });
        }
        let table = results.table();
        assert!(table.contains("| 64 | limit | 200 | 1.00 | 2.00 | 3.00 | 0 | 4.0 | 5 | 1.00 | 1.00 |"), "{table}");
        assert!(table.contains("| 64 | lendpay | 100 | 1.00 | 2.00 | 3.00 | 0 | 4.0 | 5 | 0.50 | 1.00 |"), "{table}");
        assert!((median(&mut [4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }
}
