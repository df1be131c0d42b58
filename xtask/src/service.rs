//! The service, running for as long as something is tried against it.

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xshell::Shell;

use crate::command::cargo;

/// The operator's key.
pub const OPERATOR_KEY: &str = "operator-key-of-a-check-on-loopback";

/// Asks again and again until there is an answer. A service may take a minute for what it does at once on an idle
/// machine.
fn until<T>(complaint: &str, mut ask: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<T> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        ensure!(Instant::now() < end, "{complaint}");
        sleep(Duration::from_millis(10));
    }
}

/// A process that is ended when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It keeps nothing that an orderly end would save; an error means that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// With this limit of a request's time, one that asks to wait for events waits 2 s at the most: programs that try all
/// parameters do not wait long.
const SHORT_WAITS: [&str; 2] = ["--request-timeout", "7"];

/// `lendpay demo`: the service with something in it.
pub struct Demo {
    _process: Process,
    /// `http://127.0.0.1:PORT`.
    pub base: String,
    key: String,
    application: String,
    /// In the order of the demo's screen: offered, indicative, expiring soon, declined, accepted.
    offers: Vec<String>,
}

impl Demo {
    /// Builds the binary and starts it on a free port.
    pub fn start(shell: &Shell) -> anyhow::Result<Self> {
        Self::ready(demo(shell)?.args(["--log", "warn"]))
    }

    /// The same, with a line in a file for each request.
    pub fn logging(shell: &Shell, file: &Path) -> anyhow::Result<Self> {
        let log = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
        let mut demo = demo(shell)?;
        Self::ready(demo.args(["--log", "warn,lendpay::request=info", "--log-format", "json"]).stderr(log))
    }

    fn ready(demo: &mut Command) -> anyhow::Result<Self> {
        let mut process = Process(demo.stdout(Stdio::piped()).spawn().context("cannot start the demo")?);
        let screen = process.0.stdout.take().context("the demo's output is not piped")?;
        let (base, key, application) = Default::default();
        let mut demo = Self { _process: process, base, key, application, offers: Vec::new() };
        for line in BufReader::new(screen).lines() {
            let line = line.context("cannot read the demo's screen")?;
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                ["Documentation", address] => demo.base = address.trim_end_matches("/docs").to_owned(),
                ["API", "key", key] => demo.key = (*key).to_owned(),
                ["Application", application] => demo.application = (*application).to_owned(),
                ["Offer", offer, ..] => demo.offers.push((*offer).to_owned()),
                // Its last line: the store is filled, the listener bound.
                ["Ctrl-C", ..] => {
                    println!("The demo runs at {}.", demo.base);
                    return Ok(demo);
                }
                _ => {}
            }
        }
        anyhow::bail!("the demo ended before it was ready")
    }

    /// What a log holds once the lines of all requests that were answered before are in it. A line can come after its
    /// answer, but lines come in the order of answers: so the line of one more request is waited for.
    pub fn logged(&self, log: &Path) -> anyhow::Result<String> {
        static REQUESTS: AtomicU32 = AtomicU32::new(1);
        let operation = format!("{:032x}", REQUESTS.fetch_add(1, Ordering::Relaxed));
        let request = ureq::get(&self.base).header("traceparent", format!("00-{operation}-{:016x}-01", 1));
        request.call().context("the demo does not answer")?;
        until("the log has no line of a request that was answered", || {
            let written = fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
            Ok(Some(written).filter(|written| written.contains(&operation) && written.ends_with('\n')))
        })
    }

    /// Makes everything in it as it was in the beginning.
    pub fn reset(&self, shell: &Shell) -> anyhow::Result<()> {
        let status = lendpay(shell)?.args(["sandbox", "reset", "--sandbox-url", &self.base]).status()?;
        ensure!(status.success(), "the demo cannot be reset");
        Ok(())
    }

    /// What there is to try, for a program's environment.
    pub fn to_try(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let offer = |at: usize| self.offers.get(at).cloned().context("the demo has too few offers");
        Ok(vec![
            ("LENDPAY_BASE", self.base.clone()),
            ("LENDPAY_KEY", self.key.clone()),
            ("LENDPAY_APPLICATION", self.application.clone()),
            ("LENDPAY_OFFER", offer(0)?),
            ("LENDPAY_INDICATIVE", offer(1)?),
            ("LENDPAY_DECLINED", offer(3)?),
        ])
    }
}

/// `lendpay serve` with an empty store and the operator's side.
pub struct Service {
    _process: Process,
    /// `http://127.0.0.1:PORT` of the operator.
    pub operator: String,
    /// The same of partners.
    pub partner: String,
}

impl Service {
    /// Builds the binary, starts it on free ports and a new store, and waits until it listens.
    pub fn start(shell: &Shell, data: &Path) -> anyhow::Result<Self> {
        shell.remove_path(data)?;
        let free = || TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let (partner, operator) = (free()?, free()?);
        let mut serve = lendpay(shell)?;
        serve.args(["serve", "--log", "warn", "--rate-limit", "off", "--listen", &partner.to_string()]);
        serve.args(SHORT_WAITS);
        serve.args(["--operator-listen", &operator.to_string(), "--operator-key", OPERATOR_KEY]);
        serve.arg("--store").arg(format!("sled:{}", data.display()));
        serve.arg("--secrets-key-file").arg(secrets_key(data)?);
        let mut process = Process(serve.spawn().context("cannot start the service")?);
        until("the service does not listen", || {
            ensure!(process.0.try_wait()?.is_none(), "the service has ended");
            Ok(TcpStream::connect(operator).ok())
        })?;
        Ok(Self { _process: process, operator: format!("http://{operator}"), partner: format!("http://{partner}") })
    }
}

/// A file beside the store with the key of webhooks' secrets, which nobody else may read.
fn secrets_key(data: &Path) -> anyhow::Result<PathBuf> {
    let path = data.with_extension("key");
    std::fs::create_dir_all(data.parent().context("the store has no folder")?)?;
    std::fs::write(&path, "5e".repeat(32))?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok(path)
}

/// The command that runs a demo on a free port.
fn demo(shell: &Shell) -> anyhow::Result<Command> {
    let mut demo = lendpay(shell)?;
    demo.args(["demo", "--listen", "127.0.0.1:0", "--rate-limit", "off"]).args(SHORT_WAITS);
    Ok(demo)
}

/// Builds the binary; it gets no settings of ours.
fn lendpay(shell: &Shell) -> anyhow::Result<Command> {
    cargo(shell).args(["build", "--quiet", "--locked", "--package", "lendpay"]).run()?;
    // Cargo puts the workspace's programs beside each other.
    let program: PathBuf = std::env::current_exe().context("this program has no path")?.with_file_name("lendpay");
    let mut command = Command::new(program);
    command.env_clear().stdin(Stdio::null());
    Ok(command)
}
