//! Clients that are processes, and that are killed in the middle of a request.

use super::Shared;
use crate::fill;
use crate::http::Connection;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How many connections each has.
pub const CONNECTIONS: usize = 16;

/// Starts processes that send requests as fast as they can, and kills them.
pub(super) fn kill(shared: &Shared) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    while !shared.over() {
        let (address, connections) = (shared.partner.to_string(), CONNECTIONS.to_string());
        let mut client = Command::new(&program)
            .args(["killed-client", &address, &connections, shared.keys.any().text()])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        std::thread::sleep(Duration::from_millis(rand::random_range(50..500)));
        client.kill()?;
        client.wait()?;
        shared.faults.fetch_add(CONNECTIONS as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// Such a process: until it is killed it creates a buyer over and over, on so many connections.
pub fn client(address: SocketAddr, connections: usize, key: &str) {
    std::thread::scope(|scope| {
        for n in 0..connections {
            scope.spawn(move || {
                let mut connection = Connection::new(address);
                while fill::create(&mut connection, key, &format!("killed-{n}")).is_ok() {}
            });
        }
    });
}
