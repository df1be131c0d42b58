//! The chores of this workspace, as one program: `cargo xtask --help`.

mod bench;
mod command;
mod durability;
mod fill;
mod openapi;
mod report;
mod server;
mod test_run;
mod tools;

use std::path::Path;
use std::process::ExitCode;

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
    /// Measures throughput, latency, CPU and memory beside what this machine can do at most, in one run
    ///
    /// Builds the release binary, fills a fresh store, and drives both operations with wrk at several numbers of
    /// connections, in turn with two yardsticks: a bare hyper server that syncs every request to a file, and a bare poem
    /// handler. The report goes to target/bench: report.md, results.json and plot.svg.
    Bench(bench::Arguments),
    /// Kills the service, and cuts its disk's power, under load, and checks that nothing acknowledged is lost
    ///
    /// A power cut is simulated: ext4 on a loop device that is shut down without its journal being written. That needs root;
    /// without it only the kills are done, and the report says so.
    Durability(durability::Arguments),
    /// A yardstick of the benchmark
    #[command(hide = true)]
    Limit {
        #[command(subcommand)]
        limit: bench::limits::Limit,
    },
    /// Runs everything that CI runs: formatting, lints, tests, documents, rustdoc, dependencies
    ///
    /// Stops at the first step that fails, with exit code 1, and ends with a table of what ran and for how long. Tools
    /// that are missing are installed: Python and Rust ones under target/tools, Debian packages only when run as root
    /// (otherwise their names are printed). The first run takes some minutes more, since it builds cargo-deny.
    Test,
}

#[derive(Subcommand)]
enum OpenapiAction {
    /// Writes each document to openapi/
    Export,
    /// Fails with a diff when a file in openapi/ is not what the code makes
    Check,
}

fn main() -> ExitCode {
    // The parent of this package's directory is the workspace, from wherever the command was called.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let done = match Arguments::parse().chore {
        Chore::Openapi { action } => {
            let mode = match action {
                OpenapiAction::Export => Mode::Export,
                OpenapiAction::Check => Mode::Check,
            };
            openapi::bring_in_line(root, &documents(), mode)
        }
        Chore::Bench(arguments) => bench::run(root, &arguments),
        Chore::Durability(arguments) => durability::run(root, &arguments),
        Chore::Limit { limit } => bench::limits::run(limit),
        Chore::Test => test_run::run(root),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
