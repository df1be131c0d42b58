//! The client for Rust: a crate of its own, which progenitor fills when it is compiled.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::{DOCUMENT, copy};
use crate::command::{command, run};
use crate::demo::Demo;

pub fn generate(root: &Path, folder: &Path) -> anyhow::Result<()> {
    copy(root, "rust", folder)?;
    fs::copy(root.join(DOCUMENT), folder.join("partner.json")).context("cannot copy the document")?;
    Ok(())
}

pub fn test(folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    let mut program = command(folder, "cargo", &["run", "--quiet", "--locked", "--example", "main"]);
    // Beside the client and not in it, so that generating it again does not throw away its dependencies.
    program.env("RUSTFLAGS", "-D warnings").env("CARGO_TARGET_DIR", folder.with_file_name("rust-target"));
    program.envs(demo.to_try()?);
    run(&mut program)
}
