//! What the rate limit, the log lines and the traces cost: the same server with and without each, in one run.

use super::load::{self, Job};
use super::report::median;
use crate::fill;
use crate::server::{Kind, Server, remove};
use anyhow::Context as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

const CONNECTIONS: usize = 64;

/// How many accepts one measurement takes.
const ACCEPTS: usize = 60_000;

/// For how long buyers are created, in seconds.
const SECONDS: u32 = 3;

/// A limit that counts, and that nobody meets.
const LIMIT: [&str; 2] = ["--rate-limit", "1000000000/1s"];

/// Measures every variant in turn, so often, and prints the medians and what they are to the server as it ships.
pub fn run(programs: &Path, folder: &Path, rounds: usize) -> anyhow::Result<()> {
    let collector = format!("http://{}", collector()?);
    let variants: [(&str, Vec<&str>); 5] = [
        ("neither limit nor log", vec!["--rate-limit", "off", "--log", "off"]),
        ("log, no limit", vec!["--rate-limit", "off"]),
        ("limit, no log", [&LIMIT[..], &["--log", "off"]].concat()),
        ("as it ships", LIMIT.to_vec()),
        ("and traces", [&LIMIT[..], &["--otlp-endpoint", &collector]].concat()),
    ];
    let data = folder.join("data");
    remove(&data)?;
    let offers = fill::offers(ACCEPTS * rounds * variants.len());
    let mut server = Server::start(programs, folder, Kind::Lendpay, &data)?;
    let key = fill::fill(&server, folder, &offers)?;
    server.stop()?;
    let mut slices = offers.chunks(ACCEPTS);
    let mut measured = vec![Figures::default(); variants.len()];
    for round in 1..=rounds {
        println!("\nround {round} of {rounds}");
        for ((name, more), figures) in variants.iter().zip(&mut measured) {
            let more: Vec<_> = more.iter().map(|flag| (*flag).to_owned()).collect();
            let mut server = Server::start_with(programs, folder, Kind::Lendpay, &data, &more)?;
            let slice = slices.next().context("offers for every measurement")?;
            let accept = load::drive(&server, folder, &key, Job::Accept, CONNECTIONS, slice, 60)?;
            let create = load::drive(&server, folder, &key, Job::Create, CONNECTIONS, &[], SECONDS)?;
            println!("  {name}\n    accept {}\n    create {}", accept.line(), create.line());
            for (figure, value) in figures.iter_mut().zip([accept.rps, accept.cpu_us, create.rps, create.cpu_us]) {
                figure.push(value);
            }
            server.stop()?;
        }
    }
    remove(&data)?;
    let medians: Vec<_> = measured.iter_mut().map(|figures| figures.each_mut().map(|figure| median(figure))).collect();
    println!(
        "\n| {CONNECTIONS} connections | accepts/s | of the first | CPU µs | creates/s | of the first | CPU µs |\n|---|---|---|---|---|---|---|"
    );
    for ((name, _), [accepts, accept_cpu, creates, create_cpu]) in variants.iter().zip(&medians) {
        println!(
            "| {name} | {accepts:.0} | {:.2} | {accept_cpu:.1} | {creates:.0} | {:.2} | {create_cpu:.1} |",
            accepts / medians[0][0],
            creates / medians[0][2]
        );
    }
    Ok(())
}

/// Of every round: accepts a second and their CPU time, creates a second and theirs.
type Figures = [Vec<f64>; 4];

/// Takes whatever is sent to it over HTTP, and says that it was well.
fn collector() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let (mut buffer, mut held) = (vec![0; 1 << 20], Vec::new());
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    held.extend_from_slice(&buffer[..count]);
                    while let Some(end) = end_of_request(&held) {
                        held.drain(..end);
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                    }
                }
            });
        }
    });
    Ok(address)
}

/// Where a request ends, if all of it is there.
fn end_of_request(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length: usize = text.split("content-length: ").nth(1)?.lines().next()?.trim().parse().ok()?;
    (bytes.len() >= head + length).then_some(head + length)
}

#[cfg(test)]
mod tests {
    use super::end_of_request;

    #[test]
    fn a_request_ends_with_its_body() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcPOST";
        assert_eq!(end_of_request(request), Some(request.len() - 4));
        assert_eq!(end_of_request(&request[..request.len() - 5]), None);
    }
}
