//! Everything that has to hold, step by step: what CI runs and what a developer runs before pushing.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use lendpay_api::document::documents;

use crate::breaking;
use crate::browser;
use crate::command::{command, run as run_command, run_within};
use crate::conformance;
use crate::linters;
use crate::openapi::{self, Mode};
use crate::report::{Entry, Outcome, summary};
use crate::sdk;
use crate::soak;
use crate::tools::{self, CargoDeny};

struct Step {
    name: &'static str,
    /// Whether only `cargo xtask test --all` takes it.
    slow: bool,
    run: fn(&Path) -> anyhow::Result<Outcome>,
}

const fn step(name: &'static str, run: fn(&Path) -> anyhow::Result<Outcome>) -> Step {
    Step { name, slow: false, run }
}

const fn slow(name: &'static str, run: fn(&Path) -> anyhow::Result<Outcome>) -> Step {
    Step { name, slow: true, run }
}

/// In this order: what the others need, then the quick ones, then the rest. The README says which are slow.
const STEPS: &[Step] = &[
    step("tools", everyday_tools),
    slow("more tools", more_tools),
    step("formatting", formatting),
    step("lints", lints),
    step("tests", |root| cargo(root, &["test", "--workspace", "--locked"])),
    step("soak", |root| passed(soak::run_short(root))),
    step("documents", current_documents),
    step("linters", linted_documents),
    step("breaking", breaking_changes),
    step("rustdoc", rustdoc),
    step("dependencies", dependencies),
    step("advisories", advisories),
    slow("conformance", |root| passed(conformance::test(root, conformance::SEED))),
    slow("browser", |root| passed(browser::test(root))),
    slow("clients", |root| passed(sdk::test(root))),
];

/// How long the advisory database may take to come.
const DATABASE_LIMIT: Duration = Duration::from_secs(60);

/// Runs the steps, the slow ones only with `all`, and ends with a summary. A failure hides none that come after it.
pub fn run(root: &Path, all: bool) -> anyhow::Result<()> {
    run_steps(root, &STEPS.iter().filter(|step| all || !step.slow).collect::<Vec<_>>())
}

fn run_steps(root: &Path, steps: &[&Step]) -> anyhow::Result<()> {
    let run_one = |step: &&Step| {
        println!("\n=== {} ===", step.name);
        let begin = Instant::now();
        let result = (step.run)(root);
        if let Err(error) = &result {
            // Here and not at the very end: a long diff would push the table out of sight.
            println!("error: {error:#}");
        }
        Entry { name: step.name, result, took: begin.elapsed() }
    };
    let ran: Vec<_> = steps.iter().map(run_one).collect();
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

fn cargo(root: &Path, arguments: &[&str]) -> anyhow::Result<Outcome> {
    passed(run_command(&mut command(root, "cargo", arguments)))
}

fn everyday_tools(root: &Path) -> anyhow::Result<Outcome> {
    tools::debian_packages(root, tools::EVERYDAY)?;
    passed(tools::rust_components(root))
}

fn more_tools(root: &Path) -> anyhow::Result<Outcome> {
    passed(tools::debian_packages(root, tools::CLIENTS_AND_BROWSER))
}

/// The client for Rust is no member of the workspace.
fn formatting(root: &Path) -> anyhow::Result<Outcome> {
    cargo(root, &["fmt", "--all", "--check"])?;
    cargo(root, &["fmt", "--check", "--manifest-path", "xtask/sdk/rust/Cargo.toml"])
}

fn lints(root: &Path) -> anyhow::Result<Outcome> {
    cargo(root, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

fn current_documents(root: &Path) -> anyhow::Result<Outcome> {
    println!("$ cargo xtask openapi check");
    passed(openapi::bring_in_line(root, &documents(), Mode::Check))
}

fn linted_documents(root: &Path) -> anyhow::Result<Outcome> {
    println!("$ cargo xtask openapi lint");
    passed(linters::check(root))
}

/// First that the judge can be trusted, then its judgement.
fn breaking_changes(root: &Path) -> anyhow::Result<Outcome> {
    println!("$ cargo xtask openapi breaking --self-test");
    breaking::self_test(root, &documents())?;
    let Some(base) = breaking::usual_base(root) else {
        return Ok(Outcome::NotChecked("no earlier commit has a document".to_owned()));
    };
    println!("$ cargo xtask openapi breaking --base {base}");
    passed(breaking::check(root, &documents(), &base))
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

/// The database is a git repository elsewhere, so that its absence must not fail the run, nor pass for a clean bill. A
/// copy that `LENDPAY_ADVISORY_DB` names must be there.
#[expect(clippy::disallowed_methods, reason = "of this program, not of the service")]
fn advisories(root: &Path) -> anyhow::Result<Outcome> {
    let deny = CargoDeny::find_or_install(root)?;
    let mut fetch = deny.command(root, &["fetch", "db"]);
    let copy = std::env::var_os(tools::ADVISORY_DB);
    if let Some(copy) = &copy {
        tools::fetch_advisories_from(&mut fetch, Path::new(copy))?;
    }
    if let Err(error) = run_within(&mut fetch, DATABASE_LIMIT) {
        if copy.is_some() {
            return Err(error);
        }
        println!("The advisories are NOT CHECKED, since their database could not be fetched: {error:#}");
        println!("{} may name a copy of it.", tools::ADVISORY_DB);
        return Ok(Outcome::NotChecked("the advisory database could not be fetched".to_owned()));
    }
    run_command(&mut deny.command(root, &["--offline", "check", "advisories"]))?;
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
        let error = run_steps(Path::new("."), &[&good, &bad, &good, &worse, &good]).unwrap_err();
        assert_eq!((error.to_string().as_str(), RAN.load(Ordering::Relaxed)), ("these steps failed: bad, worse", 3));
        run_steps(Path::new("."), &[&good]).unwrap();
    }
}
