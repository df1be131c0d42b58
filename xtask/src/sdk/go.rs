//! The client for Go, with what Go's standard library has.

use std::path::Path;

use xshell::{Shell, cmd};

use super::{copy, openapi_generator};
use crate::service::Demo;

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let options = "packageName=lendpay,isGoSubmodule=true,withGoMod=false,enumClassPrefix=true,hideGenerationTimestamp=true";
    openapi_generator(shell, "go", options, &folder.join("lendpay"))
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, "go", folder)?;
    let _there = shell.push_dir(folder);
    cmd!(shell, "go vet ./...").run()?;
    Ok(cmd!(shell, "go run .").envs(demo.to_try()?).run()?)
}
