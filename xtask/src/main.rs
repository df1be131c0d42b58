//! The chores of this workspace, as one program: `cargo xtask --help`.

mod bench;
mod breaking;
mod browser;
mod command;
mod conformance;
mod demo;
mod durability;
mod fill;
mod linters;
mod openapi;
mod report;
mod scale;
mod sdk;
mod server;
mod soak;
mod test_run;
mod tools;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use lendpay_api::document::documents;

use crate::openapi::Mode;

/// The chores of this workspace: its OpenAPI documents and its test run.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// The documents in openapi/, which are made from the code and committed
    Openapi {
        #[command(subcommand)]
        action: OpenapiAction,
    },
    /// Clients that are generated from openapi/partner.json into target/sdk/
    Sdk {
        #[command(subcommand)]
        client: SdkAction,
    },
    /// Walks through the documentation's page in Chromium, and through pages that are broken on purpose
    Browser,
    /// Attacks the running service with schemathesis, which knows the document
    Conformance {
        /// Another one makes other requests
        #[arg(long, default_value_t = conformance::SEED)]
        seed: u32,
    },
    /// Measures throughput, latency, CPU and memory beside what this machine can do at most, in one run
    ///
    /// Builds the binary as it is shipped, fills a fresh store, and drives both operations with wrk at several numbers of
    /// connections, in turn with two yardsticks: a bare hyper server that syncs every request to a file, and a bare poem
    /// handler. The report goes to target/bench: report.md, results.json and plot.svg.
    Bench(bench::Arguments),
    /// Kills the service, and cuts its disk's power, under load, and checks that nothing acknowledged is lost
    ///
    /// A power cut is simulated: ext4 on a loop device that is shut down without its journal being written. That needs root;
    /// without it only the kills are done, and the report says so.
    Durability(durability::Arguments),
    /// Measures what a large store costs: export, import, speed, memory, disk, reopening
    ///
    /// Takes some minutes, and 10 GB below target/scale.
    Scale(scale::Arguments),
    /// A yardstick of the benchmark
    #[command(hide = true)]
    Limit {
        #[command(subcommand)]
        limit: bench::limits::Limit,
    },
    /// Keeps the service under mixed load, with bad requests, clients that break off or are killed and keys that are revoked
    ///
    /// Every answer is looked at while it goes on, and in the end that there was no panic and no failure, that memory did not
    /// grow after the warm-up, and that everything that was acknowledged is there. The test run does it for a moment.
    Soak(soak::Arguments),
    /// A client that is there to be killed
    #[command(hide = true)]
    SoakClient { address: std::net::SocketAddr, connections: usize, key: String },
    /// Gives damaged input to everything that reads what others send, for long; the tests do it for a moment
    Fuzz {
        /// How many inputs each parser gets
        #[arg(long, default_value_t = 1_000_000)]
        executions: u32,
    },
    /// Runs what has to hold: formatting, lints, tests, documents, rustdoc, dependencies
    ///
    /// Ends with a table of all steps, and with exit code 1 if one failed. Tools
    /// that are missing are installed: those of Python, Node.js and Rust under target/tools, Debian packages only when run
    /// as root (otherwise their names are printed). The first run takes some minutes more, since it builds cargo-deny.
    Test {
        /// Everything that CI runs: also the attack by schemathesis, the walk in the browser and the generated clients
        #[arg(long)]
        all: bool,
    },
}

#[derive(Subcommand)]
enum SdkAction {
    /// Generates each client, compiles it at its strictest and runs a program with it against the service
    Test,
    #[command(flatten)]
    Generate(sdk::Language),
}

#[derive(Subcommand)]
enum OpenapiAction {
    /// Writes each document to openapi/
    Export,
    /// Fails with a diff when a file in openapi/ is not what the code makes
    Check,
    /// Judges the files in openapi/ with openapi-spec-validator, Redocly and Spectral; a warning fails too
    Lint,
    /// Fails when a document has changed since a commit in a way that breaks clients, or without saying so
    ///
    /// A change that breaks needs a major step of info.version; any change needs a step and an entry in
    /// openapi/CHANGELOG.md. Judged by oasdiff, and by us where oasdiff only informs.
    Breaking {
        /// The commit to compare with; left out: where this branch left main, or on main the last change of a document
        #[arg(long, value_name = "REV")]
        base: Option<String>,
        /// Instead, makes changes to partner.json that break or do not, and fails when one is judged wrong
        #[arg(long, conflicts_with = "base")]
        self_test: bool,
    },
}

fn main() -> ExitCode {
    // The parent of this package's directory is the workspace, from wherever the command was called.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace");
    let done = run(root, Arguments::parse().chore);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, chore: Chore) -> anyhow::Result<()> {
    let needs = |lists: &[&[tools::DebianTool]]| lists.iter().try_for_each(|list| tools::debian_packages(root, list));
    match chore {
        Chore::Openapi { action: OpenapiAction::Export } => openapi::bring_in_line(root, &documents(), Mode::Export),
        Chore::Openapi { action: OpenapiAction::Check } => openapi::bring_in_line(root, &documents(), Mode::Check),
        Chore::Openapi { action: OpenapiAction::Lint } => {
            needs(&[tools::EVERYDAY])?;
            linters::check(root)
        }
        Chore::Openapi { action: OpenapiAction::Breaking { self_test: true, .. } } => {
            needs(&[tools::EVERYDAY])?;
            breaking::self_test(root, &documents())
        }
        Chore::Openapi { action: OpenapiAction::Breaking { base, .. } } => {
            needs(&[tools::EVERYDAY])?;
            let base = base.or_else(|| breaking::usual_base(root));
            let base = base.context("there is no earlier commit with a document; name one with --base")?;
            breaking::check(root, &documents(), &base)
        }
        Chore::Sdk { client } => {
            needs(&[tools::EVERYDAY, tools::CLIENTS_AND_BROWSER])?;
            match client {
                SdkAction::Test => sdk::test(root),
                SdkAction::Generate(language) => sdk::generate(root, language).map(drop),
            }
        }
        Chore::Browser => {
            needs(&[tools::EVERYDAY, tools::CLIENTS_AND_BROWSER])?;
            browser::test(root)
        }
        Chore::Conformance { seed } => {
            needs(&[tools::EVERYDAY])?;
            conformance::test(root, seed)
        }
        Chore::Bench(arguments) => {
            needs(&[tools::LOAD])?;
            bench::run(root, &arguments)
        }
        Chore::Durability(arguments) => {
            needs(&[tools::LOAD])?;
            durability::run(root, &arguments)
        }
        Chore::Scale(arguments) => {
            needs(&[tools::LOAD])?;
            scale::run(root, &arguments)
        }
        Chore::Soak(arguments) => soak::run(root, &arguments),
        Chore::SoakClient { address, connections, key } => {
            soak::client(address, connections, &key);
            Ok(())
        }
        Chore::Limit { limit } => bench::limits::run(limit),
        Chore::Fuzz { executions } => fuzz(root, executions),
        Chore::Test { all } => test_run::run(root, all),
    }
}

/// Runs the parsers' tests with so many inputs, by chance.
fn fuzz(root: &Path, executions: u32) -> anyhow::Result<()> {
    let packages = ["lendpay-api", "lendpay-storage"].map(|package| ["--package", package]).concat();
    let arguments = [&["test", "--release", "--locked", "--lib"][..], &packages, &["fuzz"]].concat();
    command::run(command::command(root, "cargo", &arguments).env("PROPTEST_CASES", executions.to_string()))
}
