//! What Redocly's `diff` calls major. It runs wherever Node.js does.

use anyhow::{Context as _, bail};
use serde_json::Value;
use xshell::Shell;

use crate::tools::npm::NodeModules;

/// Every change from `old` to `new` that Redocly calls major.
pub fn breaking(shell: &Shell, old: &Value, new: &Value) -> anyhow::Result<Vec<String>> {
    let tools = NodeModules::find_or_install(shell)?;
    let folder = shell.create_dir("target/breaking")?;
    for (name, document) in [("old.json", old), ("new.json", new)] {
        shell.write_file(folder.join(name), document.to_string())?;
    }
    let diff = tools.redocly(shell).args(["diff", "target/breaking/old.json", "target/breaking/new.json"]);
    let diff = diff.args(["--config", "xtask/tools/redocly.yaml", "--format", "json", "--fail-on", "none"]);
    let said = diff.quiet().ignore_stderr().read()?;
    let report: Value = serde_json::from_str(&said).context("Redocly has not printed JSON")?;
    let changes = report["changes"].as_array().context("Redocly has not printed a list of changes")?;
    let verdicts = changes.iter().flat_map(|change| change["verdicts"].as_array().into_iter().flatten());
    let major: Vec<_> = verdicts.filter(|verdict| verdict["impact"] == "major").map(described).collect();
    if report["summary"]["major"].as_u64() != Some(changes.iter().filter(|it| it["impact"] == "major").count() as u64) {
        bail!("Redocly's summary does not fit its changes: {}", report["summary"]);
    }
    Ok(major)
}

fn described(verdict: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} ({})", text(&verdict["message"]), text(&verdict["location"]["pointer"]))
}
