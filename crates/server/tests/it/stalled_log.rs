//! A log that nobody reads: standard error is a pipe that is full.

use crate::operator::KEY;
use crate::process::{BINARY, arguments, client, command};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::path::Path;
use std::process::{Child, Command};

const DROPPED: &str = "log lines were dropped, since nobody read them";

/// The service, with the end of the pipe that nobody reads.
struct Service {
    process: Child,
    log: BufReader<PipeReader>,
    operator: String,
}

impl Service {
    fn start(data: &Path) -> Self {
        let (log, stderr) = std::io::pipe().expect("a pipe");
        let mut serve = command(BINARY);
        // Many lines for each request.
        serve.args(arguments(data)).args(["--operator-listen", "127.0.0.1:0", "--operator-key", KEY, "--log", "trace"]);
        let process = serve.stderr(stderr).spawn().expect("the binary starts");
        // The command keeps an end of the pipe, too.
        drop(serve);
        let mut service = Self { process, log: BufReader::new(log), operator: String::new() };
        let ready = std::iter::from_fn(|| Some(service.line())).find(|line| line["message"] == "ready");
        service.operator = ready.expect("a line")["operator"].as_str().expect("an address").to_owned();
        service
    }

    /// The next line of the log.
    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.log.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn get(&self, agent: &ureq::Agent, path: &str) -> String {
        let mut answer = agent.get(format!("http://{}{path}", self.operator)).call().expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.body_mut().read_to_string().expect("a text")
    }

    /// How many lines were dropped.
    fn dropped(&self, agent: &ureq::Agent) -> u64 {
        let metrics = self.get(agent, "/metrics");
        let value = metrics.lines().find_map(|line| line.strip_prefix("lendpay_log_lines_dropped_total "));
        value.expect("a counter").parse().expect("a number")
    }

    /// Makes requests until lines have been dropped.
    fn stall(&self, agent: &ureq::Agent) {
        let before = self.dropped(agent);
        while self.dropped(agent) == before {
            for _ in 0..100 {
                self.get(agent, "/health/live");
            }
        }
    }

    fn stop(&mut self) -> Option<i32> {
        let kill = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(kill.expect("kill runs").success());
        self.process.wait().expect("a child").code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
    }
}

#[test]
fn a_log_that_nobody_reads_stops_nothing_and_what_was_dropped_is_counted_and_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut service, agent) = (Service::start(directory.path()), client());
    service.stall(&agent);
    service.get(&agent, "/health/ready");
    // Somebody reads again. No line is cut, and every line that is missing is accounted for.
    let counted = service.dropped(&agent);
    let mut told = 0;
    while told < counted {
        let line = service.line();
        if line["message"] == DROPPED {
            assert_eq!(line["level"], "WARN");
            told += line["lines"].as_u64().expect("a number");
        }
    }
    // Nor does it hold up the end.
    service.stall(&agent);
    assert_eq!(service.stop(), Some(0));
}

#[test]
fn lines_that_wait_are_written_at_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut service, agent) = (Service::start(directory.path()), client());
    for _ in 0..100 {
        service.get(&agent, "/health/live");
    }
    let process = service.process.id().to_string();
    assert!(Command::new("kill").arg(process).status().expect("kill runs").success());
    let lines = std::io::read_to_string(&mut service.log).expect("the log");
    assert_eq!(service.process.wait().expect("a child").code(), Some(0));
    assert_eq!(lines.lines().filter(|line| line.contains("\"route\":\"/health/live\"")).count(), 100);
    assert!(lines.lines().any(|line| line.contains("\"message\":\"stopping\"")), "{lines}");
}

#[test]
fn a_start_that_fails_ends_although_nobody_reads_why() {
    let (_unread, mut stderr) = std::io::pipe().expect("a pipe");
    // As much as a pipe holds (pipe(7)).
    stderr.write_all(&[b'x'; 65_536]).expect("a write");
    let ended = command(BINARY).args(["export", "/nowhere/file"]).stderr(stderr).status();
    assert_eq!(ended.expect("the binary runs").code(), Some(1));
}
