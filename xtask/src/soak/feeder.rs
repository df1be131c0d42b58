//! The operator, who puts offers as fast as they are accepted, and reads what is there.

use super::Shared;
use super::connection::Connection;
use crate::fill::{self, Pair};
use crate::server::OPERATOR_KEY;
use anyhow::ensure;
use std::time::Duration;

/// How many offers wait to be accepted.
const AHEAD: usize = 2_000;

pub fn feed(shared: &Shared) -> anyhow::Result<()> {
    let mut connection = Connection::new(shared.operator);
    let mut operate = |method: &str, path: &str, body: &str, wanted: &[u16]| -> anyhow::Result<()> {
        let answer = connection.call(method, path, &[("X-Operator-Key", OPERATOR_KEY)], body.as_bytes())?;
        ensure!(wanted.contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.body);
        Ok(())
    };
    let mut made = 0;
    while !shared.over() {
        if shared.ledger.open_offers() >= AHEAD {
            operate("GET", "/operator/events?limit=100", "", &[200])?;
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let id = || uuid::Uuid::from_u128(rand::random()).to_string();
        let pair = Pair { application: id(), offer: id() };
        operate("PUT", &pair.application_path(), &fill::application(), &[201])?;
        operate("PUT", &pair.operator_path(), &fill::terms(made), &[201])?;
        if made % 10 == 0 {
            // New terms, and a body that is refused.
            operate("PUT", &pair.operator_path(), &fill::terms(made + 1), &[200])?;
            operate("PUT", &pair.operator_path(), "{", &[400])?;
        }
        shared.ledger.offer(pair);
        made += 1;
    }
    Ok(())
}
