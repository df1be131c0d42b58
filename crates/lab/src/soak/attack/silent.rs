//! An address that takes all the connections that it can get, and says nothing on them.

use super::connect_from;
use crate::soak::{CONNECTIONS, Shared};
use std::io::Read as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// The first address of those who are silent.
static ADDRESS: AtomicU8 = AtomicU8::new(2);

/// How many it replaces at a time.
const REPLACED: usize = 32;

pub fn attack(shared: &Shared) -> anyhow::Result<()> {
    let from = ADDRESS.fetch_add(1, Ordering::Relaxed);
    let mut held: Vec<TcpStream> = Vec::new();
    while !shared.over() {
        // Those that the service has ended, or to which it says that it is full, are replaced.
        held.retain_mut(|stream| stream.read(&mut [0; 512]).is_err_and(|error| error.raw_os_error() == would_block()));
        for _ in 0..REPLACED.min(CONNECTIONS / 2 - held.len()) {
            let stream = connect_from(from, shared.partner, None)?;
            stream.set_nonblocking(true)?;
            held.push(stream);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

const fn would_block() -> Option<i32> {
    Some(rustix::io::Errno::WOULDBLOCK.raw_os_error())
}
