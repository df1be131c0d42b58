//! Everything that has to hold, step by step: what CI runs and what a developer runs before pushing.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use lendpay_api::document::documents;

use crate::breaking;
use crate::command::{command, run as run_command, run_within};
use crate::linters;
use crate::openapi::{self, Mode};
use crate::report::{Entry, Outcome, summary};
use crate::tools::{self, CargoDeny};

struct Step {
    name: &'static str,
    run: fn(&Path) -> anyhow::Result<Outcome>,
}

/// In this order: what the others need, then the quick ones, then the rest.
const STEPS: &[Step] = &[
    Step { name: "tools", run: needed_tools },
    Step { name: "formatting", run: |root| cargo(root, &["fmt", "--all", "--check"]) },
    Step { name: "lints", run: lints },
    Step { name: "tests", run: |root| cargo(root, &["test", "--workspace", "--locked"]) },
    Step { name: "documents", run: current_documents },
    Step { name: "linters", run: linted_documents },
    Step { name: "breaking", run: breaking_changes },
    Step { name: "rustdoc", run: rustdoc },
    Step { name: "dependencies", run: dependencies },
    Step { name: "advisories", run: advisories },
];

/// How long the advisory database may take to come.
const DATABASE_LIMIT: Duration = Duration::from_secs(60);

/// Runs all steps up to the first that fails, and ends with a summary.
pub fn run(root: &Path) -> anyhow::Result<()> {
    run_steps(root, STEPS)
}

fn run_steps(root: &Path, steps: &[Step]) -> anyhow::Result<()> {
    let mut ran = Vec::new();
    let mut failed = None;
    for step in steps {
        println!("\n=== {} ===", step.name);
        let begin = Instant::now();
        let result = (step.run)(root);
        if let Err(error) = &result {
            // Here and not at the very end: a long diff would push the table out of sight.
            println!("error: {error:#}");
            failed = Some(step.name);
        }
        ran.push(Entry { name: step.name, result, took: begin.elapsed() });
        if failed.is_some() {
            break;
        }
    }
    let not_run: Vec<_> = steps[ran.len()..].iter().map(|step| step.name).collect();
    println!("\n{}", summary(&ran, &not_run));
    if let Some(name) = failed {
        bail!("the step \"{name}\" failed");
    }
    Ok(())
}

fn cargo(root: &Path, arguments: &[&str]) -> anyhow::Result<Outcome> {
    run_command(&mut command(root, "cargo", arguments))?;
    Ok(Outcome::Passed)
}

fn needed_tools(root: &Path) -> anyhow::Result<Outcome> {
    tools::debian_packages(root)?;
    tools::rust_components(root)?;
    Ok(Outcome::Passed)
}

fn lints(root: &Path) -> anyhow::Result<Outcome> {
    cargo(root, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

fn current_documents(root: &Path) -> anyhow::Result<Outcome> {
    println!("$ cargo xtask openapi check");
    openapi::bring_in_line(root, &documents(), Mode::Check)?;
    Ok(Outcome::Passed)
}

fn linted_documents(root: &Path) -> anyhow::Result<Outcome> {
    linters::check(root)?;
    Ok(Outcome::Passed)
}

/// First that the judge can be trusted, then its judgement.
fn breaking_changes(root: &Path) -> anyhow::Result<Outcome> {
    println!("$ cargo xtask openapi breaking --self-test");
    breaking::self_test(root, &documents())?;
    let Some(base) = breaking::usual_base(root) else {
        return Ok(Outcome::NotChecked("no earlier commit has a document".to_owned()));
    };
    println!("$ cargo xtask openapi breaking --base {base}");
    breaking::check(root, &documents(), &base)?;
    Ok(Outcome::Passed)
}

fn rustdoc(root: &Path) -> anyhow::Result<Outcome> {
    let arguments = ["doc", "--workspace", "--no-deps", "--locked"];
    run_command(command(root, "cargo", &arguments).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

fn dependencies(root: &Path) -> anyhow::Result<Outcome> {
    let check = ["check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
    run_command(&mut CargoDeny::find_or_install(root)?.command(root, &check))?;
    Ok(Outcome::Passed)
}

/// The database is a git repository elsewhere, so that its absence must not fail the run, nor pass for a clean bill.
fn advisories(root: &Path) -> anyhow::Result<Outcome> {
    let deny = CargoDeny::find_or_install(root)?;
    if let Err(error) = run_within(&mut deny.command(root, &["fetch", "db"]), DATABASE_LIMIT) {
        println!("The advisories are NOT CHECKED, since their database could not be fetched: {error:#}");
        return Ok(Outcome::NotChecked("the advisory database could not be fetched".to_owned()));
    }
    run_command(&mut deny.command(root, &["--offline", "check", "advisories"]))?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stops_the_run_and_is_named() {
        const STEPS: &[Step] = &[
            Step { name: "first", run: |_| Ok(Outcome::Passed) },
            Step { name: "second", run: |_| bail!("out of luck") },
            Step { name: "third", run: |_| panic!("must not run") },
        ];
        let error = run_steps(Path::new("."), STEPS).unwrap_err();
        assert_eq!(error.to_string(), "the step \"second\" failed");
        run_steps(Path::new("."), &STEPS[..1]).unwrap();
    }
}
