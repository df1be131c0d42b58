//! A reader of the service's log that stalls: the log is a pipe, and it fills up.

use super::ROUND;
use crate::http::Operator;
use crate::soak::{Shared, dropped_lines};
use std::sync::atomic::Ordering;

pub fn attack(shared: &Shared) -> anyhow::Result<()> {
    let mut operator = Operator::new(shared.operator);
    while !shared.over() {
        shared.log_stalled.store(true, Ordering::SeqCst);
        let stalled = stall(shared, &mut operator);
        shared.log_stalled.store(false, Ordering::SeqCst);
        stalled?;
        std::thread::sleep(ROUND);
    }
    Ok(())
}

/// Until lines have been dropped; requests of its own see to it that there are enough.
fn stall(shared: &Shared, operator: &mut Operator) -> anyhow::Result<()> {
    let before = dropped_lines(operator)?;
    while dropped_lines(operator)? == before {
        for _ in 0..100 {
            operator.call("GET", "/health/live", "", &[200])?;
        }
    }
    // Everybody else goes on meanwhile.
    std::thread::sleep(ROUND.min(shared.until.saturating_duration_since(std::time::Instant::now())));
    Ok(())
}
