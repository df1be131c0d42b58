//! The tools that the test run needs: where they are, and how they get there.

pub mod npm;
pub mod python;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::command::{command, output, run, succeeds};

/// A program from a Debian package.
pub struct DebianTool {
    package: &'static str,
    /// A command that succeeds when the tool is there.
    probe: &'static [&'static str],
}

/// What has to be on the machine for everyday work, besides the Rust toolchain.
pub const EVERYDAY: &[DebianTool] = &[
    // The server's tests get a token through Swagger UI in it.
    DebianTool { package: "chromium", probe: &["chromium", "--version"] },
    // The server's tests call it, as the README's readers do.
    DebianTool { package: "curl", probe: &["curl", "--version"] },
    // The merge base and earlier documents come from it.
    DebianTool { package: "git", probe: &["git", "--version"] },
    // For the authorization server of the tests, the linters, the comparison of documents, TypeScript and the browser's
    // driver, which need version 20 or later.
    DebianTool {
        package: "nodejs",
        probe: &["node", "-e", "process.exit(process.versions.node.split('.')[0] >= 20 ? 0 : 1)"],
    },
    DebianTool { package: "npm", probe: &["npm", "--version"] },
    // The tests start servers of it. Its programs are not on the path.
    DebianTool {
        package: "postgresql",
        probe: &[
            "sh",
            "-c",
            "ls \"${PG_BIN:-/usr/lib/postgresql}\"/*/bin/initdb \"$PG_BIN/initdb\" 2>/dev/null | grep -q .",
        ],
    },
    // For the OpenAPI validator and others; Debian keeps `ensurepip` apart from Python itself.
    DebianTool { package: "python3-venv", probe: &["python3", "-c", "import ensurepip, venv"] },
    // Shows that the store syncs before it replies.
    DebianTool { package: "strace", probe: &["strace", "-V"] },
];

/// What has to be there too for the clients and the browser.
pub const CLIENTS_AND_BROWSER: &[DebianTool] = &[
    // For the walk through the documentation's page.
    DebianTool { package: "chromium", probe: &["/usr/bin/chromium", "--version"] },
    // For the generator of clients, and the Java client.
    DebianTool { package: "default-jdk-headless", probe: &["javac", "-version"] },
];

/// What the measurements need too.
pub const LOAD: &[DebianTool] = &[
    // The load generator. It prints its version and ends with 1: `command -v` asks nothing of it.
    DebianTool { package: "wrk", probe: &["sh", "-c", "command -v wrk"] },
];

/// What makes a disk and cuts its power, as root.
pub const POWER_SWITCH: &[DebianTool] = &[
    DebianTool { package: "e2fsprogs", probe: &["mkfs.ext4", "-V"] },
    DebianTool { package: "xfsprogs", probe: &["xfs_io", "-V"] },
];

/// The variable that names a copy of the advisory database: a git repository.
pub const ADVISORY_DB: &str = "LENDPAY_ADVISORY_DB";

/// Where cargo-deny fetches the database from.
const ADVISORY_URL: &str = "https://github.com/RustSec/advisory-db";

/// Makes a command that fetches the advisory database take it from a copy. cargo-deny takes no path, but has git fetch.
pub fn fetch_advisories_from(fetch: &mut Command, copy: &Path) -> anyhow::Result<()> {
    let copy = copy.canonicalize().with_context(|| format!("{ADVISORY_DB}: {} cannot be read", copy.display()))?;
    let key = format!("url.{}.insteadOf", copy.display());
    fetch.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", key).env("GIT_CONFIG_VALUE_0", ADVISORY_URL);
    Ok(())
}

const CARGO_DENY_VERSION: &str = "0.20.2";

/// Whether this runs as root.
pub fn is_root(root: &Path) -> bool {
    output(&mut command(root, "id", &["-u"])).as_deref() == Some("0")
}

/// Makes sure that the Debian packages are there: installs the missing ones as root, else fails with their names.
pub fn debian_packages(root: &Path, tools: &[DebianTool]) -> anyhow::Result<()> {
    let missing = missing(root, tools);
    if missing.is_empty() {
        return Ok(());
    }
    let is_root = is_root(root);
    let has_apt = succeeds(&mut command(root, "apt-get", &["--version"]));
    if !(is_root && has_apt) {
        bail!(advice(&missing));
    }
    println!("Installing, since this runs as root: {}", missing.join(", "));
    run(&mut command(root, "apt-get", &["update"]))?;
    let install = ["install", "--yes", "--no-install-recommends"];
    let arguments: Vec<_> = install.iter().chain(&missing).collect();
    run(command(root, "apt-get", &arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let missing = self::missing(root, tools);
    if !missing.is_empty() {
        bail!(
            "installed, but still not usable (is another program of that name first in PATH?): {}",
            missing.join(", ")
        );
    }
    Ok(())
}

fn missing(root: &Path, tools: &[DebianTool]) -> Vec<&'static str> {
    let absent = tools.iter().filter(|tool| !succeeds(&mut command(root, tool.probe[0], &tool.probe[1..])));
    absent.map(|tool| tool.package).collect()
}

fn advice(missing: &[&str]) -> String {
    let (list, packages) = (missing.join(", "), missing.join(" "));
    format!("these Debian packages are missing: {list}; install them with: sudo apt-get install {packages}")
}

/// Makes sure that the toolchain has rustfmt and clippy, which its smallest profile leaves out.
pub fn rust_components(root: &Path) -> anyhow::Result<()> {
    let has = |subcommand| succeeds(&mut command(root, "cargo", &[subcommand, "--version"]));
    if has("fmt") && has("clippy") {
        println!("rustfmt and clippy are there.");
        return Ok(());
    }
    if !succeeds(&mut command(root, "rustup", &["--version"])) {
        bail!("the Rust toolchain has no rustfmt or no clippy, and there is no rustup that could add them");
    }
    println!("Adding rustfmt and clippy to the Rust toolchain.");
    run(&mut command(root, "rustup", &["component", "add", "rustfmt", "clippy"]))
}

/// cargo-deny of the pinned version.
pub enum CargoDeny {
    /// Found by cargo: on PATH or where `cargo install` puts programs.
    OfTheMachine,
    /// Installed by us.
    Own(PathBuf),
}

impl CargoDeny {
    /// Finds cargo-deny, or installs it under target/tools, which takes some minutes.
    pub fn find_or_install(root: &Path) -> anyhow::Result<Self> {
        let found = [Self::OfTheMachine, Self::Own(folder(root).join("bin/cargo-deny"))];
        if let Some(found) = found.into_iter().find(|candidate| candidate.has_version(root)) {
            return Ok(found);
        }
        println!("Installing cargo-deny {CARGO_DENY_VERSION} under target/tools; this takes some minutes.");
        let install = ["install", "cargo-deny", "--version", CARGO_DENY_VERSION, "--locked", "--root"];
        run(command(root, "cargo", &install).arg(folder(root)))?;
        Ok(Self::Own(folder(root).join("bin/cargo-deny")))
    }

    /// A call of it with our configuration.
    pub fn command(&self, root: &Path, arguments: &[&str]) -> Command {
        let mut command = self.bare(root);
        command.args(["--locked", "--config", ".deny.toml"]).args(arguments);
        command
    }

    fn has_version(&self, root: &Path) -> bool {
        let wanted = format!("cargo-deny {CARGO_DENY_VERSION}");
        output(self.bare(root).arg("--version")).is_some_and(|version| version == wanted)
    }

    fn bare(&self, root: &Path) -> Command {
        match self {
            Self::OfTheMachine => command(root, "cargo", &["deny"]),
            Self::Own(path) => command::<&str>(root, path, &[]),
        }
    }
}

/// Where tools are put that are not the machine's business.
fn folder(root: &Path) -> PathBuf {
    root.join("target/tools")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_whose_probe_fails_are_missing() {
        let tools = [
            DebianTool { package: "dash", probe: &["sh", "-c", "true"] },
            DebianTool { package: "broken", probe: &["sh", "-c", "false"] },
            DebianTool { package: "absent", probe: &["no-such-program", "--version"] },
        ];
        assert_eq!(missing(Path::new("."), &tools), ["broken", "absent"]);
    }

    #[test]
    fn git_fetches_the_advisories_from_a_copy() {
        let copy = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| command(copy.path(), "git", arguments);
        run(&mut git(&["init", "--quiet"])).unwrap();
        run(&mut git(&["-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "--allow-empty", "-m", "x"]))
            .unwrap();
        let mut fetch = git(&["ls-remote", "--exit-code", ADVISORY_URL]);
        fetch_advisories_from(&mut fetch, copy.path()).unwrap();
        assert!(succeeds(&mut fetch));
        let absent = fetch_advisories_from(&mut fetch, Path::new("/nowhere")).unwrap_err();
        assert!(format!("{absent:#}").contains("LENDPAY_ADVISORY_DB: /nowhere"), "{absent:#}");
    }

    #[test]
    fn the_advice_names_each_missing_package_and_the_command() {
        let advice = advice(&["curl", "strace"]);
        assert!(advice.contains("curl, strace") && advice.ends_with("sudo apt-get install curl strace"), "{advice}");
    }
}
