//! The client for Python.

use std::path::Path;

use super::{copy, openapi_generator};
use crate::command::{command, run};
use crate::demo::Demo;
use crate::tools::python::SDK;

pub fn generate(root: &Path, folder: &Path) -> anyhow::Result<()> {
    openapi_generator(root, "python", "packageName=lendpay_partner,projectName=lendpay-partner", folder)
}

pub fn test(root: &Path, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(root, "python", folder)?;
    let programs = SDK.find_or_install(root)?;
    // Strict, by its mypy.ini.
    run(&mut command(folder, programs.join("mypy"), &["main.py", "lendpay_partner"]))?;
    let mut program = command(folder, programs.join("python"), &["main.py"]);
    program.envs(demo.to_try()?);
    run(&mut program)
}
