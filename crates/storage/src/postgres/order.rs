//! In which order changes are numbered that wait for a sequence: a hybrid logical clock (Kulkarni and others, 2014).
//!
//! It gives the time of the change, or the microsecond after the last time that it gave or saw, whichever is later.
//! Every row has the time of its last change, and whoever loads a row has seen that. So a change comes after everything
//! that this process did or has read before it, whatever the clocks of the processes say; the rest is as near as those
//! are.

use lendpay_domain::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Default)]
pub(super) struct Order(AtomicI64);

impl Order {
    /// The time that orders a change.
    pub(super) fn next(&self, at: Option<Timestamp>) -> Timestamp {
        let wanted = at.map_or(i64::MIN, |at| at.timestamp_micros());
        let next = |last: i64| wanted.max(last + 1);
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        // The update never refuses; both arms hold what was there before it.
        let micros = next(last.unwrap_or_else(|last| last));
        Timestamp::from_timestamp_micros(micros).expect("no clock is 200,000 years ahead")
    }

    /// A change with this time was read.
    pub(super) fn observe(&self, at: Timestamp) {
        self.0.fetch_max(at.timestamp_micros(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_timestamp_micros(1_700_000_000_000_000 + micros).expect("in range")
    }

    #[test]
    fn a_change_comes_after_what_this_process_did_and_what_it_read() {
        let order = Order::default();
        assert_eq!(order.next(Some(at(5))), at(5));
        assert_eq!(order.next(Some(at(5))), at(6), "a clock that stands still");
        assert_eq!(order.next(Some(at(1))), at(7), "a clock that was set back");
        order.observe(at(20));
        assert_eq!(order.next(Some(at(9))), at(21), "another process's clock is early");
        order.observe(at(8));
        assert_eq!(order.next(None), at(22), "no time of its own");
        assert_eq!(order.next(Some(at(90))), at(90));
    }
}
