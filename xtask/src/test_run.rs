//! Everything that has to hold, step by step: what CI runs and what a developer runs before pushing.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::bail;
use lendpay_api::document::documents;
use xshell::{Shell, cmd};

use crate::alerts;
use crate::breaking;
use crate::browser;
use crate::command;
use crate::conformance;
use crate::guides;
use crate::linters;
use crate::openapi::{self, Mode};
use crate::report::{Entry, Outcome, summary};
use crate::sdk;
use crate::tail::Tail;
use crate::tools;
use crate::webhook_guide;

type Run = fn(&Shell) -> anyhow::Result<Outcome>;

struct Step {
    name: &'static str,
    /// Whether only `cargo xtask test --all` takes it.
    slow: bool,
    run: Run,
}

const fn step(name: &'static str, run: Run) -> Step {
    Step { name, slow: false, run }
}

const fn slow(name: &'static str, run: Run) -> Step {
    Step { name, slow: true, run }
}

/// In this order: what the others need, then the quick ones, then the rest. The README says which are slow.
const STEPS: &[Step] = &[
    step("tools", everyday_tools),
    slow("more tools", |shell| passed(tools::debian_packages(shell, tools::Group::ClientsAndBrowser))),
    step("formatting", formatting),
    step("lints", |shell| {
        cargo(shell, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    }),
    step("tests", |shell| cargo(shell, &["test", "--workspace", "--locked", "--no-fail-fast"])),
    step("soak", |shell| cargo(shell, &["lab", "soak", "--seconds", "30", "--unoptimized"])),
    step("documents", |shell| passed(openapi::bring_in_line(shell, &documents(), Mode::Check))),
    step("linters", |shell| passed(linters::check(shell))),
    step("alerts", |shell| passed(alerts::check(shell))),
    step("breaking", breaking_changes),
    slow("webhook guide", |shell| passed(webhook_guide::test(shell))),
    step("rustdoc", rustdoc),
    step("dependencies", dependencies),
    step("advisories", advisories),
    slow("conformance", |shell| passed(conformance::test(shell, conformance::SEED))),
    slow("browser", |shell| passed(browser::test(shell))),
    slow("guides", |shell| passed(guides::test(shell))),
    slow("clients", |shell| passed(sdk::test(shell, Mode::Check))),
];

/// For how many seconds the advisory database may take to come.
const DATABASE_LIMIT: &str = "60";

/// Runs the steps, the slow ones only with `all`, and ends with a summary. A failure hides none that come after it.
pub fn run(shell: &Shell, all: bool) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        // What cargo prints goes through a pipe.
        shell.set_var("CARGO_TERM_COLOR", "always");
    }
    run_steps(shell, &STEPS.iter().filter(|step| all || !step.slow).collect::<Vec<_>>())
}

fn run_steps(shell: &Shell, steps: &[&Step]) -> anyhow::Result<()> {
    let run_one = |step: &&Step| {
        println!("\n=== {} ===", step.name);
        let (begin, tail) = (Instant::now(), Tail::start()?);
        let result = (step.run)(shell);
        if let Err(error) = &result {
            println!("error: {error:#}");
        }
        let (took, tail) = (begin.elapsed(), tail.end()?);
        println!("{} took {} s", step.name, took.as_secs());
        Ok(Entry { name: step.name, result, took, tail })
    };
    let ran = steps.iter().map(run_one).collect::<anyhow::Result<Vec<_>>>()?;
    for Entry { name, tail, .. } in ran.iter().filter(|entry| entry.result.is_err()) {
        println!(
            "\n=== {name} failed; the last lines of what it printed ===\n{}",
            String::from_utf8_lossy(tail).trim_end()
        );
    }
    println!("\n{}", summary(&ran));
    let failed: Vec<_> = ran.iter().filter(|entry| entry.result.is_err()).map(|entry| entry.name).collect();
    if !failed.is_empty() {
        bail!("these steps failed: {}", failed.join(", "));
    }
    Ok(())
}

fn passed(done: anyhow::Result<()>) -> anyhow::Result<Outcome> {
    done.map(|()| Outcome::Passed)
}

fn cargo(shell: &Shell, arguments: &[&str]) -> anyhow::Result<Outcome> {
    command::cargo(shell).args(arguments).run()?;
    Ok(Outcome::Passed)
}

fn everyday_tools(shell: &Shell) -> anyhow::Result<Outcome> {
    tools::debian_packages(shell, tools::Group::Everyday)?;
    passed(tools::rust_components(shell))
}

/// The client for Rust is no member of the workspace.
fn formatting(shell: &Shell) -> anyhow::Result<Outcome> {
    cargo(shell, &["fmt", "--all", "--check"])?;
    cargo(shell, &["fmt", "--check", "--manifest-path", "xtask/sdk/rust/Cargo.toml"])
}

/// First that the judge can be trusted, then its judgement.
fn breaking_changes(shell: &Shell) -> anyhow::Result<Outcome> {
    breaking::self_test(shell, &documents())?;
    passed(breaking::check(shell, &documents(), None))
}

fn rustdoc(shell: &Shell) -> anyhow::Result<Outcome> {
    let _strict = shell.push_env("RUSTDOCFLAGS", "-D warnings");
    cargo(shell, &["doc", "--workspace", "--no-deps", "--locked"])
}

fn dependencies(shell: &Shell) -> anyhow::Result<Outcome> {
    let check = ["check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
    tools::cargo_deny(shell)?.args(check).run()?;
    Ok(Outcome::Passed)
}

/// The database is a git repository elsewhere, so that its absence must not fail the run, nor pass for a clean bill. A
/// copy that `LENDPAY_ADVISORY_DB` names must be there.
#[expect(clippy::disallowed_methods, reason = "of this program, not of the service")]
fn advisories(shell: &Shell) -> anyhow::Result<Outcome> {
    let copy = std::env::var_os(tools::ADVISORY_DB);
    let fetch = Command::from(tools::cargo_deny(shell)?.args(["fetch", "db"]));
    let fetch = cmd!(shell, "timeout {DATABASE_LIMIT}").arg(fetch.get_program()).args(fetch.get_args());
    let fetched = match &copy {
        Some(copy) => tools::fetch_advisories_from(fetch, Path::new(copy))?.run(),
        None => fetch.run(),
    };
    if let Err(error) = fetched {
        if copy.is_some() {
            return Err(error.into());
        }
        println!("The advisories are NOT CHECKED, since their database could not be fetched: {error}");
        println!("{} may name a copy of it.", tools::ADVISORY_DB);
        return Ok(Outcome::NotChecked("the advisory database could not be fetched".to_owned()));
    }
    tools::cargo_deny(shell)?.args(["--offline", "check", "advisories"]).run()?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_readme_says_of_each_step_where_it_runs() {
        let readme = include_str!("../../README.md");
        let row = |step: &Step| {
            let mark = if step.slow { "only with `--all`" } else { "always" };
            readme.lines().any(|line| line.starts_with(&format!("| {} |", step.name)) && line.contains(mark))
        };
        let missing: Vec<_> = STEPS.iter().filter(|step| !row(step)).map(|step| step.name).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn a_failure_hides_no_later_step_and_all_are_named() {
        static RAN: AtomicUsize = AtomicUsize::new(0);
        let good = step("good", |_| {
            RAN.fetch_add(1, Ordering::Relaxed);
            Ok(Outcome::Passed)
        });
        let (bad, worse) = (step("bad", |_| bail!("out of luck")), step("worse", |_| bail!("no luck at all")));
        let error = run_steps(&Shell::new().unwrap(), &[&good, &bad, &good, &worse, &good]).unwrap_err();
        assert_eq!((error.to_string().as_str(), RAN.load(Ordering::Relaxed)), ("these steps failed: bad, worse", 3));
        run_steps(&Shell::new().unwrap(), &[&good]).unwrap();
    }
}
