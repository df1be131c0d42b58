//! Clients that ask for much and read nothing. What they leave unread costs the service little.

use crate::data::fill;
use crate::http2;
use crate::operator::{Both, KEY};
use crate::process::{Process, raise_descriptor_limit};
use crate::tls::Files;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use tokio::net::TcpSocket;

/// How much more memory all clients of a test may cost together, in KiB.
const MOST: u64 = 64 * 1024;

/// A connection whose client takes next to nothing into its own buffers.
fn connect(address: &str) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let to: SocketAddr = address.parse().expect("an address");
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(2_048).expect("a size");
        socket.connect(to).await.expect("a connection").into_std().expect("a socket")
    });
    stream.set_nonblocking(false).expect("blocks");
    stream
}

/// Waits until the service has counted so many answers of a route.
fn wait_for_answers(metrics: impl Fn() -> String, route: &str, wanted: usize) {
    let counted = || {
        let metrics = metrics();
        let lines = metrics.lines().filter(|line| line.starts_with("lendpay_http_requests_total"));
        let counts = lines.filter(|line| line.contains(&format!("route=\"{route}\"")));
        counts.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum::<usize>()
    };
    while counted() < wanted {
        std::thread::yield_now();
    }
}

/// Does something, and sees to it that it costs little memory.
#[track_caller]
fn costs_little<T>(process: &Process, what: &str, act: impl FnOnce() -> T) -> T {
    let before = process.memory();
    let done = act();
    let cost = process.memory().saturating_sub(before);
    println!("{what}: {cost} KiB over {before} KiB");
    assert!(cost < MOST, "{what}: {cost} KiB over {before} KiB");
    done
}

#[test]
fn two_thousand_pages_that_nobody_reads_cost_under_64_mb() {
    const CLIENTS: usize = 2_000;
    raise_descriptor_limit();
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--log", "warn,lendpay::serve=info"]);
    let ask = |encoding: &str| {
        let mut stream = connect(&both.server.address);
        let head = format!("GET /docs HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {encoding}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("takes it");
        stream
    };
    let _warm = [ask("gzip"), ask("identity")];
    wait_for_answers(|| both.metrics(), "/docs", 2);
    let _held = costs_little(&both.server.process, "2,000 pages", || {
        let held: Vec<_> = (0..CLIENTS).map(|n| ask(["gzip", "identity"][n % 2])).collect();
        wait_for_answers(|| both.metrics(), "/docs", CLIENTS + 2);
        held
    });
}

/// Requests of HTTP/2 whose answers may begin, and no more.
struct Streams {
    runtime: tokio::runtime::Runtime,
    files: Files,
}

impl Streams {
    const OF_A_CONNECTION: usize = 32;

    fn new(files: Files) -> Self {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { runtime: threads.expect("threads"), files }
    }

    /// Asks so often, on one connection. What is returned keeps the answers.
    fn ask(&self, address: &str, path: &str, count: usize) -> impl Drop + use<> {
        self.runtime.block_on(async {
            let settings = h2::client::Builder::new().initial_window_size(0).clone();
            let mut client = http2::connect(address, &self.files, &settings).await;
            let mut held = Vec::new();
            for _ in 0..count {
                let uri = format!("https://localhost{path}");
                let request = ureq::http::Request::get(uri).header("x-operator-key", KEY).body(());
                client = client.ready().await.expect("ready");
                let (answer, _) = client.send_request(request.expect("a request"), true).expect("sent");
                let answer = answer.await.expect("an answer");
                assert_eq!(answer.status(), 200);
                held.push((answer, client.clone()));
            }
            held
        })
    }
}

#[test]
fn two_thousand_pages_that_nobody_reads_in_http2_cost_under_64_mb() {
    let directory = tempfile::tempdir().expect("a directory");
    let streams = Streams::new(Files::new(directory.path()));
    let more = [&streams.files.arguments()[..], &["--log", "warn,lendpay::serve=info"]].concat();
    let both = Both::start(&directory.path().join("data"), &more);
    let ask = |count| streams.ask(&both.server.address, "/docs", count);
    let _warm = ask(1);
    let _held = costs_little(&both.server.process, "2,016 pages", || {
        (0..63).map(|_| ask(Streams::OF_A_CONNECTION)).collect::<Vec<_>>()
    });
}

#[test]
fn lists_that_nobody_reads_cost_under_64_mb() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(&directory.path().join("data"), 500);
    let streams = Streams::new(Files::new(directory.path()));
    let more = [&streams.files.arguments()[..], &["--log", "warn,lendpay::serve=info"]].concat();
    let both = Both::start(&directory.path().join("data"), &more);
    let ask = |count| streams.ask(both.url.trim_start_matches("http://"), "/operator/events?limit=500", count);
    let _warm = ask(1);
    let _held = costs_little(&both.server.process, "576 lists", || {
        (0..18).map(|_| ask(Streams::OF_A_CONNECTION)).collect::<Vec<_>>()
    });
}

/// Asks for what is as long as the store, and reads nothing of it.
fn whole_stores_cost_little(route: &str) {
    const CLIENTS: usize = 72;
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 1_000);
    let both = Both::start(directory.path(), &["--log", "warn,lendpay::serve=info"]);
    let ask = || {
        let mut stream = connect(both.url.trim_start_matches("http://"));
        let head = format!("GET {route} HTTP/1.1\r\nHost: x\r\nX-Operator-Key: {KEY}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("takes it");
        stream
    };
    let _warm = ask();
    wait_for_answers(|| both.metrics(), route, 1);
    let _held = costs_little(&both.server.process, &format!("72 of {route}"), || {
        let held: Vec<_> = (0..CLIENTS).map(|_| ask()).collect();
        wait_for_answers(|| both.metrics(), route, CLIENTS + 1);
        held
    });
}

#[test]
fn exports_that_nobody_reads_cost_under_64_mb() {
    whole_stores_cost_little("/operator/export");
}

#[test]
fn logs_that_nobody_reads_cost_under_64_mb() {
    whole_stores_cost_little("/operator/log");
}
