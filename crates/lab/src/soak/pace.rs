//! How long clients that behave well wait for their answers, before the attack and during it.

use super::Shared;
use crate::bench::report::median;
use crate::fill::BUYERS;
use crate::http::Connection;
use crate::ledger::locked;
use anyhow::ensure;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many such clients there are: together they send some hundred requests in a window, so that its 99th percentile
/// is more than its worst.
pub const CLIENTS: usize = 8;

/// How much longer they may wait while the service is attacked, at the 99th percentile.
const MOST: f64 = 3.0;

/// What counts as one measurement. The median of many tells more than one of all of them.
const WINDOW: Duration = Duration::from_secs(1);

/// How long each pauses between two requests.
const PAUSE: Duration = Duration::from_millis(5);

/// When each request was sent, and how long its answer took.
#[derive(Default)]
pub struct Pace(Mutex<Vec<(Instant, Duration)>>);

/// Creates buyers one after the other, and notes how long that takes.
pub fn measure(shared: &Shared) -> anyhow::Result<()> {
    let mut connection = Connection::new(shared.partner);
    while !shared.over() {
        let key = shared.keys.any();
        let sent = Instant::now();
        let answer = key.post(&mut connection, BUYERS, &[], b"{}")?;
        locked(&shared.pace.0).push((sent, sent.elapsed()));
        if let Some(answer) = answer {
            ensure!(answer.status == 201, "a client that behaves well: {} {}", answer.status, answer.body);
            shared.ledger.created(None, answer.text("id")?);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

impl Pace {
    /// Fails if the attack, which began at a time, made them wait too long.
    pub fn judge(&self, attacked_from: Instant) -> anyhow::Result<String> {
        let (before, during): (Vec<_>, Vec<_>) =
            locked(&self.0).iter().copied().partition(|(sent, took)| *sent + *took < attacked_from);
        let (before, during) = (percentile_of_windows(&before), percentile_of_windows(&during));
        let said =
            format!("p99 of clients that behave well: {before:.1} ms before the attack, {during:.1} ms during it");
        ensure!(during <= before * MOST, "{said}: more than {MOST} times as long");
        Ok(said)
    }
}

/// The median of the windows' 99th percentiles, in milliseconds.
fn percentile_of_windows(samples: &[(Instant, Duration)]) -> f64 {
    let first = samples.iter().map(|(sent, _)| *sent).min();
    let mut windows: BTreeMap<u128, Vec<f64>> = BTreeMap::new();
    for (sent, took) in samples {
        let window = first.map_or(0, |first| (*sent - first).as_nanos() / WINDOW.as_nanos());
        windows.entry(window).or_default().push(took.as_secs_f64() * 1_000.0);
    }
    let percentile = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() * 99 / 100]
    };
    median(&mut windows.into_values().map(percentile).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two minutes with a request each 2 ms; the attack begins after the first.
    fn judged(during: impl Fn(u64) -> u64) -> anyhow::Result<String> {
        let start = Instant::now();
        let attacked_from = start + Duration::from_secs(60);
        let at = |n: u64| start + Duration::from_millis(2 * n);
        let took = |n: u64| if at(n) < attacked_from { 10 } else { during(n) };
        let samples = (0..60_000).map(|n| (at(n), Duration::from_millis(took(n)))).collect();
        Pace(Mutex::new(samples)).judge(attacked_from)
    }

    #[test]
    fn an_attack_that_makes_others_wait_is_found() {
        let said = "p99 of clients that behave well: 10.0 ms before the attack, 30.0 ms during it";
        assert_eq!(judged(|_| 30).unwrap(), said);
        let error = judged(|_| 31).unwrap_err().to_string();
        assert!(error.ends_with("31.0 ms during it: more than 3 times as long"), "{error}");
        assert!(judged(|n| if n % 50 == 0 { 31 } else { 10 }).is_err());
    }

    #[test]
    fn a_second_in_which_the_machine_stood_still_does_not_count() {
        assert!(judged(|n| if (40_000..40_500).contains(&n) { 900 } else { 10 }).is_ok());
        assert!(judged(|n| if n % 200 == 0 { 900 } else { 10 }).is_ok());
    }
}
