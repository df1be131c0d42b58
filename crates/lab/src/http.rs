//! The client of every experiment but the benchmark. It speaks HTTP/1.1 by hand, so that it can do so badly.

use crate::server::OPERATOR_KEY;
use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long an answer may take before it counts as none.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client's connection, made when it is needed.
pub struct Connection {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub replayed: bool,
    /// A cookie that it sets: its name and value.
    pub cookie: Option<String>,
    /// A text, unless it is JSON.
    pub body: Value,
}

impl Answer {
    /// A text of the body.
    pub fn text(&self, member: &str) -> anyhow::Result<String> {
        self.body[member].as_str().map(str::to_owned).with_context(|| format!("no {member}: {}", self.body))
    }
}

impl Connection {
    /// To an address.
    pub const fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    /// Posts with a partner's key, and reads the answer.
    pub fn post(&mut self, key: &str, path: &str, more: &[(&str, &str)], body: &[u8]) -> anyhow::Result<Answer> {
        self.call("POST", path, &[&[("X-Service-ApiKey", key)], more].concat(), body)
    }

    /// Sends a request, and reads the answer.
    pub fn call(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> anyhow::Result<Answer> {
        let mut request = self.head(method, path, headers, body.len());
        request.extend_from_slice(body);
        self.exchange(&request)
    }

    /// Sends bytes, and reads the answer to them.
    pub fn exchange(&mut self, bytes: &[u8]) -> anyhow::Result<Answer> {
        let stream = self.stream()?;
        stream.get_mut().write_all(bytes).context("a request could not be sent")?;
        let (answer, close) = read(stream)?;
        if close {
            self.stream = None;
        }
        Ok(answer)
    }

    /// Sends bytes, and resets the connection without reading anything.
    pub fn reset(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let stream = self.stream()?;
        stream.get_mut().write_all(bytes).context("a request could not be sent")?;
        // With a linger of nothing, the end of a connection is a reset.
        rustix::net::sockopt::set_socket_linger(stream.get_ref(), Some(Duration::ZERO))?;
        self.stream = None;
        Ok(())
    }

    /// The head of a request with so many bytes of body.
    pub fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> Vec<u8> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n", self.address);
        head.push_str("Content-Type: application/json\r\n");
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head.push_str("\r\n");
        head.into_bytes()
    }

    fn stream(&mut self) -> anyhow::Result<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address).context("no connection")?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut().context("no connection")
    }
}

/// Reads an answer; says too whether the connection ends with it.
fn read(stream: &mut BufReader<TcpStream>) -> anyhow::Result<(Answer, bool)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        ensure!(stream.read_line(&mut head).context("no answer")? > 0, "the connection ended without an answer");
    }
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let cookie =
        lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).find_map(|(_, set)| set.split(';').next());
    let cookie = cookie.map(str::to_owned);
    let head = head.to_ascii_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let Some(status) = head.strip_prefix("http/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()) else {
        bail!("no status: {head}");
    };
    let length = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).context("an answer broke off")?;
    let body = match field("content-type") {
        _ if body.is_empty() => Value::Null,
        Some(kind) if kind.starts_with("text/") => Value::String(String::from_utf8(body)?),
        _ => serde_json::from_slice(&body).context("no JSON")?,
    };
    let close = field("connection").is_some_and(|value| value.contains("close"));
    Ok((Answer { status, replayed: field("idempotency-replayed").is_some(), cookie, body }, close))
}

/// The operator's connection.
pub struct Operator(Connection);

impl Operator {
    /// To an address of the operator's side.
    pub const fn new(address: SocketAddr) -> Self {
        Self(Connection::new(address))
    }

    /// Sends a request that must be answered with one of these statuses; returns the body.
    pub fn call(&mut self, method: &str, path: &str, body: &str, wanted: &[u16]) -> anyhow::Result<Value> {
        let answer = self.0.call(method, path, &[("X-Operator-Key", OPERATOR_KEY)], body.as_bytes())?;
        ensure!(wanted.contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.body);
        Ok(answer.body)
    }
}
