//! Pages that are asked for and never read.

use super::{ROUND, connect_from};
use crate::soak::Shared;
use std::collections::VecDeque;
use std::io::Write as _;

/// How many clients wait at a time, each for a round, and from where.
const CLIENTS: usize = 300;
const ADDRESS: u8 = 4;

pub fn attack(shared: &Shared) -> anyhow::Result<()> {
    let mut held = VecDeque::new();
    for coding in ["identity", "gzip"].into_iter().cycle() {
        if shared.over() {
            break;
        }
        let mut stream = connect_from(ADDRESS, shared.partner, Some(2_048))?;
        // The service may have ended it to make room.
        let _ = write!(stream, "GET /docs HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {coding}\r\n\r\n");
        held.push_back(stream);
        if held.len() > CLIENTS {
            held.pop_front();
        }
        std::thread::sleep(ROUND / CLIENTS as u32);
    }
    Ok(())
}
