//! The operator, who puts offers as fast as they are accepted, and reads what is there.

use super::Shared;
use crate::fill::{self, Pair};
use crate::http::Operator;
use std::time::Duration;

/// How many offers wait to be accepted.
const AHEAD: usize = 2_000;

pub fn feed(shared: &Shared) -> anyhow::Result<()> {
    let mut operator = Operator::new(shared.operator);
    let mut made = 0;
    while !shared.over() {
        if shared.ledger.open_offers() >= AHEAD {
            operator.call("GET", "/operator/events?limit=100", "", &[200])?;
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let id = || uuid::Uuid::from_u128(rand::random()).to_string();
        let pair = Pair { partner: 0, application: id(), offer: id() };
        operator.call("PUT", &pair.application_path(), &fill::application(), &[201])?;
        operator.call("PUT", &pair.operator_path(), &fill::terms(made), &[201])?;
        if made % 10 == 0 {
            // New terms, and a body that is refused.
            operator.call("PUT", &pair.operator_path(), &fill::terms(made + 1), &[200])?;
            operator.call("PUT", &pair.operator_path(), "{", &[400])?;
        }
        shared.ledger.offer(pair);
        made += 1;
    }
    Ok(())
}
