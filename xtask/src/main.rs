//! The chores of this workspace, as one program: `cargo xtask --help`.

mod alerts;
mod breaking;
mod browser;
mod command;
mod conformance;
mod console;
mod guides;
mod linters;
mod openapi;
mod report;
mod sdk;
mod service;
mod tail;
mod test_run;
mod tools;
mod webhook_guide;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lendpay_api::document::documents;
use xshell::Shell;

use crate::openapi::Mode;

/// The chores of this workspace: its documents, their clients, its checks. What measures the service is `cargo lab`.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Judges the alert rules and the queries of the dashboard with promtool, and tries whether the rules fire
    Alerts,
    /// The documents in openapi/, which are made from the code and committed
    Openapi {
        #[command(subcommand)]
        action: OpenapiAction,
    },
    /// Clients that are generated from openapi/partner.json into target/sdk/
    Sdk {
        /// One of them, or a test of all: compiled at its strictest, with a program that calls the service with it.
        /// `package` makes packages for Python, npm and Java in target/sdk/packages/
        #[arg(value_parser = sdk::names())]
        client: String,
    },
    /// Runs the programs of the guide on webhooks with the official libraries
    WebhookGuide,
    /// Walks through the pages in Chromium, and through pages that are broken on purpose; screenshots are in
    /// target/pages and target/console
    Browser,
    /// Compiles and runs the samples in openapi/guides/ against a sandbox
    Guides,
    /// Attacks the running service with schemathesis, which knows the document
    Conformance {
        /// Another one makes other requests
        #[arg(long, default_value_t = conformance::SEED)]
        seed: u32,
    },
    /// Gives damaged input to everything that reads what others send, for long; the tests do it for a moment
    Fuzz {
        /// How many inputs each parser gets
        #[arg(long, default_value_t = 1_000_000)]
        executions: u32,
    },
    /// Installs what a chore or an experiment needs on the machine, as root; otherwise names it
    Tools { group: tools::Group },
    /// Runs what has to hold: formatting, lints, tests, documents, rustdoc, dependencies
    ///
    /// Ends with a table of all steps, and with exit code 1 if one failed. Tools that are missing are installed: those
    /// of Python, Node.js and Rust under target/tools, Debian packages only when run as root (otherwise their names are
    /// printed). The first run takes some minutes more, since it builds cargo-deny.
    Test {
        /// Everything that CI runs: also the attack by schemathesis, the walks in the browser, the guides and the
        /// generated clients
        #[arg(long)]
        all: bool,
    },
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
    /// openapi/CHANGELOG.md. Judged by Redocly, and by us where Redocly finds a change harmless.
    Breaking {
        /// The commit to compare with; left out: where this branch left main, or on main the last other version
        #[arg(long, value_name = "REV")]
        base: Option<String>,
        /// Instead, makes changes to partner.json that break or do not, and fails when one is judged wrong
        #[arg(long, conflicts_with = "base")]
        self_test: bool,
    },
}

fn main() -> ExitCode {
    match command::workspace().and_then(|shell| run(&shell, Arguments::parse().chore)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(shell: &Shell, chore: Chore) -> anyhow::Result<()> {
    use OpenapiAction::{Breaking, Check, Export, Lint};
    use tools::Group::{ClientsAndBrowser, Everyday};
    let needs = |group| tools::debian_packages(shell, group);
    match chore {
        Chore::Alerts => needs(Everyday).and_then(|()| alerts::check(shell)),
        Chore::Openapi { action: Export } => openapi::bring_in_line(shell, &documents(), Mode::Export),
        Chore::Openapi { action: Check } => openapi::bring_in_line(shell, &documents(), Mode::Check),
        Chore::Openapi { action: Lint } => needs(Everyday).and_then(|()| linters::check(shell)),
        Chore::Openapi { action: Breaking { base, self_test } } => {
            needs(Everyday)?;
            let documents = documents();
            if self_test {
                return breaking::self_test(shell, &documents);
            }
            breaking::check(shell, &documents, base.as_deref())
        }
        Chore::Sdk { client } => {
            needs(Everyday).and_then(|()| needs(ClientsAndBrowser))?;
            sdk::run(shell, &client)
        }
        Chore::WebhookGuide => needs(Everyday).and_then(|()| webhook_guide::test(shell)),
        Chore::Browser => {
            needs(Everyday).and_then(|()| needs(ClientsAndBrowser))?;
            browser::test(shell)
        }
        Chore::Guides => {
            needs(Everyday).and_then(|()| needs(ClientsAndBrowser))?;
            guides::test(shell)
        }
        Chore::Conformance { seed } => needs(Everyday).and_then(|()| conformance::test(shell, seed)),
        Chore::Fuzz { executions } => fuzz(shell, executions),
        Chore::Tools { group } => needs(group),
        Chore::Test { all } => test_run::run(shell, all),
    }
}

/// Runs the parsers' tests with so many inputs, by chance.
fn fuzz(shell: &Shell, executions: u32) -> anyhow::Result<()> {
    let test = ["test", "--release", "--locked", "--lib", "--package", "lendpay-api", "--package", "lendpay-storage"];
    let fuzz = command::cargo(shell).args(test).arg("fuzz");
    Ok(fuzz.env("PROPTEST_CASES", executions.to_string()).run()?)
}
