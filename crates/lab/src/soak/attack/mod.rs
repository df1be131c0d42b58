//! Clients that are there to do harm, beside the ordinary load. They must cost the service little and others almost
//! nothing.
//!
//! To add one, write a function as those here and name it in [`ATTACKS`].

mod heads;
mod log;
mod secure;
mod silent;
mod unread;

pub use secure::{Address, Secure};

use super::Shared;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Attacks until the time is over. Fails if the service answers what it should not.
pub type Attack = fn(&Shared) -> anyhow::Result<()>;

/// All of them, with the threads that each gets.
pub const ATTACKS: [(Attack, usize); 4] =
    [(silent::attack, 2), (unread::attack, 1), (heads::attack, 1), (log::attack, 1)];

/// How long an attack is kept up before it begins again.
const ROUND: Duration = Duration::from_secs(2);

/// A connection from another address of this machine.
fn connect_from(from: u8, to: SocketAddr, receive_buffer: Option<usize>) -> anyhow::Result<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    if let Some(size) = receive_buffer {
        sockopt::set_socket_recv_buffer_size(&socket, size)?;
    }
    bind(&socket, &SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, from)), 0))?;
    connect(&socket, &to)?;
    Ok(socket.into())
}
