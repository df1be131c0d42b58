//! In which order events are numbered that wait for a number: a hybrid logical clock (Kulkarni and others, 2014).
//!
//! It gives the time of the change, or the microsecond after the last time that it gave or that the change before it of the same
//! subject has, whichever is later. So what one process did is in the order in which it was done, what happened to one offer too,
//! whatever the clocks of the processes say; the rest is as near as those are.

use lendpay_domain::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Default)]
pub(super) struct Order(AtomicI64);

impl Order {
    /// The time that orders a change.
    pub(super) fn next(&self, at: Timestamp, before: Option<Timestamp>) -> Timestamp {
        let wanted = before.map_or(i64::MIN, |before| before.timestamp_micros() + 1).max(at.timestamp_micros());
        let next = |last: i64| wanted.max(last + 1);
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        // The update never refuses; both arms hold what was there before it.
        let micros = next(last.unwrap_or_else(|last| last));
        Timestamp::from_timestamp_micros(micros).unwrap_or(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_timestamp_micros(1_700_000_000_000_000 + micros).expect("in range")
    }

    #[test]
    fn a_change_comes_after_what_this_process_did_and_after_the_one_before_it() {
        let order = Order::default();
        assert_eq!(order.next(at(5), None), at(5));
        assert_eq!(order.next(at(5), None), at(6), "a clock that stands still");
        assert_eq!(order.next(at(1), None), at(7), "a clock that was set back");
        assert_eq!(order.next(at(9), Some(at(20))), at(21), "another process's clock is early");
        assert_eq!(order.next(at(9), Some(at(8))), at(22));
        assert_eq!(order.next(at(90), Some(at(8))), at(90));
    }
}
