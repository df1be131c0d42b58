//! The programs that are measured, and the folder where that is done.

use crate::server::{OPERATOR_KEY, Server, free_address};
use anyhow::Context as _;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xshell::{Cmd, Shell, cmd};

/// Where an experiment is done.
#[derive(Clone)]
pub struct Lab {
    root: PathBuf,
    programs: PathBuf,
    folder: PathBuf,
    /// Another build of the service, in place of the one among the programs.
    other: Option<PathBuf>,
}

impl Lab {
    /// Builds the programs of the workspace, as they are shipped or as tests do, and empties the folder `target/NAME`.
    pub fn new(name: &str, shipped: bool) -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("no workspace")?.to_owned();
        let shell = shell(&root)?;
        let (profile, place) = if shipped { ("dist", "dist") } else { ("dev", "debug") };
        // Always the same packages: with others, dependencies have other features and are compiled again. As tests
        // build it, the lab is this program, which runs.
        let lab: &[_] = if shipped { &["--package", "lendpay-lab"] } else { &[] };
        let packages = ["--package", "lendpay"].iter().chain(lab);
        without_ours(cmd!(shell, "cargo build --quiet --locked --profile {profile} {packages...}")).run()?;
        // Cargo puts the profiles beside each other.
        let own = std::env::current_exe().context("this program has no path")?;
        let programs = own.ancestors().nth(2).context("this program lies in no folder")?.join(place);
        let folder = root.join("target").join(name);
        remove(&folder)?;
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { root, programs, folder, other: None })
    }

    /// The same programs in a folder of their own, below this one.
    pub fn below(&self, name: &str) -> anyhow::Result<Self> {
        let folder = self.path(name);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, ..self.clone() })
    }

    /// The same folder with another build of the service.
    pub fn with(&self, lendpay: &Path) -> Self {
        Self { other: Some(lendpay.to_owned()), ..self.clone() }
    }

    /// For programs of the machine, in the workspace.
    pub fn shell(&self) -> anyhow::Result<Shell> {
        shell(&self.root)
    }

    /// Installs tools of the machine, or names those that are missing.
    pub fn needs(&self, tools: &str) -> anyhow::Result<()> {
        let shell = self.shell()?;
        Ok(without_ours(cmd!(shell, "cargo xtask tools {tools}")).run()?)
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The embedded store in the folder, as the service's command line names it.
    pub fn store(&self, name: &str) -> String {
        format!("sled:{}", self.path(name).display())
    }

    /// A program, with nothing in its environment that would change its settings.
    pub fn program(&self, name: &str) -> Command {
        let other = self.other.clone().filter(|_| name == "lendpay");
        let mut command = Command::new(other.unwrap_or_else(|| self.programs.join(name)));
        command.env_clear().env("LENDPAY_OPERATOR_KEY", OPERATOR_KEY).stdin(Stdio::null());
        command
    }

    /// Starts the service on a store, with its log in the file `server.log`, and waits until it is ready.
    pub fn serve(&self, store: &str, more: &[&str]) -> anyhow::Result<Server> {
        self.serve_logging_to(File::create(self.path("server.log"))?, store, more)
    }

    /// Starts the service with its log going to a file or a pipe, and waits until it is ready.
    pub fn serve_logging_to(&self, log: impl Into<Stdio>, store: &str, more: &[&str]) -> anyhow::Result<Server> {
        /// Off, unless it is what is measured.
        const RATE_LIMIT: &str = "--rate-limit";
        let (partner, operator) = (free_address()?, free_address()?);
        let mut serve = self.program("lendpay");
        serve.args(["serve", "--listen", &partner.to_string(), "--operator-listen", &operator.to_string()]);
        serve.args(["--store", store]).args(more);
        if !more.contains(&RATE_LIMIT) {
            serve.args([RATE_LIMIT, "off"]);
        }
        Server::start(serve.stderr(log), partner, operator)
    }

    /// Runs the service's program to its end.
    pub fn lendpay(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let status = self.program("lendpay").args(arguments).status().context("cannot run lendpay")?;
        anyhow::ensure!(status.success(), "lendpay {} failed: {status}", arguments.join(" "));
        Ok(())
    }
}

fn shell(root: &Path) -> anyhow::Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(root);
    Ok(shell)
}

/// Without what `cargo run` tells this program of its package: build scripts that watch it would run again each time.
fn without_ours(command: Cmd<'_>) -> Cmd<'_> {
    let ours = |name: &OsString| {
        name.to_str().is_some_and(|name| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|ours| name.starts_with(ours)))
    };
    std::env::vars_os().map(|(name, _)| name).filter(ours).fold(command, Cmd::env_remove)
}

/// Removes a folder, if it is there.
pub fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}: is a disk still mounted there?", folder.display()))?;
    }
    Ok(())
}
