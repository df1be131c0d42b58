//! The pages in a real browser.

use anyhow::bail;
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
    // Each walk has a service of its own, so that none finds what another has left.
    walk(shell, &tools, &Demo::start(shell)?)?.run()?;
    let demo = Demo::start(shell)?;
    broken(&BREAKAGES, || walk(shell, &tools, &demo))?;
    let judges = NodeModules::for_pages(shell)?;
    let look = |base: &str, start: &str| {
        let modules = std::env::join_paths([judges.folder(), tools.folder()])?;
        let shots = shell.current_dir().join("target/pages");
        let look = cmd!(shell, "node xtask/browser/pages.cjs").env("NODE_PATH", modules).env("LENDPAY_SHOTS", shots);
        anyhow::Ok(look.env("LENDPAY_BASE", base).env("LENDPAY_START", start))
    };
    demo.reset(shell)?;
    look(&demo.base, "/")?.run()?;
    broken(&BREAKAGES_OF_PAGES, || look(&demo.base, "/"))?;
    let service = Service::start(shell, &shell.current_dir().join("target/pages/data"))?;
    look(&service.operator, "/operator/")?.run()?;
    console::walk(shell, &tools, &judges)
}

/// Walks through pages that are broken on purpose: the walk must fail, and say why.
fn broken<'a>(breakages: &[(&str, &str)], walk: impl Fn() -> anyhow::Result<Cmd<'a>>) -> anyhow::Result<()> {
    for (breakage, words) in breakages {
        let output = walk()?.arg(breakage).quiet().ignore_status().output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        println!("  broken: {breakage:<13}{}", said.lines().next().unwrap_or_default());
        // 2: the breakage itself has failed.
        if output.status.code() != Some(1) {
            bail!("the walk through a page with broken {breakage} ended with {}, not 1: {said}", output.status);
        }
        if !said.contains(*words) {
            bail!("the walk through a page with broken {breakage} failed for another reason: {said}");
        }
    }
    Ok(())
}

fn walk<'a>(shell: &'a Shell, tools: &NodeModules, demo: &Demo) -> anyhow::Result<Cmd<'a>> {
    Ok(cmd!(shell, "node xtask/browser/docs.cjs").env("NODE_PATH", tools.folder()).envs(demo.to_try()?))
}
