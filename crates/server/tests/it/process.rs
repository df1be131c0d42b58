//! Running the binary and talking to it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_lendpay");

/// A command for the binary, or for a program that runs it, without the settings of whoever runs the tests.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LENDPAY_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// Lets this process have as many sockets as it may.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("raised");
}

/// The command blocks of a section of the README.
pub fn readme_blocks(section: &str) -> Vec<&'static str> {
    let readme = include_str!("../../../../README.md");
    let section = readme.split("\n## ").find(|found| found.starts_with(section)).expect("the section");
    section.split("```sh\n").skip(1).filter_map(|block| block.split("```").next()).collect()
}

/// What a run that has ended left.
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the binary to its end.
pub fn run(arguments: &[&str]) -> Ended {
    let output = command(BINARY).args(arguments).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ended { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The binary, running. Its whole process group is killed when this is dropped.
pub struct Process {
    child: Child,
    /// In a lock only so that threads can share the process.
    log: Mutex<Receiver<String>>,
    seen: Vec<String>,
    /// Lines that came before `ready`, which are read again.
    early: VecDeque<String>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a command in a process group of its own, with its log read line by line.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).process_group(0).spawn().expect("the binary starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let (send, log) = channel();
        let reader = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // The test may have ended; then nobody reads on.
                let _ = send.send(line);
            }
        });
        Self { child, log: Mutex::new(log), seen: Vec::new(), early: VecDeque::new(), reader: Some(reader) }
    }

    /// The `/proc` folder of the process's child: of the binary, when another program runs it.
    fn child_folder(&self) -> PathBuf {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("a process");
        Path::new("/proc").join(children.split_whitespace().next().expect("a child"))
    }

    /// The most memory that the child has had resident, in KiB.
    pub fn peak_memory_of_child(&self) -> u64 {
        memory_line(&self.child_folder(), "VmHWM:")
    }

    /// The `/proc` folder of the process.
    pub fn folder(&self) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string())
    }

    /// The memory that the process has resident, in KiB.
    pub fn memory(&self) -> u64 {
        memory_line(&self.folder(), "VmRSS:")
    }

    /// The process's standard output, which must have been piped.
    pub fn stdout(&mut self) -> impl Read + use<> {
        self.child.stdout.take().expect("piped")
    }

    /// Waits for a log line with this message, and returns it. Lines before it are not read again.
    pub fn wait_for(&mut self, message: &str) -> Value {
        loop {
            let line = self.early.pop_front().unwrap_or_else(|| self.next_line(message));
            match serde_json::from_str::<Value>(&line) {
                Ok(value) if value["message"] == message => return value,
                _ => {}
            }
        }
    }

    fn next_line(&mut self, message: &str) -> String {
        // Only so that a test that waits for what does not come ends.
        let next = self.log.get_mut().expect("unpoisoned").recv_timeout(Duration::from_secs(300));
        let line = next.unwrap_or_else(|error| panic!("{error}: {message:?} did not come: {:#?}", self.seen));
        self.seen.push(line.clone());
        line
    }

    /// Sends a signal to the process group.
    pub fn signal(&self, name: &str) {
        let target = format!("kill -{name} -- -{}", self.child.id());
        assert!(Command::new("bash").args(["-c", &target]).status().expect("bash runs").success());
    }

    /// Waits for the end; returns the exit status and the whole log.
    pub fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let status = self.child.wait().expect("a child");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the log is read");
        }
        let mut log = std::mem::take(&mut self.seen);
        log.extend(self.log.get_mut().expect("unpoisoned").try_iter());
        (status, log)
    }
}

fn memory_line(folder: &Path, name: &str) -> u64 {
    let status = std::fs::read_to_string(folder.join("status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line on memory");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number")
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.signal("KILL");
            let _ = self.child.wait();
        }
    }
}

/// `lendpay serve`, ready for requests.
pub struct Server {
    pub process: Process,
    /// `127.0.0.1:PORT`.
    pub address: String,
}

impl Server {
    /// Serves the store in a directory.
    pub fn start(data: &Path, more: &[&str]) -> Self {
        let mut command = command(BINARY);
        command.args(arguments(data)).args(more);
        Self::ready(Process::spawn(command))
    }

    /// Waits until a process that serves is ready.
    pub fn ready(mut process: Process) -> Self {
        let ready = process.wait_for("ready");
        // Other lines may come before or after it.
        process.early = process.seen.iter().filter(|line| !line.contains(r#""message":"ready""#)).cloned().collect();
        Self { address: ready["address"].as_str().expect("an address").to_owned(), process }
    }

    /// Posts to a path; returns the status, the headers and the body.
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Reply, ureq::Error> {
        post(&client(), &self.address, path, headers, body)
    }
}

/// The arguments that serve a directory on a free port.
pub fn arguments(data: &Path) -> [String; 5] {
    let store = format!("sled:{}", data.display());
    ["serve".into(), "--listen".into(), "127.0.0.1:0".into(), "--store".into(), store]
}

/// An answer.
pub struct Reply {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: Value,
}

/// A client that keeps its connection.
pub fn client() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// Posts to a path of `address`.
pub fn post(
    client: &ureq::Agent,
    address: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Reply, ureq::Error> {
    let request = client.post(format!("http://{address}{path}"));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let mut response = request.send(body)?;
    let text = response.body_mut().read_to_string()?;
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok(Reply { status: response.status().as_u16(), headers: response.headers().clone(), body })
}
