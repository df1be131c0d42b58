//! The client for Go. Its one dependency, for access tokens, comes from a Debian package, so that no module is fetched.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::{copy, openapi_generator};
use crate::service::Demo;

/// Where Debian puts Go's packages.
const DEBIAN: &str = "/usr/share/gocode";

/// Where the program is, as Go's packages are found without modules.
fn program(folder: &Path) -> PathBuf {
    folder.join("src/lendpay.example/program")
}

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let options =
        "packageName=lendpay,isGoSubmodule=true,withGoMod=false,enumClassPrefix=true,hideGenerationTimestamp=true";
    openapi_generator(shell, "go", options, &program(folder).join("lendpay"))?;
    // A test of each operation, which only the generator could run.
    Ok(shell.remove_path(program(folder).join("lendpay/test"))?)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    let program = program(folder);
    copy(shell, "go", &program)?;
    let _there = shell.push_dir(&program);
    let place = format!("{}:{DEBIAN}", folder.display());
    let (_off, _place) = (shell.push_env("GO111MODULE", "off"), shell.push_env("GOPATH", place));
    cmd!(shell, "go vet ./...").run()?;
    Ok(cmd!(shell, "go run .").envs(demo.to_try()?).run()?)
}
