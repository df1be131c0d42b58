//! Whether an export and an import run in constant memory, and say the same.

use super::{MIB, Place};
use crate::fill;
use crate::load::{self, Job};
use crate::server::peak_memory;
use anyhow::{Context as _, ensure};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use xshell::cmd;

/// Connections that accept meanwhile.
const CONNECTIONS: usize = 16;

/// How many accepts are driven in one go.
const PART: usize = 20_000;

pub fn measure(place: &Place, offers: usize) -> anyhow::Result<()> {
    let lab = &place.lab;
    let (mut server, key) = place.filled("exported", offers)?;
    let file = lab.path("export.ndjson");
    let disk = place.size("exported")?;

    let before = server.forget_peak_memory()?;
    let url = format!("http://{}", server.operator);
    let mut export = Run::start(place, &["export", "--running", "--operator-url", &url, &text(&file)])?;
    // Accepts go on for as long as the export does.
    let (mut parts, mut slowest) = (0, 0.0_f64);
    for part in fill::offers(offers).chunks(PART) {
        let cell = load::drive(lab, &server, &key, Job::Accept, CONNECTIONS, part, 1)?;
        ensure!(cell.errors == 0.0, "{} accepts failed during the export", cell.errors);
        parts += 1;
        slowest = slowest.max(cell.p999_ms);
        if export.has_ended()? {
            break;
        }
    }
    println!("  export of the running service: {}", export.finish()?);
    println!("  meanwhile it accepted {parts} times up to {PART} offers, no error, p99.9 at most {slowest:.1} ms");
    println!("  the service: {before:.0} MiB of memory before, {:.0} MiB at most meanwhile", server.peak_memory()?);
    println!("  {:.0} MiB of disk, {:.0} MiB of export", disk / MIB, file.metadata()?.len() as f64 / MIB);
    server.stop()?;

    let (stopped, again) = (lab.path("stopped.ndjson"), lab.path("again.ndjson"));
    let (exported, imported) = (lab.store("exported"), lab.store("imported"));
    let export = Run::start(place, &["export", &text(&stopped), "--store", &exported])?;
    println!("  export of the stopped store: {}", export.finish()?);
    let import = Run::start(place, &["import", &text(&stopped), "--store", &imported])?;
    println!("  import: {}", import.finish()?);
    lab.lendpay(&["export", &text(&again), "--store", &imported])?;
    let shell = lab.shell()?;
    cmd!(shell, "bash -c 'cmp <(tail --lines=+2 \"$0\") <(tail --lines=+2 \"$1\")' {stopped} {again}").run()?;
    println!("  the export of what was imported is the same but for its header");
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A program whose memory is watched.
struct Run {
    child: Child,
    begun: Instant,
    seconds: f64,
    peak: f64,
}

impl Run {
    fn start(place: &Place, arguments: &[&str]) -> anyhow::Result<Self> {
        let child = place.lab.program("lendpay").args(arguments).spawn().context("cannot start lendpay")?;
        Ok(Self { child, begun: Instant::now(), seconds: 0.0, peak: 0.0 })
    }

    fn has_ended(&mut self) -> anyhow::Result<bool> {
        // Nothing can be read of a program that has just ended.
        self.peak = peak_memory(self.child.id()).unwrap_or(self.peak);
        let ended = self.child.try_wait()?.is_some();
        if !ended {
            self.seconds = self.begun.elapsed().as_secs_f64();
        }
        Ok(ended)
    }

    /// Waits for its end; says how it went.
    fn finish(mut self) -> anyhow::Result<String> {
        while !self.has_ended()? {
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "a transfer failed: {status}");
        Ok(format!("{:.1} s, {:.0} MiB of memory at most", self.seconds, self.peak))
    }
}
