//! The tools that the test run needs: where they are, and how they get there.

pub mod npm;
pub mod python;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use xshell::{Cmd, Shell, cmd};

use crate::command::{cargo, output, succeeds};

/// A program from a Debian package.
struct DebianTool {
    package: &'static str,
    /// A command that succeeds when the tool is there.
    probe: &'static [&'static str],
}

/// What has to be on the machine for everyday work, besides the Rust toolchain.
const EVERYDAY: &[DebianTool] = &[
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
    // The tests start it in front of PostgreSQL.
    DebianTool { package: "pgbouncer", probe: &["test", "-x", "/usr/sbin/pgbouncer"] },
    // Its promtool judges the alert rules.
    DebianTool { package: "prometheus", probe: &["promtool", "--version"] },
    // For the OpenAPI validator and others; Debian keeps `ensurepip` apart from Python itself.
    DebianTool { package: "python3-venv", probe: &["python3", "-c", "import ensurepip, venv"] },
    // Shows that the store syncs before it replies.
    DebianTool { package: "strace", probe: &["strace", "-V"] },
];

/// What has to be there too for the clients and the browser.
const CLIENTS_AND_BROWSER: &[DebianTool] = &[
    // For the walk through the documentation's page.
    DebianTool { package: "chromium", probe: &["/usr/bin/chromium", "--version"] },
    // For the generator of clients, and the Java client.
    DebianTool { package: "default-jdk-headless", probe: &["javac", "-version"] },
    // For the samples in Go; the Go client, and what it needs for access tokens.
    DebianTool { package: "golang-go", probe: &["go", "version"] },
    DebianTool {
        package: "golang-golang-x-oauth2-dev",
        probe: &["test", "-d", "/usr/share/gocode/src/golang.org/x/oauth2"],
    },
];

/// What the measurements need too.
const LOAD: &[DebianTool] = &[
    // The load generator. It prints its version and ends with 1: `command -v` asks nothing of it.
    DebianTool { package: "wrk", probe: &["sh", "-c", "command -v wrk"] },
];

/// What makes a disk and cuts its power, as root.
const POWER_SWITCH: &[DebianTool] = &[
    DebianTool { package: "e2fsprogs", probe: &["mkfs.ext4", "-V"] },
    DebianTool { package: "xfsprogs", probe: &["xfs_io", "-V"] },
];

/// What keeps several servers of PostgreSQL, each in a network of its own, as root.
const FAILOVER: &[DebianTool] = &[
    // Holds who leads.
    DebianTool { package: "etcd-server", probe: &["etcd", "--version"] },
    // Leads to whoever leads.
    DebianTool { package: "haproxy", probe: &["/usr/sbin/haproxy", "-v"] },
    DebianTool { package: "iproute2", probe: &["ip", "-V"] },
    DebianTool { package: "patroni", probe: &["patroni", "--version"] },
];

/// What is needed together.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Group {
    /// For everyday work
    Everyday,
    /// For the clients and the browser
    ClientsAndBrowser,
    /// For the experiments of `cargo lab`
    Load,
    /// For power cuts
    PowerSwitch,
    /// For leaders that are lost
    Failover,
}

impl Group {
    const fn tools(self) -> &'static [DebianTool] {
        match self {
            Self::Everyday => EVERYDAY,
            Self::ClientsAndBrowser => CLIENTS_AND_BROWSER,
            Self::Load => LOAD,
            Self::PowerSwitch => POWER_SWITCH,
            Self::Failover => FAILOVER,
        }
    }
}

/// The variable that names a copy of the advisory database: a git repository.
pub const ADVISORY_DB: &str = "LENDPAY_ADVISORY_DB";

/// Where cargo-deny fetches the database from.
const ADVISORY_URL: &str = "https://github.com/RustSec/advisory-db";

/// Makes a command that fetches the advisory database take it from a copy. cargo-deny takes no path, but has git fetch.
pub fn fetch_advisories_from<'a>(fetch: Cmd<'a>, copy: &Path) -> anyhow::Result<Cmd<'a>> {
    let copy = copy.canonicalize().with_context(|| format!("{ADVISORY_DB}: {} cannot be read", copy.display()))?;
    let key = format!("url.{}.insteadOf", copy.display());
    Ok(fetch.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", key).env("GIT_CONFIG_VALUE_0", ADVISORY_URL))
}

const CARGO_DENY_VERSION: &str = "0.20.2";

/// Makes sure that the Debian packages are there: installs the missing ones as root, else fails with their names.
pub fn debian_packages(shell: &Shell, group: Group) -> anyhow::Result<()> {
    let absent = &missing(shell, group.tools());
    if absent.is_empty() {
        return Ok(());
    }
    let is_root = output(cmd!(shell, "id -u")).as_deref() == Some("0");
    if !(is_root && succeeds(cmd!(shell, "apt-get --version"))) {
        bail!(advice(absent));
    }
    println!("Installing, since this runs as root: {}", absent.join(", "));
    cmd!(shell, "apt-get update").run()?;
    let install = cmd!(shell, "apt-get install --yes --no-install-recommends {absent...}");
    install.env("DEBIAN_FRONTEND", "noninteractive").run()?;
    let absent = missing(shell, group.tools());
    if !absent.is_empty() {
        bail!(
            "installed, but still not usable (is another program of that name first in PATH?): {}",
            absent.join(", ")
        );
    }
    Ok(())
}

fn missing(shell: &Shell, tools: &[DebianTool]) -> Vec<&'static str> {
    let absent = tools.iter().filter(|tool| !succeeds(shell.cmd(tool.probe[0]).args(&tool.probe[1..])));
    absent.map(|tool| tool.package).collect()
}

fn advice(missing: &[&str]) -> String {
    let (list, packages) = (missing.join(", "), missing.join(" "));
    format!("these Debian packages are missing: {list}; install them with: sudo apt-get install {packages}")
}

/// Makes sure that the toolchain has rustfmt and clippy, which its smallest profile leaves out.
pub fn rust_components(shell: &Shell) -> anyhow::Result<()> {
    let has = |subcommand| succeeds(cargo(shell).args([subcommand, "--version"]));
    if has("fmt") && has("clippy") {
        return Ok(());
    }
    if !succeeds(cmd!(shell, "rustup --version")) {
        bail!("the Rust toolchain has no rustfmt or no clippy, and there is no rustup that could add them");
    }
    Ok(cmd!(shell, "rustup component add rustfmt clippy").run()?)
}

/// cargo-deny of the pinned version with our configuration: the machine's, or one under target/tools, which is
/// installed there in some minutes.
pub fn cargo_deny(shell: &Shell) -> anyhow::Result<Cmd<'_>> {
    let folder = &folder(shell);
    let own = folder.join("bin/cargo-deny");
    let wanted = format!("cargo-deny {CARGO_DENY_VERSION}");
    let has_version = |deny: Cmd<'_>| output(deny.arg("--version")).is_some_and(|version| version == wanted);
    let deny = if has_version(cargo(shell).arg("deny")) {
        cargo(shell).arg("deny")
    } else {
        if !has_version(shell.cmd(&own)) {
            println!("Installing cargo-deny {CARGO_DENY_VERSION} under target/tools; this takes some minutes.");
            // Not optimized: that takes half the time to compile, and a check takes seconds.
            let install = ["install", "cargo-deny", "--version", CARGO_DENY_VERSION, "--locked", "--debug", "--root"];
            cargo(shell).args(install).arg(folder).run()?;
        }
        shell.cmd(own)
    };
    Ok(deny.args(["--locked", "--config", ".deny.toml"]))
}

/// Where tools are put that are not the machine's business.
fn folder(shell: &Shell) -> PathBuf {
    shell.current_dir().join("target/tools")
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
        assert_eq!(missing(&Shell::new().unwrap(), &tools), ["broken", "absent"]);
    }

    #[test]
    fn git_fetches_the_advisories_from_a_copy() {
        let shell = Shell::new().unwrap();
        let copy = shell.create_temp_dir().unwrap();
        let _there = shell.push_dir(copy.path());
        cmd!(shell, "git init --quiet").run().unwrap();
        cmd!(shell, "git -c user.name=x -c user.email=x commit --quiet --allow-empty -m x").run().unwrap();
        let fetch = || cmd!(shell, "git ls-remote --exit-code {ADVISORY_URL}");
        assert!(succeeds(fetch_advisories_from(fetch(), copy.path()).unwrap()));
        let absent = fetch_advisories_from(fetch(), Path::new("/nowhere")).unwrap_err();
        assert!(format!("{absent:#}").contains("LENDPAY_ADVISORY_DB: /nowhere"), "{absent:#}");
    }

    #[test]
    fn the_advice_names_each_missing_package_and_the_command() {
        let advice = advice(&["curl", "strace"]);
        assert!(advice.contains("curl, strace") && advice.ends_with("sudo apt-get install curl strace"), "{advice}");
    }
}
