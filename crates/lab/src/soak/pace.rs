//! How long a client that behaves well waits for its answers, before the attack and during it.

use super::Shared;
use crate::bench::report::median;
use crate::fill::BUYERS;
use crate::http::Connection;
use crate::ledger::locked;
use anyhow::ensure;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How much longer it may wait while the service is attacked, at the 99th percentile.
const MOST: f64 = 3.0;

/// What counts as one measurement. The median of many tells more than one of all of them.
const WINDOW: Duration = Duration::from_secs(1);

/// How long it pauses between two requests.
const PAUSE: Duration = Duration::from_millis(5);

/// The 99th percentiles of windows, in milliseconds.
#[derive(Default)]
pub struct Pace {
    alone: Mutex<Vec<f64>>,
    attacked: Mutex<Vec<f64>>,
}

/// Creates buyers one after the other, and notes how long that takes.
pub fn measure(shared: &Shared) -> anyhow::Result<()> {
    let mut connection = Connection::new(shared.partner);
    while !shared.over() {
        let (start, alone, mut times) = (Instant::now(), shared.attacked_from > Instant::now(), Vec::new());
        while start.elapsed() < WINDOW && !shared.over() {
            let key = shared.keys.any();
            let sent = Instant::now();
            let answer = key.post(&mut connection, BUYERS, &[], b"{}")?;
            times.push(sent.elapsed().as_secs_f64() * 1_000.0);
            if let Some(answer) = answer {
                ensure!(answer.status == 201, "a client that behaves well: {} {}", answer.status, answer.body);
                shared.ledger.created(None, answer.text("id")?);
            }
            std::thread::sleep(PAUSE);
        }
        times.sort_by(f64::total_cmp);
        let windows = if alone { &shared.pace.alone } else { &shared.pace.attacked };
        locked(windows).extend(times.get(times.len() * 99 / 100));
    }
    Ok(())
}

impl Pace {
    /// Fails if the attack made it wait too long.
    pub fn judge(&self) -> anyhow::Result<String> {
        let of = |windows: &Mutex<Vec<f64>>| median(&mut locked(windows));
        let (alone, attacked) = (of(&self.alone), of(&self.attacked));
        let said =
            format!("p99 of a client that behaves well: {alone:.1} ms before the attack, {attacked:.1} ms during it");
        ensure!(attacked <= alone * MOST, "{said}");
        Ok(said)
    }
}
