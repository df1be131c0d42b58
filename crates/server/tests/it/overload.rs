//! More to do than the disk can take. strace makes the disk slow: it delays the return of each sync.

use crate::data::{Data, fill, open};
use crate::load::UNLIMITED;
use crate::process::{BINARY, Process, Server, arguments, command, raise_descriptor_limit};
use lendpay_domain::offer::Status;
use lendpay_domain::store::Queries as _;
use lendpay_domain::{OfferId, Timestamp};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

/// Serves with syncs that take 20 ms longer.
fn slow(directory: &Path) -> Server {
    let mut traced = command("strace");
    let inject = "inject=fdatasync:delay_exit=20000";
    traced.args(["-f", "--seccomp-bpf", "-e", "trace=fdatasync", "-e", inject, "-o", "/dev/null"]);
    traced.arg(BINARY).args(arguments(directory)).args(UNLIMITED);
    Server::ready(Process::spawn(traced))
}

struct Connection(BufReader<TcpStream>);

/// An answer's status, and whether it says when to come back.
struct Answer {
    status: u16,
    retry: bool,
}

impl Connection {
    fn open(server: &Server) -> Self {
        Self(BufReader::new(TcpStream::connect(&server.address).expect("connects")))
    }

    fn send(&mut self, data: &Data, offer: OfferId) {
        let (path, key) = (data.accept_path(offer), &data.key);
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nX-Service-ApiKey: {key}\r\nContent-Length: 0\r\n\r\n");
        self.0.get_mut().write_all(head.as_bytes()).expect("takes it");
    }

    fn answer(&mut self) -> Answer {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).expect("an answer"), 0, "the connection ended");
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_ascii_lowercase()),
            }
        }
        let value = |name: &str| head.iter().find_map(|line| line.strip_prefix(name).map(str::trim));
        let length = value("content-length:").and_then(|length| length.parse().ok()).expect("a length");
        self.0.read_exact(&mut vec![0; length]).expect("a body");
        let status = head[0].split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, retry: value("retry-after:").is_some() }
    }
}

/// Stops the server and returns the status of each offer.
fn statuses(server: Server, directory: &Path, data: &Data) -> Vec<Status> {
    server.process.signal("TERM");
    assert_eq!(server.process.wait().0.code(), Some(0));
    let store = open(directory);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let now = Timestamp::from_timestamp(1_700_000_000, 0).expect("in range");
    let find = |&offer| runtime.block_on(store.find_offer(data.application, offer, now));
    data.offers.iter().map(|offer| find(offer).expect("works").expect("there").status).collect()
}

#[test]
fn a_slow_disk_and_1024_connections_cost_neither_memory_nor_an_acknowledged_write() {
    const CONNECTIONS: usize = 1_024;
    const ROUNDS: usize = 4;
    raise_descriptor_limit();
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), (CONNECTIONS * ROUNDS) as u128);
    let server = slow(directory.path());

    let mut connections: Vec<_> = (0..CONNECTIONS).map(|_| Connection::open(&server)).collect();
    let mut acknowledged = Vec::new();
    for offers in data.offers.chunks(CONNECTIONS) {
        for (connection, &offer) in connections.iter_mut().zip(offers) {
            connection.send(&data, offer);
        }
        for connection in &mut connections {
            let answer = connection.answer();
            assert!(answer.status == 200 || (answer.status == 503 && answer.retry), "{}", answer.status);
            acknowledged.push(answer.status == 200);
        }
    }
    drop(connections);
    // Twice the cache, which is empty here, and 1,024 connections.
    assert!(server.process.peak_memory_of_child() < 640 * 1024);
    assert!(acknowledged.iter().any(|&acknowledged| acknowledged));
    for (acknowledged, status) in acknowledged.into_iter().zip(statuses(server, directory.path(), &data)) {
        assert!(!acknowledged || status == Status::CustomerAccepted);
    }
}
