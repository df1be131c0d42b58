//! Clients that take more than their share: of connections, of time, of memory. They take nothing from others.

use crate::data::{Data, fill};
use crate::load::UNLIMITED;
use crate::operator::Both;
use crate::process::{Server, client, post, raise_descriptor_limit};
use crate::refusals::assert_refused;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tokio::net::TcpSocket;

/// A connection from another address of this machine.
fn connect_from(from: &str, server: &Server) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let to: SocketAddr = server.address.parse().expect("an address");
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(format!("{from}:0").parse().expect("an address")).expect("an address of this machine");
        socket.connect(to).await.expect("a connection").into_std().expect("a socket")
    });
    stream.set_nonblocking(false).expect("blocks");
    stream
}

const ASK: &[u8] = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";

/// The first bytes of the answer.
fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(ASK).expect("takes it");
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer");
    String::from_utf8(start.into()).expect("UTF-8")
}

/// What a connection that is refused is told.
fn refused(mut stream: TcpStream) {
    stream.write_all(ASK).expect("takes it");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer to its end");
    assert!(answer.contains("\r\nretry-after: "), "{answer}");
    assert_refused(&answer, 503, false);
}

#[test]
fn when_all_places_are_taken_whoever_comes_is_told_and_no_address_gets_more_than_half() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let both = Both::start(directory.path(), &["--connections", "4"]);
    let server = &both.server;
    // A request that runs: its body is still to come.
    let hold = |from: &str| {
        let mut stream = connect_from(from, server);
        let (path, key) = (data.accept_path(data.offers[0]), &data.key);
        let more = "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n";
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nX-Service-ApiKey: {key}\r\n{more}");
        stream.write_all(head.as_bytes()).expect("takes it");
        let mut answer = [0; 25];
        stream.read_exact(&mut answer).expect("leave to go on");
        assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream
    };
    let held = [hold("127.0.0.1"), hold("127.0.0.1")];
    refused(connect_from("127.0.0.1", server));
    let _others = [hold("127.0.0.2"), hold("127.0.0.3")];
    refused(connect_from("127.0.0.4", server));
    drop(held);
    // The places are free once the server has seen the end.
    loop {
        let mut stream = connect_from("127.0.0.4", server);
        if ask(&mut stream) == "HTTP/1.1 200" {
            break;
        }
    }
    let metrics = both.metrics();
    let refused =
        |reason: &str| metrics.contains(&format!("refused_total{{side=\"partner\",reason=\"{reason}\"}} 1\n"));
    assert!(refused("address"), "{metrics}");
    assert!(metrics.contains("lendpay_connections{side=\"operator\"} 1\n"), "{metrics}");
}

#[test]
fn connections_without_a_request_and_idle_ones_make_room() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--connections", "4"]);
    let _silent = ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.2"].map(|from| connect_from(from, &both.server));
    while !both.metrics().contains("lendpay_connections{side=\"partner\"} 4\n") {
        std::thread::yield_now();
    }
    let _idle: Vec<_> = (3..20)
        .map(|n| {
            let mut stream = connect_from(&format!("127.0.0.{n}"), &both.server);
            assert_eq!(ask(&mut stream), "HTTP/1.1 200", "{n}");
            stream
        })
        .collect();
    let metrics = both.metrics();
    assert!(metrics.contains("ended_total{side=\"partner\",reason=\"displaced\"} 17\n"), "{metrics}");
}

#[test]
fn a_connection_has_as_long_for_its_first_byte_as_for_a_head() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start(directory.path(), &["--request-timeout", "1"]);
    let mut silent = TcpStream::connect(&server.address).expect("a connection");
    silent.set_read_timeout(Some(Duration::from_secs(15))).expect("a timeout");
    assert_eq!(silent.read(&mut [0]).expect("the end, long before the idle time is over"), 0);
}

#[test]
fn whoever_says_nothing_or_reads_nothing_is_let_go() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 1);
    let both = Both::start(directory.path(), &["--idle-timeout", "1"]);
    let mut silent = TcpStream::connect(&both.server.address).expect("a connection");
    assert_eq!(silent.read(&mut [0]).expect("the end"), 0);
    // Answers that nobody reads fill all buffers, then nothing moves.
    let mut deaf = TcpStream::connect(&both.server.address).expect("a connection");
    while deaf.write_all(ASK).is_ok() {}
    let metrics = both.metrics();
    assert!(metrics.contains("ended_total{side=\"partner\",reason=\"idle\"} 2\n"), "{metrics}");
}

/// The time that 99 of 100 requests of one client stay below.
fn p99(server: &Server, data: &Data) -> Duration {
    let (client, key) = (client(), [("x-service-apikey", data.key.as_str())]);
    let mut times: Vec<_> = (0..200)
        .map(|_| {
            let start = Instant::now();
            let reply = post(&client, &server.address, &data.accept_path(data.offers[0]), &key, "");
            assert_eq!(reply.expect("an answer").status, 200);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

/// The same of two servers, in turn, as others use this machine too: the best of at least 5 rounds, and of up to 60
/// until the first is no more than three times the second.
fn both_p99(servers: [&Server; 2], data: &Data) -> [Duration; 2] {
    let mut best = [Duration::MAX; 2];
    for round in 0..60 {
        if round >= 5 && best[0] <= 3 * best[1] {
            break;
        }
        best = [0, 1].map(|n| best[n].min(p99(servers[n], data)));
    }
    best
}

#[test]
fn five_thousand_slow_connections_cost_others_little() {
    raise_descriptor_limit();
    let [directory, quiet] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let data = fill(directory.path(), 1);
    fill(quiet.path(), 1);
    let mut server = Server::start(directory.path(), &UNLIMITED);
    let quiet = Server::start(quiet.path(), &UNLIMITED);

    let body = format!(
        "POST {} HTTP/1.1\r\nHost: x\r\nX-Service-ApiKey: {}\r\nContent-Length: 60000\r\n\r\n{{",
        data.accept_path(data.offers[0]),
        data.key
    );
    let mut slow: Vec<_> = (0..5_000)
        .map(|n| {
            let mut stream = TcpStream::connect(&server.address).expect("a connection");
            let sent = [&b""[..], b"POST /payments/buyers HTTP/1.1\r\nHos", body.as_bytes()][n % 3];
            stream.write_all(sent).expect("takes it");
            stream
        })
        .collect();
    // Some drip, some go away in the middle of a body.
    for stream in slow.iter_mut().skip(1).step_by(3) {
        let _ = stream.write_all(b"t");
    }
    for there in ["5,000", "2,500"] {
        let [crowded, alone] = both_p99([&server, &quiet], &data);
        println!("p99 beside {there} slow connections {crowded:?}, alone {alone:?}");
        assert!(crowded <= 3 * alone, "{there}: {crowded:?} {alone:?}");
        slow.truncate(2_500);
    }
    server.process.signal("TERM");
    server.process.wait_for("stopping");
    // Otherwise the end waits for them.
    drop(slow);
    let (status, log) = server.process.wait();
    assert_eq!(status.code(), Some(0));
    assert!(!log.iter().any(|line| line.contains("panic")), "{log:#?}");
}
