//! Listening sockets: made here, or by a service manager that keeps them open while the service restarts
//! (sd_listen_fds(3)).

use listenfd::ListenFd;
use socket2::{Domain, Type};
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1_024;

/// The sockets of the service manager that nobody has asked for yet.
pub struct Sockets(Vec<std::net::TcpListener>);

impl Sockets {
    /// Takes over those that the environment announces. It is changed by that, so this comes before any other thread.
    pub fn given() -> Result<Self, String> {
        let mut descriptors = ListenFd::from_env();
        let sockets = (0..descriptors.len()).filter_map(|n| descriptors.take_tcp_listener(n).transpose());
        let sockets = sockets.collect::<io::Result<_>>();
        sockets.map(Self).map_err(|error| format!("the service manager's sockets cannot be used: {error}"))
    }

    /// The socket of this address: the service manager's, or a new one.
    pub fn open(&mut self, address: SocketAddr, flag: &str) -> Result<Socket, String> {
        if let Some(n) = self.0.iter().position(|socket| socket.local_addr().is_ok_and(|given| given == address)) {
            return Ok(Socket(self.0.swap_remove(n).into()));
        }
        Socket::bind(address).map_err(|error| {
            format!("cannot listen on {address}: {error}; choose another address with {flag} or stop what uses it")
        })
    }

    /// An error if there is one that no setting names.
    pub fn all_taken(&self) -> Result<(), String> {
        match self.0.first().map(std::net::TcpListener::local_addr) {
            None => Ok(()),
            Some(Ok(address)) => Err(format!(
                "the service manager's socket {address} is neither that of --listen nor that of --operator-listen; set one \
                 of them to it"
            )),
            Some(Err(error)) => Err(format!("a socket of the service manager has no address: {error}")),
        }
    }
}

/// A socket with an address. One that was made here refuses connections until it listens.
pub struct Socket(socket2::Socket);

impl Socket {
    /// Makes one.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        // A restart must not wait for the last run's connections to fade.
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        Ok(Self(socket))
    }

    /// From now on clients can connect.
    pub fn listen(self) -> Result<TcpListener, String> {
        let listen = || {
            if !self.0.is_listener()? {
                self.0.listen(BACKLOG)?;
            }
            self.0.set_nonblocking(true)?;
            TcpListener::from_std(self.0.into())
        };
        listen().map_err(|error: io::Error| format!("cannot listen: {error}"))
    }
}
