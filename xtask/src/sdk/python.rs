//! The clients for Python.

use std::path::Path;

use xshell::{Shell, cmd};

use super::{DOCUMENT, copy, openapi_generator};
use crate::service::Demo;
use crate::tools::python::{HTTPX, PythonTool, SDK};

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    openapi_generator(shell, "python", "packageName=lendpay_partner,projectName=lendpay-partner", folder)
}

pub fn generate_httpx(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    copy(shell, "python-httpx", folder)?;
    let program = HTTPX.find_or_install(shell)?.join("openapi-python-client");
    let package = folder.join("lendpay_partner_httpx");
    let generate = cmd!(shell, "{program} generate --path {DOCUMENT} --output-path {package} --meta none --overwrite");
    Ok(generate.arg("--fail-on-warning").arg("--config").arg(folder.join("generator.yaml")).run()?)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, "python", folder)?;
    check_and_run(shell, folder, demo, &SDK, "lendpay_partner")
}

pub fn test_httpx(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    check_and_run(shell, folder, demo, &HTTPX, "lendpay_partner_httpx")
}

/// Strict, by its mypy.ini.
fn check_and_run(shell: &Shell, folder: &Path, demo: &Demo, tool: &PythonTool, package: &str) -> anyhow::Result<()> {
    shell.copy_file("xtask/sdk/scenario.py", folder)?;
    let programs = tool.find_or_install(shell)?;
    let (mypy, python) = (programs.join("mypy"), programs.join("python"));
    let _there = shell.push_dir(folder);
    cmd!(shell, "{mypy} main.py {package}").run()?;
    Ok(cmd!(shell, "{python} main.py").envs(demo.to_try()?).run()?)
}
