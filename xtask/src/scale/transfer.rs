//! Whether an export and an import run in constant memory, and say the same.

use super::{Place, size};
use crate::bench::load::{self, Job};
use crate::fill;
use crate::server::{OPERATOR_KEY, peak_memory};
use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Connections that accept meanwhile.
const CONNECTIONS: usize = 16;

/// How many accepts are driven in one go.
const PART: usize = 20_000;

pub fn measure(place: &Place, offers: usize) -> anyhow::Result<()> {
    let (mut server, key) = place.filled("exported", offers)?;
    let (pairs, file) = (fill::offers(offers), place.folder.join("export.ndjson"));
    let disk = size(&place.data("exported"))?;

    let before = server.forget_peak_memory()?;
    let mut export = lendpay(place);
    export.args(["export", "--running", "--operator-url", &format!("http://{}", server.operator)]).arg(&file);
    let mut export = Run::start(&mut export)?;
    // Accepts go on for as long as the export does.
    let (mut parts, mut slowest) = (0, 0.0_f64);
    for part in pairs.chunks(PART) {
        let cell = load::drive(&server, &place.folder, &key, Job::Accept, CONNECTIONS, part, 1)?;
        ensure!(cell.errors == 0, "{} accepts failed during the export", cell.errors);
        parts += 1;
        slowest = slowest.max(cell.p999_ms);
        if export.has_ended()? {
            break;
        }
    }
    println!("  export of the running service: {}", export.finish()?.line());
    println!("  meanwhile it accepted {parts} times up to {PART} offers, no error, p99.9 at most {slowest:.1} ms");
    println!("  the service: {before:.0} MiB of memory before, {:.0} MiB at most meanwhile", server.peak_memory()?);
    println!(
        "  {:.0} MiB of disk, {:.0} MiB of export",
        disk as f64 / MIB,
        std::fs::metadata(&file)?.len() as f64 / MIB
    );
    server.stop()?;

    let stopped = place.folder.join("stopped.ndjson");
    println!("  export of the stopped store: {}", export_of(place, "exported", &stopped)?.line());
    let mut import = lendpay(place);
    import.arg("import").arg(&stopped).args(["--store", &store(place, "imported")]);
    println!("  import: {}", Run::start(&mut import)?.finish()?.line());
    let again = place.folder.join("again.ndjson");
    export_of(place, "imported", &again)?;
    same_below_the_header(&stopped, &again)?;
    println!("  the export of what was imported is the same but for its header");
    Ok(())
}

const MIB: f64 = 1024.0 * 1024.0;

fn store(place: &Place, name: &str) -> String {
    format!("sled:{}", place.data(name).display())
}

fn export_of(place: &Place, name: &str, file: &Path) -> anyhow::Result<Done> {
    let mut export = lendpay(place);
    export.arg("export").arg(file).args(["--store", &store(place, name)]);
    Run::start(&mut export)?.finish()
}

fn lendpay(place: &Place) -> Command {
    let mut command = Command::new(place.programs.join("lendpay"));
    command.env("LENDPAY_OPERATOR_KEY", OPERATOR_KEY);
    command
}

/// A program whose memory is watched.
struct Run {
    child: Child,
    begun: Instant,
    seconds: f64,
    peak: f64,
}

/// How it went.
struct Done {
    seconds: f64,
    peak: f64,
}

impl Done {
    fn line(&self) -> String {
        format!("{:.1} s, {:.0} MiB of memory at most", self.seconds, self.peak)
    }
}

impl Run {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
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

    fn finish(mut self) -> anyhow::Result<Done> {
        while !self.has_ended()? {
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "a transfer failed: {status}");
        Ok(Done { seconds: self.seconds, peak: self.peak })
    }
}

fn same_below_the_header(one: &Path, two: &Path) -> anyhow::Result<()> {
    let lines = |path: &Path| File::open(path).map(|file| BufReader::new(file).split(b'\n').skip(1));
    let (mut one, mut two) = (lines(one)?, lines(two)?);
    loop {
        match (one.next().transpose()?, two.next().transpose()?) {
            (None, None) => return Ok(()),
            (one, two) => ensure!(one == two, "the two exports differ"),
        }
    }
}
