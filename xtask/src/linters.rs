//! Three judges of the documents: openapi-spec-validator says whether they are OpenAPI, Redocly and Spectral whether
//! they are good OpenAPI, Spectral by OWASP's rules too. Warnings count: there are none.

use anyhow::ensure;
use xshell::{Shell, cmd};

use crate::openapi;
use crate::tools::npm::NodeModules;
use crate::tools::python::VALIDATOR;

/// Judges every file of openapi/, and fails at the first judge that finds something.
pub fn check(shell: &Shell) -> anyhow::Result<()> {
    let files = &openapi::files(shell)?;
    ensure!(!files.is_empty(), "there is no document to judge");
    let validator = VALIDATOR.find_or_install(shell)?.join("openapi-spec-validator");
    cmd!(shell, "{validator} --validation-errors all {files...}").run()?;
    let tools = NodeModules::find_or_install(shell)?;
    tools.redocly(shell).args(["lint", "--config", "xtask/tools/redocly.yaml"]).args(files).run()?;
    let spectral = tools.program("spectral");
    cmd!(shell, "{spectral} lint --ruleset xtask/tools/spectral.yaml --fail-severity hint {files...}").run()?;
    Ok(())
}
