//! The client for Python.

use std::path::Path;

use xshell::{Shell, cmd};

use super::{copy, openapi_generator};
use crate::service::Demo;
use crate::tools::python::SDK;

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    openapi_generator(shell, "python", "packageName=lendpay_partner,projectName=lendpay-partner", folder)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, "python", folder)?;
    let programs = SDK.find_or_install(shell)?;
    let (mypy, python) = (programs.join("mypy"), programs.join("python"));
    let _there = shell.push_dir(folder);
    // Strict, by its mypy.ini.
    cmd!(shell, "{mypy} main.py lendpay_partner").run()?;
    Ok(cmd!(shell, "{python} main.py").envs(demo.to_try()?).run()?)
}
