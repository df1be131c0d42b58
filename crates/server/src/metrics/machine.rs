//! What the operating system knows of the process, of the disk with its data, and when its certificate ends.
//!
//! The names that begin with `process_` are those of Prometheus' client libraries.

use super::Page;
use procfs::ProcResult;
use procfs::process::Process;
use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};
use std::path::Path;

/// What is read of the process.
struct Figures {
    cpu_seconds: f64,
    resident: u64,
    virtual_memory: u64,
    threads: i64,
    open_files: usize,
    start: f64,
}

fn figures() -> ProcResult<Figures> {
    let process = Process::myself()?;
    let (stat, ticks) = (process.stat()?, procfs::ticks_per_second());
    // A few thousand years of ticks are exact.
    let seconds = |number: u64| number as f64 / ticks as f64;
    Ok(Figures {
        cpu_seconds: seconds(stat.utime + stat.stime),
        resident: stat.rss * procfs::page_size(),
        virtual_memory: stat.vsize,
        threads: stat.num_threads,
        open_files: process.fd_count()?,
        start: procfs::boot_time_secs()? as f64 + seconds(stat.starttime),
    })
}

impl Page {
    pub(super) fn process(&mut self) {
        match figures() {
            Ok(figures) => {
                let help = "Time of the processor that the process has used.";
                self.family("process_cpu_seconds_total", "counter", help);
                self.sample("process_cpu_seconds_total", "", figures.cpu_seconds);
                self.gauge("process_resident_memory_bytes", "Memory that is resident.", figures.resident);
                self.gauge("process_virtual_memory_bytes", "Memory that is mapped.", figures.virtual_memory);
                self.gauge("process_threads", "Threads.", figures.threads);
                self.gauge("process_open_fds", "Files and connections that are open.", figures.open_files);
                let help = "When the process was started, in seconds since 1970.";
                self.gauge("process_start_time_seconds", help, figures.start);
            }
            Err(error) => tracing::warn!(%error, "the figures of the process cannot be read"),
        }
        if let Some(most) = getrlimit(Resource::Nofile).current {
            self.gauge("process_max_fds", "Files and connections that may be open.", most);
        }
    }

    pub(super) fn disk(&mut self, directory: &Path) {
        match statvfs(directory) {
            Ok(disk) => {
                let help = "Size of the file system with the data directory.";
                self.gauge("lendpay_data_disk_size_bytes", help, disk.f_blocks * disk.f_frsize);
                let help = "What the service may still write to that file system.";
                self.gauge("lendpay_data_disk_free_bytes", help, disk.f_bavail * disk.f_frsize);
            }
            Err(error) => tracing::warn!(%error, "the disk with the data directory cannot be looked at"),
        }
    }
}
