//! Pages that are asked for and never read.

use super::{ROUND, connect_from};
use crate::soak::Shared;
use std::io::Write as _;

/// How many clients ask at a time, and from where.
const CLIENTS: usize = 300;
const ADDRESS: u8 = 4;

pub fn attack(shared: &Shared) -> anyhow::Result<()> {
    while !shared.over() {
        let mut held = Vec::new();
        for n in 0..CLIENTS {
            let mut stream = connect_from(ADDRESS, shared.partner, Some(2_048))?;
            let coding = ["identity", "gzip"][n % 2];
            // The service may have ended it to make room.
            let _ = write!(stream, "GET /docs HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {coding}\r\n\r\n");
            held.push(stream);
        }
        std::thread::sleep(ROUND);
    }
    Ok(())
}
