//! The documentation's page in a real browser.

use anyhow::bail;
use xshell::{Cmd, Shell, cmd};

use crate::service::Demo;
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

/// Walks through the page, then through pages that are broken on purpose: there the walk must fail.
pub fn test(shell: &Shell) -> anyhow::Result<()> {
    let tools = NodeModules::find_or_install(shell)?;
    // Each walk has a service of its own, so that none finds what another has left.
    walk(shell, &tools, &Demo::start(shell)?)?.run()?;
    let demo = Demo::start(shell)?;
    for (breakage, words) in BREAKAGES {
        let output = walk(shell, &tools, &demo)?.arg(breakage).quiet().ignore_status().output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        println!("  broken: {breakage:<13}{}", said.lines().next().unwrap_or_default());
        // 2: the breakage itself has failed.
        if output.status.code() != Some(1) {
            bail!("the walk through a page with broken {breakage} ended with {}, not 1: {said}", output.status);
        }
        if !said.contains(words) {
            bail!("the walk through a page with broken {breakage} failed for another reason: {said}");
        }
    }
    Ok(())
}

fn walk<'a>(shell: &'a Shell, tools: &NodeModules, demo: &Demo) -> anyhow::Result<Cmd<'a>> {
    Ok(cmd!(shell, "node xtask/browser/docs.cjs").env("NODE_PATH", tools.folder()).envs(demo.to_try()?))
}
