//! One cell: a job at a number of connections, driven by wrk.

use crate::fill::Pair;
use crate::server::Server;
use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
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

    /// How the report names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Create => "create",
        }
    }
}

/// What wrk says.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Driven {
    /// Requests that were answered.
    pub requests: u64,
    /// The time that counts.
    pub seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    /// Connections that failed and answers that were no success.
    pub errors: u64,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cell {
    /// Requests a second.
    pub rps: f64,
    /// Half of the requests took no longer, in milliseconds.
    pub p50_ms: f64,
    /// 99 of 100.
    pub p99_ms: f64,
    /// 999 of 1,000.
    pub p999_ms: f64,
    /// See [`Driven::errors`].
    pub errors: u64,
    /// The server's CPU time for a request, in microseconds.
    pub cpu_us: f64,
    /// The most memory that the server has had so far, in MiB.
    pub peak_mib: f64,
}

impl Cell {
    /// For somebody who watches.
    pub fn line(&self) -> String {
        format!(
            "{:>8.0} requests/s, p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, {:.1} µs CPU, {:.0} MiB, {} errors",
            self.rps, self.p50_ms, self.p99_ms, self.p999_ms, self.cpu_us, self.peak_mib, self.errors
        )
    }
}

/// Cuts `items` into consecutive slices in proportion to `weights`.
pub fn slices<'a, T>(items: &'a [T], weights: &[f64]) -> Vec<&'a [T]> {
    let total: f64 = weights.iter().sum();
    let mut begin = 0;
    let mut so_far = 0.0;
    let mut slices = Vec::new();
    for weight in weights {
        so_far += weight;
        let end = ((items.len() as f64 * so_far / total) as usize).min(items.len());
        slices.push(&items[begin..end]);
        begin = end;
    }
    slices
}

/// Measures a cell.
pub fn drive(
    server: &Server,
    folder: &Path,
    key: &str,
    job: Job,
    connections: usize,
    offers: &[Pair],
    seconds: u32,
) -> anyhow::Result<Cell> {
    let lines = match job {
        Job::Accept => accepts(offers)?,
        Job::Create => buyers()?,
    };
    let lines = if job == Job::Create { Lines::Again(&lines) } else { Lines::Once(&lines) };
    let before = server.cpu()?;
    let driven = wrk(folder, server.address, ("X-Service-ApiKey", key), connections, seconds, lines)?;
    let cpu = server.cpu()? - before;
    ensure!(driven.requests > 0, "no request was answered");
    Ok(Cell {
        rps: driven.requests as f64 / driven.seconds,
        p50_ms: driven.p50_ms,
        p99_ms: driven.p99_ms,
        p999_ms: driven.p999_ms,
        errors: driven.errors,
        cpu_us: cpu / driven.requests as f64 * 1e6,
        peak_mib: server.peak_memory()?,
    })
}

fn accepts(offers: &[Pair]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for pair in offers {
        writeln!(lines, "POST {} {{}}", pair.accept_path())?;
    }
    Ok(lines)
}

fn buyers() -> anyhow::Result<String> {
    let mut lines = String::new();
    for n in 0..5_000_u64 {
        let account = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 100_000_000_000_000;
        let bban = format!("BUKB{account:014}");
        writeln!(
            lines,
            r#"POST /payments/buyers {{"name":"Northwind Bicycles {n} Ltd","registrationNumber":"{:08}","countryCode":"GB","type":0,"bankAccount":{{"currencyCode":"GBP","accountName":"Northwind Bicycles {n}","sortCode":"20-20-15","accountNumber":"{:08}","bic":"BUKBGB22","accountType":"Business","iban":"GB{:02}{bban}"}}}}"#,
            n * 7_919 % 100_000_000,
            account % 100_000_000,
            check_digits(&bban)
        )?;
    }
    Ok(lines)
}

/// The check digits of a British IBAN (ISO 13616, mod 97).
fn check_digits(bban: &str) -> u64 {
    let digits = format!("{bban}GB00");
    let value = digits
        .chars()
        .filter_map(|c| c.to_digit(36))
        .fold(0, |value, digit| (value * if digit > 9 { 100 } else { 10 } + u64::from(digit)) % 97);
    98 - value
}

/// Requests for wrk, one `METHOD path body` a line.
pub enum Lines<'a> {
    /// Each once; the run ends with them.
    Once(&'a str),
    /// From the beginning again.
    Again(&'a str),
}

/// Runs wrk: one thread, which is enough for two cores, keep-alive connections, a closed loop.
pub fn wrk(
    folder: &Path,
    address: SocketAddr,
    (header, key): (&str, &str),
    connections: usize,
    seconds: u32,
    lines: Lines<'_>,
) -> anyhow::Result<Driven> {
    let (requests, script) = (folder.join("requests"), folder.join("requests.lua"));
    let (text, again) = match lines {
        Lines::Once(text) => (text, "0"),
        Lines::Again(text) => (text, "1"),
    };
    fs::write(&requests, text)?;
    fs::write(&script, include_str!("../requests.lua"))?;
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s"), "--timeout", "30s", "-s"])
        .arg(&script)
        .arg(format!("http://{address}"))
        .envs([("KEY_HEADER", header), ("KEY", key), ("AGAIN", again)])
        .env("REQUESTS", &requests)
        .output()
        .context("cannot run wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("wrk: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_distinct_and_cover_everything() {
        let items: Vec<_> = (0..100).collect();
        let slices = slices(&items, &[5.0, 8.0, 12.0]);
        assert_eq!(slices.concat(), items);
        assert!(slices[0].len() < slices[1].len() && slices[1].len() < slices[2].len());
    }

    #[test]
    fn check_digits_are_those_of_a_known_iban() {
        assert_eq!(check_digits("BUKB20201555555555"), 33);
    }
}
