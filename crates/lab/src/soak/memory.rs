//! How much memory the process has, over time.

use crate::bench::report::median;
use anyhow::ensure;

/// The part of the time in which the service warms up: its cache fills, its threads and buffers come.
const WARM_UP: f64 = 1.0 / 3.0;

/// What the store's index of its pages takes for a record, with room: 66 bytes were measured with 5,000,000 offers, on
/// which come the keys that are held in memory. It is what there is to grow besides the cache.
const RECORD: f64 = 120.0;

/// How much more there may be at the end of it all: noise of the allocator.
const SLACK: f64 = 1.10;

/// What the log may take while nobody reads it, in MiB: two buffers of 1 MiB, which double as they grow.
const LOG: f64 = 4.0;

/// Samples, with the number of records that there were.
#[derive(Default)]
pub struct Memory(Vec<(f64, usize)>);

impl Memory {
    /// So many MiB are resident now.
    pub fn note(&mut self, mib: f64, records: usize) {
        self.0.push((mib, records));
    }

    /// Fails if there is more at the end than after the warm-up, but for what new records take.
    pub fn judge(&self) -> anyhow::Result<String> {
        let count = self.0.len();
        let part = (count / 10).max(1);
        ensure!(count >= 10, "too short to say anything of memory");
        let first = (count as f64 * WARM_UP) as usize;
        let about = |samples: &[(f64, usize)]| {
            let mut memory: Vec<_> = samples.iter().map(|(mib, _)| *mib).collect();
            (median(&mut memory), samples[samples.len() / 2].1)
        };
        let ((warm, before), (end, after)) = (about(&self.0[first..first + part]), about(&self.0[count - part..]));
        let most = warm * SLACK + LOG + (after - before) as f64 * RECORD / f64::from(1 << 20);
        let said = format!(
            "memory: {warm:.0} MiB after the warm-up, {end:.0} MiB at the end, with {} more records",
            after - before
        );
        ensure!(end <= most, "{said}: more than {most:.0} MiB");
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    fn of(mib: impl Fn(usize) -> f64) -> Memory {
        Memory((0..100).map(|n| (mib(n), n)).collect())
    }

    #[test]
    fn growth_after_the_warm_up_is_found() {
        assert!(of(|n| 50.0 + 5.0 * n.min(30) as f64).judge().is_ok());
        assert!(of(|n| 50.0 + 0.5 * n as f64).judge().is_err());
        assert!(Memory::default().judge().is_err());
    }
}
