//! Processes of their own, which write to a store until they are killed.

use crate::conformance::samples::*;
use crate::open;
use crate::seen::fill;
use lendpay_domain::store::Commands as _;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const DIRECTORY: &str = "LENDPAY_TEST_DIRECTORY";

/// A child that runs.
pub struct Child {
    process: std::process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// How a child is run: a test of this binary, over the store in a directory, after a line of shell.
pub fn command(test: &str, directory: &Path, shell: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!(r#"{shell}; exec "$0" "$@""#)])
        .arg(std::env::current_exe().expect("a test has a path"))
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory);
    command
}

impl Child {
    pub fn start(test: &str, directory: &Path) -> Self {
        let mut process = command(test, directory, ":").stdout(Stdio::piped()).spawn().expect("sh runs");
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        Self { process, lines }
    }

    /// Waits until it has said something so many times, kills it, and gives all that it said.
    pub fn kill_after(mut self, word: &str, times: usize) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        while said.iter().filter(|line| line.contains(word)).count() < times {
            said.push(self.lines.next().expect("it goes on").expect("text"));
        }
        self.process.kill().expect("is killed");
        self.process.wait().expect("ends");
        said.extend(self.lines.map_while(Result::ok));
        said
    }
}

/// The numbers that a child has said after a word.
pub fn numbers(said: &[String], word: &str) -> Vec<u64> {
    said.iter().filter_map(|line| line.split_once(word)?.1.trim().parse().ok()).collect()
}

/// Where a child is to write.
pub fn directory() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child where to write")]
    std::env::var(DIRECTORY).expect("run by another test").into()
}

pub fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody listens");
}

/// Writes until it is killed: number `n` is acknowledged when all three of its commands are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by other tests, in a process of its own"]
async fn writes() {
    let store = Arc::new(open(&directory()));
    with_partner(&*store, 1).await;
    store.run(add_key(key(1, 1))).await.expect("works");
    // Numbers that no child before this one had: each has three events.
    let first = all_events(&*store).await.len() as u64;
    let writers: Vec<_> = (0..8)
        .map(|writer: u64| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in (first + writer..).step_by(8) {
                    store.run(creation(1, n, None, description(), 3)).await.expect("works");
                    store.run(put_offer(1, n, bare_terms(), 3)).await.expect("works");
                    store.run(accept(1, n, 4)).await.expect("works");
                    store.note_use(key(1, 1).hash, at(3_600 * n as i64));
                    say(&format!("acknowledged {n}"));
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("goes on");
    }
}

/// Fills a store, waits for a checkpoint, goes on in groups of one command, and waits to be killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by other tests, in a process of its own"]
async fn fills() {
    let store = open(&directory());
    fill(&store).await;
    let mark = || std::fs::read(directory().join("mark")).expect("there");
    let before = mark();
    for n in 1_000.. {
        store.run(creation(1, n, None, description(), 3)).await.expect("works");
        if mark() != before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for n in 0..8 {
        store.run(creation(1, 5_000 + n, None, description(), 3)).await.expect("works");
    }
    // sled hands what it has to the operating system every 500 ms, and says nothing of it.
    tokio::time::sleep(Duration::from_millis(700)).await;
    say("ready");
    std::future::pending().await
}

/// Opens a store, writes to it and closes it.
#[tokio::test]
#[ignore = "run by other tests, in a process of its own"]
async fn opens_and_closes() {
    let store = open(&directory());
    fill(&store).await;
    drop(store);
    drop(open(&directory()));
}
