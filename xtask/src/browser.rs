//! The pages in a real browser.

use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context as _, ensure};
use xshell::{Cmd, Shell, cmd};

use crate::console;
use crate::service::{Demo, Service};
use crate::tools::npm::NodeModules;

/// The ways in which xtask/browser/docs.cjs can break the page, each with words that its failure must have.
const BREAKAGES: [(&str, &str); 8] = [
    ("bundle", "an error in the page: cut"),
    ("options", "Request duration"),
    ("persistence", "keeps something"),
    ("links", "Try it out"),
    ("outside", "a request to another host: http://other.example/"),
    ("console", "an error in the console: broken on purpose"),
    ("policy", "Content Security Policy"),
    ("body", "string"),
];

/// The same of the start page and xtask/browser/pages.cjs.
const BREAKAGES_OF_PAGES: [(&str, &str); 4] = [
    ("contrast", "axe-core color-contrast"),
    ("language", "axe-core html-has-lang"),
    ("outside", "a request to another host: http://other.example/"),
    ("width", "wider than the screen"),
];

/// Walks through the pages, then through pages that are broken on purpose: there the walk must fail.
pub fn test(shell: &Shell) -> anyhow::Result<()> {
    let tools = NodeModules::find_or_install(shell)?;
    let judges = NodeModules::for_pages(shell)?;
    // Each walk has a service of its own, so that none finds what another has left.
    walk(shell, &tools, &Demo::start(shell)?)?.run()?;
    let demo = Demo::start(shell)?;
    broken(&BREAKAGES, || walk(shell, &tools, &demo))?;
    let look = |base: &str, start: &str| {
        let modules = std::env::join_paths([judges.folder(), tools.folder()])?;
        let shots = shell.current_dir().join("target/pages");
        let look = cmd!(shell, "node xtask/browser/pages.cjs").env("NODE_PATH", modules).env("LENDPAY_SHOTS", shots);
        anyhow::Ok(look.env("LENDPAY_BASE", base).env("LENDPAY_START", start))
    };
    demo.reset(shell)?;
    let service = Service::start(shell, &shell.current_dir().join("target/pages/data"))?;
    let console = Service::start(shell, &shell.current_dir().join("target/console/data"))?;
    let pages = [look(&demo.base, "/")?, look(&service.operator, "/operator/")?];
    let walks = pages.into_iter().chain([console::walk(shell, &console, &tools, &judges)?]);
    for output in together(walks.collect())? {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    broken(&BREAKAGES_OF_PAGES, || look(&demo.base, "/"))
}

/// Runs all at the same time. A walk waits for the browser more than it computes.
fn together(walks: Vec<Cmd<'_>>) -> anyhow::Result<Vec<Output>> {
    let start = |walk: Cmd| {
        println!("$ {walk}");
        Command::from(walk).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    let children = walks.into_iter().map(start).collect::<Result<Vec<_>, _>>().context("cannot start node")?;
    Ok(children.into_iter().map(Child::wait_with_output).collect::<Result<_, _>>()?)
}

/// Walks through pages that are broken on purpose, two at a time: each walk must fail, and say why.
fn broken<'a>(breakages: &[(&str, &str)], walk: impl Fn() -> anyhow::Result<Cmd<'a>>) -> anyhow::Result<()> {
    for pair in breakages.chunks(2) {
        let walks = pair.iter().map(|(breakage, _)| anyhow::Ok(walk()?.arg(breakage)));
        let outputs = together(walks.collect::<Result<_, _>>()?)?;
        for ((breakage, words), output) in pair.iter().zip(outputs) {
            let said = String::from_utf8_lossy(&output.stderr);
            println!("  broken: {breakage:<13}{}", said.lines().next().unwrap_or_default());
            // 2: the breakage itself has failed.
            ensure!(
                output.status.code() == Some(1),
                "the walk through a page with broken {breakage} ended with {}, not 1: {said}",
                output.status
            );
            ensure!(
                said.contains(words),
                "the walk through a page with broken {breakage} failed for another reason: {said}"
            );
        }
    }
    Ok(())
}

fn walk<'a>(shell: &'a Shell, tools: &NodeModules, demo: &Demo) -> anyhow::Result<Cmd<'a>> {
    Ok(cmd!(shell, "node xtask/browser/docs.cjs").env("NODE_PATH", tools.folder()).envs(demo.to_try()?))
}
