//! A server that is measured or killed.

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The operator's key in an experiment.
pub const OPERATOR_KEY: &str = "operator-key-of-a-benchmark-on-loopback";

/// A running server. It is killed when this is dropped.
pub struct Server {
    child: Child,
    /// Where partners connect.
    pub partner: SocketAddr,
    /// Where the operator connects.
    pub operator: SocketAddr,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub fn start(command: &mut Command, partner: SocketAddr, operator: SocketAddr) -> anyhow::Result<Self> {
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let mut server = Self { child, partner, operator };
        let end = Instant::now() + Duration::from_secs(60);
        while [partner, operator].iter().any(|address| TcpStream::connect(address).is_err()) {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended ({status}); see server.log");
            }
            ensure!(Instant::now() < end, "the server does not listen; see server.log");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
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

    /// The memory that the process has resident now, in MiB.
    pub fn memory(&self) -> anyhow::Result<f64> {
        memory(self.child.id(), "VmRSS:")
    }

    /// The most memory that the process has had resident, in MiB.
    pub fn peak_memory(&self) -> anyhow::Result<f64> {
        peak_memory(self.child.id())
    }

    /// Resets the peak; returns what is resident now, in MiB.
    pub fn forget_peak_memory(&self) -> anyhow::Result<f64> {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").context("cannot reset VmHWM")?;
        self.peak_memory()
    }

    /// Stops the server as an operator would, and waits for its end.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server stopped with {status}; see server.log");
        Ok(())
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
        // An error means that it has ended already.
        let _ = self.kill();
    }
}

/// The most memory that a process has had resident, in MiB.
pub fn peak_memory(process: u32) -> anyhow::Result<f64> {
    memory(process, "VmHWM:")
}

fn memory(process: u32, line: &str) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let found = status.lines().find_map(|text| text.strip_prefix(line)).with_context(|| format!("no {line}"))?;
    Ok(found.trim().trim_end_matches("kB").trim().parse::<f64>()? / 1024.0)
}

/// An address of this machine where nobody listens.
pub fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
