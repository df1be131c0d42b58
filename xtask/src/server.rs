//! A server that is measured or killed.

use crate::command::{command, run};
use anyhow::{Context as _, bail, ensure};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The operator's key in a benchmark.
pub const OPERATOR_KEY: &str = "operator-key-of-a-benchmark-on-loopback";

const RATE_LIMIT: &str = "--rate-limit";

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Limit (a): a synced append and a constant.
    Disk,
    /// The service.
    Lendpay,
    /// Limit (b): a constant.
    Poem,
}

impl Kind {
    /// Every server, in the order in which a round measures them.
    pub const ALL: [Self; 3] = [Self::Disk, Self::Lendpay, Self::Poem];

    /// How the report names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disk => "limit (a): hyper and a synced append",
            Self::Lendpay => "lendpay",
            Self::Poem => "limit (b): poem, no disk",
        }
    }
}

/// A running server.
pub struct Server {
    child: Child,
    /// Where partners connect.
    pub address: SocketAddr,
    /// Where the operator connects.
    pub operator: SocketAddr,
}

impl Server {
    /// Starts a server of a folder of programs on a folder of data, with its log in `folder`, and waits until it listens.
    pub fn start(programs: &Path, folder: &Path, kind: Kind, data: &Path) -> anyhow::Result<Self> {
        Self::start_with(programs, folder, kind, data, &[])
    }

    /// Starts the service with more arguments.
    pub fn start_with(
        programs: &Path,
        folder: &Path,
        kind: Kind,
        data: &Path,
        more: &[String],
    ) -> anyhow::Result<Self> {
        let (name, file) = match kind {
            // It makes the directory itself, for its user alone.
            Kind::Lendpay => return Self::lendpay(programs, folder, &format!("sled:{}", data.display()), more),
            Kind::Disk => ("disk", Some(data.join("file"))),
            Kind::Poem => ("poem", None),
        };
        fs::create_dir_all(data)?;
        let address = free_address()?;
        let mut command = Command::new(programs.join("xtask"));
        command.args(["limit", name, "--listen", &address.to_string()]);
        if let Some(file) = file {
            command.arg("--file").arg(file);
        }
        // A limit has no operator's side.
        Self::spawn(command, folder, address, address)
    }

    /// Starts the service on a store, with more arguments.
    pub fn lendpay(programs: &Path, folder: &Path, store: &str, more: &[String]) -> anyhow::Result<Self> {
        let (address, operator) = (free_address()?, free_address()?);
        let mut command = command::<&str>(Path::new("."), programs.join("lendpay"), &[]);
        command.args(["serve", "--listen", &address.to_string(), "--store", store]);
        command.args(["--operator-listen", &operator.to_string(), "--operator-key", OPERATOR_KEY]).args(more);
        if !more.iter().any(|flag| flag == RATE_LIMIT) {
            command.args([RATE_LIMIT, "off"]);
        }
        Self::spawn(command, folder, address, operator)
    }

    fn spawn(mut command: Command, folder: &Path, address: SocketAddr, operator: SocketAddr) -> anyhow::Result<Self> {
        let log = File::create(folder.join("server.log"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let mut server = Self { child, address, operator };
        server.wait_until_it_listens()?;
        Ok(server)
    }

    fn wait_until_it_listens(&mut self) -> anyhow::Result<()> {
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended ({status}); see server.log in the report's folder");
            }
            ensure!(Instant::now() < end, "the server does not listen; see server.log in the report's folder");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The CPU time that the process has used, in seconds.
    pub fn cpu(&self) -> anyhow::Result<f64> {
        /// USER_HZ, which Linux fixes for programs.
        const TICKS: f64 = 100.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in brackets may hold spaces; user and system time are the 12th and 13th fields after it.
        let fields: Vec<_> = stat.rsplit(')').next().expect("a split has a last part").split_whitespace().collect();
        let ticks =
            |n: usize| fields.get(n).and_then(|field| field.parse::<f64>().ok()).context("no CPU time in /proc");
        Ok((ticks(11)? + ticks(12)?) / TICKS)
    }

    /// The most memory that the process has had resident, in MiB.
    pub fn peak_memory(&self) -> anyhow::Result<f64> {
        peak_memory(self.child.id())
    }

    /// The memory that the process has resident now, in MiB.
    pub fn memory(&self) -> anyhow::Result<f64> {
        memory(self.child.id(), "VmRSS:")
    }

    /// Resets the peak; returns what is resident now, in MiB.
    pub fn forget_peak_memory(&self) -> anyhow::Result<f64> {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").context("cannot reset VmHWM")?;
        self.peak_memory()
    }

    /// Stops the server as an operator would, and waits for its end.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().context("cannot run `kill`")?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server stopped with {status}; see server.log in the report's folder");
        Ok(())
    }

    /// Sends a request to the operator side that must succeed; returns the body.
    pub fn operate(&self, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
        send(self.operator, ("X-Operator-Key", OPERATOR_KEY), method, path, body)
    }

    /// Reads a long answer of the operator side, line by line.
    pub fn operate_lines(&self, path: &str, mut line: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let url = format!("http://{}{path}", self.operator);
        let answer = ureq::get(url).header("X-Operator-Key", OPERATOR_KEY).call()?;
        BufReader::new(answer.into_body().into_reader()).lines().try_for_each(|text| line(&text?))
    }

    /// Sends a request to the partner side that must succeed; returns the body.
    pub fn post(&self, key: &str, path: &str, body: &str) -> anyhow::Result<String> {
        send(self.address, ("X-Service-ApiKey", key), "POST", path, body)
    }

    /// Kills the server: SIGKILL, no chance to do anything.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone after `kill`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process has had resident, in MiB.
pub fn peak_memory(process: u32) -> anyhow::Result<f64> {
    memory(process, "VmHWM:")
}

fn memory(process: u32, line: &str) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let found =
        status.lines().find_map(|text| text.strip_prefix(line)).with_context(|| format!("no {line} in /proc"))?;
    let kib: f64 = found.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib / 1024.0)
}

/// Builds programs of the workspace as they are shipped; returns the folder where they are.
pub fn shipped(root: &Path, packages: &[&str]) -> anyhow::Result<PathBuf> {
    let mut build = command(root, "cargo", &["build", "--profile", "dist", "--locked"]);
    for package in packages {
        build.args(["--package", package]);
    }
    run(&mut build)?;
    // Cargo puts the profiles beside each other.
    Ok(own_folder()?.with_file_name("dist"))
}

/// Builds the service as tests do; returns the folder where it is.
pub fn built(root: &Path) -> anyhow::Result<PathBuf> {
    run(&mut command(root, "cargo", &["build", "--quiet", "--locked", "--package", "lendpay"]))?;
    // Cargo puts the workspace's programs beside each other.
    own_folder()
}

fn own_folder() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("this program has no path")?;
    Ok(program.parent().context("this program lies in no folder")?.to_owned())
}

/// Removes a folder, if it is there.
pub fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

fn send(
    address: SocketAddr,
    (header, key): (&str, &str),
    method: &str,
    path: &str,
    body: &str,
) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{header}: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").with_context(|| format!("no answer from {address}"))?;
    ensure!(head.starts_with("HTTP/1.1 20"), "{method} {path}: {answer}");
    Ok(body.to_owned())
}

fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
