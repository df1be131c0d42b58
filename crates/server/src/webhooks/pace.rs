//! How much of the processors deliveries may use, so that they yield to requests.
//!
//! Their thread has a low priority, but that alone does not make them yield: what they do while requests wait for a
//! disk delays these too, in caches and in the kernel.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::{Duration, Instant};

/// How often the clocks of the processors are read, and how long deliveries pause that have used too much.
pub const PAUSE: Duration = Duration::from_millis(5);

/// The part of the machine below which requests and deliveries together do not disturb each other. What a database does
/// for the process counts as if it was done here.
const FREE: f64 = 0.25;

/// How much deliveries may always use, for what the rest of the process uses.
const SHARE: f64 = 0.05;

/// How much may be used at a time after less was used, in seconds of a processor.
const SAVED: f64 = 0.02;

/// What deliveries may use: what remains of a part of the machine, or else a share of what the rest of the process
/// uses.
pub struct Pace {
    /// How many processors may be used without yielding.
    free: f64,
    /// How many times as much as the process the store uses elsewhere.
    elsewhere: f64,
    read: Used,
    /// What may be used now, in seconds of a processor.
    credit: f64,
}

/// What has been used at a moment.
#[derive(Clone, Copy)]
struct Used {
    at: Instant,
    by_process: Duration,
    by_thread: Duration,
}

impl Used {
    fn now() -> Self {
        let used = |clock| {
            let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
            let positive = "a time that was used is not negative";
            Duration::new(tv_sec.try_into().expect(positive), tv_nsec.try_into().expect(positive))
        };
        let (by_process, by_thread) = (used(ClockId::ProcessCPUTime), used(ClockId::ThreadCPUTime));
        Self { at: Instant::now(), by_process, by_thread }
    }
}

impl Pace {
    /// Beside a store that uses so many times as much elsewhere as the process does here.
    pub fn new(elsewhere: u32) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, Into::into);
        Self::of(processors, elsewhere)
    }

    fn of(processors: usize, elsewhere: u32) -> Self {
        Self { free: FREE * processors as f64, elsewhere: elsewhere.into(), read: Used::now(), credit: SAVED }
    }

    /// Whether the thread that asks, which delivers, may do more now.
    pub fn allows(&mut self) -> bool {
        if self.read.at.elapsed() >= PAUSE {
            let now = Used::now();
            let Used { at, by_process, by_thread } = self.read;
            let own = now.by_thread.saturating_sub(by_thread);
            let others = now.by_process.saturating_sub(by_process).saturating_sub(own);
            self.used(now.at - at, others, own);
            self.read = now;
        }
        self.credit > 0.0
    }

    /// In a time deliveries and the rest of the process have used so much.
    fn used(&mut self, time: Duration, others: Duration, own: Duration) {
        let others = others.as_secs_f64();
        let may = (self.free * time.as_secs_f64() - others * (1.0 + self.elsewhere)).max(SHARE * others);
        self.credit = (self.credit + may - own.as_secs_f64()).min(SAVED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of a processor that deliveries get that want it all, beside others that use a part of two.
    fn part(elsewhere: u32, others: f64) -> f64 {
        let mut pace = Pace::of(2, elsewhere);
        let mut own = 0;
        for _ in 0..100_000 {
            let sends = pace.credit > 0.0;
            own += u32::from(sends);
            pace.used(PAUSE, PAUSE.mul_f64(others), if sends { PAUSE } else { Duration::ZERO });
        }
        f64::from(own) / 100_000.0
    }

    #[test]
    fn deliveries_get_what_is_left_of_a_part_and_else_a_share_of_what_others_use() {
        for (others, gets) in [(0.0, 0.5), (0.2, 0.3), (0.5, 0.025), (1.0, 0.05), (2.0, 0.1)] {
            assert!((part(0, others) - gets).abs() < 0.01, "{others}: {}", part(0, others));
        }
    }

    #[test]
    fn what_a_database_does_for_others_counts() {
        for (others, gets) in [(0.0, 0.5), (0.1, 0.3), (0.25, 0.0125), (0.4, 0.02)] {
            assert!((part(1, others) - gets).abs() < 0.01, "{others}: {}", part(1, others));
        }
    }
}
