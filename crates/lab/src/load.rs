//! As much load as wrk can make: an operation at a number of connections.

use crate::fill::{BUYERS, Pair};
use crate::lab::Lab;
use crate::server::Server;
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

/// What is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// Offers that nobody has accepted, each once.
    Accept,
    /// Buyers, 5,000 different ones in turn.
    Create,
}

impl Job {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Accept, Self::Create];

    /// How a report names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Create => "create",
        }
    }
}

/// What was measured, the first part by wrk.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Cell {
    /// Requests that were answered.
    pub requests: f64,
    /// The time that counts.
    pub seconds: f64,
    /// Half of the requests took no longer, in milliseconds.
    pub p50_ms: f64,
    /// 99 of 100.
    pub p99_ms: f64,
    /// 999 of 1,000.
    pub p999_ms: f64,
    /// Connections that failed and answers that were no success.
    pub errors: f64,
    /// The server's CPU time for a request, in microseconds.
    #[serde(default)]
    pub cpu_us: f64,
    /// The most memory that the server has had so far, in MiB.
    #[serde(default)]
    pub peak_mib: f64,
}

impl Cell {
    /// Requests a second.
    pub fn rps(&self) -> f64 {
        self.requests / self.seconds
    }
}

/// Measures a cell with the key of the only partner.
pub fn drive(
    lab: &Lab,
    server: &Server,
    key: &str,
    job: Job,
    connections: usize,
    offers: &[Pair],
    seconds: u32,
) -> anyhow::Result<Cell> {
    drive_for(&[key.to_owned()], lab, server, job, connections, offers, seconds)
}

/// Measures a cell with a key of each partner, by their numbers.
pub fn drive_for(
    keys: &[String],
    lab: &Lab,
    server: &Server,
    job: Job,
    connections: usize,
    offers: &[Pair],
    seconds: u32,
) -> anyhow::Result<Cell> {
    let mut lines = String::new();
    match job {
        Job::Accept => offers
            .iter()
            .try_for_each(|pair| writeln!(lines, "[{}] POST {} {{}}", keys[pair.partner], pair.accept_path()))?,
        Job::Create => (0..5_000)
            .zip(keys.iter().cycle())
            .try_for_each(|(n, key)| writeln!(lines, "[{key}] POST {BUYERS} {}", buyer(n)))?,
    }
    let before = server.cpu()?;
    let cell = wrk(lab, server.partner, ("X-Service-ApiKey", ""), connections, seconds, &lines, job == Job::Create)?;
    ensure!(cell.requests > 0.0, "no request was answered");
    let cpu_us = (server.cpu()? - before) / cell.requests * 1e6;
    Ok(Cell { cpu_us, peak_mib: server.peak_memory()?, ..cell })
}

/// One of many buyers, all with bank details.
pub fn buyer(n: u32) -> String {
    format!(
        r#"{{"name":"Northwind Bicycles {n} Ltd","registrationNumber":"{:08}","countryCode":"GB","type":0,"bankAccount":{{"currencyCode":"GBP","accountName":"Northwind Bicycles {n}","sortCode":"20-20-15","accountNumber":"{:08}","bic":"BUKBGB22","accountType":"Business","iban":"GB33BUKB20201555555555"}}}}"#,
        n * 7_919,
        n * 19_997
    )
}

/// Sends the requests of some lines, one `METHOD path body` each, either once or from the beginning again. A line that
/// has a key of its own begins with it: `[key] `. Runs wrk: one thread, which is enough for two cores, keep-alive
/// connections, a closed loop.
pub fn wrk(
    lab: &Lab,
    address: SocketAddr,
    key: (&str, &str),
    connections: usize,
    seconds: u32,
    lines: &str,
    again: bool,
) -> anyhow::Result<Cell> {
    let done = command(lab, address, key, connections, seconds, lines, again)?.output().context("cannot run wrk")?;
    let said = String::from_utf8_lossy(&done.stdout);
    serde_json::from_str(said.lines().last().unwrap_or_default()).with_context(|| format!("wrk: {said}"))
}

/// The same, not started yet.
pub fn command(
    lab: &Lab,
    address: SocketAddr,
    (header, key): (&str, &str),
    connections: usize,
    seconds: u32,
    lines: &str,
    again: bool,
) -> anyhow::Result<Command> {
    // Of this address alone: two may be driven at once.
    let (requests, script) = (lab.path(&format!("requests-{}", address.port())), lab.path("requests.lua"));
    fs::write(&requests, lines)?;
    fs::write(&script, include_str!("requests.lua"))?;
    let mut command = Command::new("wrk");
    command.args(["-t1", "--timeout", "30s", "-c", &connections.to_string(), "-d", &format!("{seconds}s"), "-s"]);
    command.arg(script).arg(format!("http://{address}")).env("REQUESTS", requests);
    command.envs([("KEY_HEADER", header), ("KEY", key), ("AGAIN", if again { "1" } else { "0" })]);
    Ok(command)
}
