//! Three judges of the documents: openapi-spec-validator says whether they are OpenAPI, Redocly and Spectral whether they
//! are good OpenAPI. Warnings count: there are none.

use std::path::Path;

use anyhow::bail;

use crate::command::{command, run};
use crate::openapi;
use crate::tools::npm::NodeModules;
use crate::tools::python::VALIDATOR;

/// Judges every file of openapi/, and fails at the first judge that finds something.
pub fn check(root: &Path) -> anyhow::Result<()> {
    let files = openapi::files(root)?;
    if files.is_empty() {
        bail!("there is no document to judge");
    }
    let validator = VALIDATOR.find_or_install(root)?.join("openapi-spec-validator");
    run(command(root, validator, &["--schema", "3.0", "--validation-errors", "all"]).args(&files))?;

    let tools = NodeModules::find_or_install(root)?;
    let redocly = ["lint", "--config", "xtask/tools/redocly.yaml"];
    let mut redocly = command(root, tools.program("redocly"), &redocly);
    // It would ask a registry for a newer version of itself.
    run(redocly.env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true").args(&files))?;
    let spectral = ["lint", "--ruleset", "xtask/tools/spectral.yaml", "--fail-severity", "hint"];
    run(command(root, tools.program("spectral"), &spectral).args(&files))
}
