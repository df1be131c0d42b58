//! Tools from PyPI, each in a virtual environment of its own, so that none dictates another's versions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::folder;
use crate::command::{command, run};

/// A tool with everything that it brings along, pinned.
pub struct PythonTool {
    name: &'static str,
    requirements: &'static str,
}

/// The judge of openapi/*.json.
pub const VALIDATOR: PythonTool =
    PythonTool { name: "openapi-spec-validator", requirements: include_str!("../../tools/openapi-spec-validator.txt") };

/// The generator of clients, and what its Python client needs.
pub const SDK: PythonTool = PythonTool { name: "sdk", requirements: include_str!("../../tools/sdk.txt") };

/// The attacker of the running service.
pub const SCHEMATHESIS: PythonTool =
    PythonTool { name: "schemathesis", requirements: include_str!("../../tools/schemathesis.txt") };

#[cfg(test)]
const ALL: &[PythonTool] = &[VALIDATOR, SDK, SCHEMATHESIS];

impl PythonTool {
    /// The folder of the programs in its virtual environment, which is made when it is not there.
    pub fn find_or_install(&self, root: &Path) -> anyhow::Result<PathBuf> {
        let environment = folder(root).join(self.name);
        // Written last, so that it tells a finished environment of these very versions.
        let stamp = environment.join("requirements.txt");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == self.requirements) {
            return Ok(environment.join("bin"));
        }
        println!("Installing {} in a virtual environment.", self.name);
        fs::create_dir_all(folder(root)).context("cannot create target/tools")?;
        run(command(root, "python3", &["-m", "venv", "--clear"]).arg(&environment))?;
        let install = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--requirement"];
        let file = format!("xtask/tools/{}.txt", self.name);
        run(command(root, environment.join("bin/python"), &install).arg(file))?;
        fs::write(&stamp, self.requirements).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(environment.join("bin"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_pinned() {
        for tool in ALL {
            let lines = tool.requirements.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            assert_eq!(lines.filter(|line| !line.contains("==")).collect::<Vec<_>>(), Vec::<&str>::new());
        }
    }
}
