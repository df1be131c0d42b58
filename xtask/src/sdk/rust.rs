//! The client for Rust: a crate of its own, which progenitor fills when it is compiled.

use std::path::Path;

use xshell::Shell;

use super::{DOCUMENT, copy};
use crate::command::cargo;
use crate::service::Demo;

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    copy(shell, "rust", folder)?;
    Ok(shell.copy_file(DOCUMENT, folder.join("partner.json"))?)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    let _there = shell.push_dir(folder);
    // Beside the client and not in it, so that generating it again does not throw away its dependencies.
    let program =
        cargo(shell).env("RUSTFLAGS", "-D warnings").env("CARGO_TARGET_DIR", folder.with_file_name("rust-target"));
    Ok(program.args(["run", "--quiet", "--locked", "--example", "main"]).envs(demo.to_try()?).run()?)
}
