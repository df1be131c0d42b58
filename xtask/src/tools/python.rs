//! Tools from PyPI, each in a virtual environment of its own, so that none dictates another's versions.

use std::path::PathBuf;

use xshell::{Shell, cmd};

use super::folder;

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

/// What the guide's receiver of webhooks in Python needs.
pub const WEBHOOKS: PythonTool =
    PythonTool { name: "webhooks", requirements: include_str!("../../tools/webhooks.txt") };

/// What makes a package for Python.
pub const FLIT: PythonTool = PythonTool { name: "flit", requirements: include_str!("../../tools/flit.txt") };

/// Another generator of clients for Python, and mypy.
pub const HTTPX: PythonTool =
    PythonTool { name: "openapi-python-client", requirements: include_str!("../../tools/openapi-python-client.txt") };

/// The attacker of the running service.
pub const SCHEMATHESIS: PythonTool =
    PythonTool { name: "schemathesis", requirements: include_str!("../../tools/schemathesis.txt") };

#[cfg(test)]
const ALL: &[PythonTool] = &[VALIDATOR, SDK, HTTPX, SCHEMATHESIS, WEBHOOKS, FLIT];

impl PythonTool {
    /// The folder of the programs in its virtual environment, which is made when it is not there.
    pub fn find_or_install(&self, shell: &Shell) -> anyhow::Result<PathBuf> {
        let Self { name, requirements } = self;
        let environment = &folder(shell).join(name);
        // Written last, so that it tells a finished environment of these very versions.
        let stamp = environment.join("requirements.txt");
        let programs = environment.join("bin");
        if shell.read_file(&stamp).is_ok_and(|installed| installed == *requirements) {
            return Ok(programs);
        }
        println!("Installing {name} in a virtual environment.");
        cmd!(shell, "python3 -m venv --clear {environment}").run()?;
        let python = programs.join("python");
        let install = ["install", "--disable-pip-version-check", "--quiet", "--requirement"];
        cmd!(shell, "{python} -m pip {install...} xtask/tools/{name}.txt").run()?;
        shell.write_file(&stamp, requirements)?;
        Ok(programs)
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
