//! The clients for TypeScript: types for openapi-fetch, and classes with calls of their own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::Context;

use super::{DOCUMENT, copy, openapi_generator};
use crate::command::{command, run};
use crate::demo::Demo;
use crate::tools::npm::NodeModules;

pub fn generate_types(root: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = NodeModules::find_or_install(root)?.program("openapi-typescript");
    let types = folder.join("client/schema.d.ts");
    run(command(root, program, &[DOCUMENT, "--output"]).arg(types))
}

pub fn generate_with_calls(root: &Path, folder: &Path) -> anyhow::Result<()> {
    openapi_generator(root, "typescript-fetch", "supportsES6=true", &folder.join("client"))
}

pub fn test(root: &Path, folder: &Path, name: &str, demo: &Demo) -> anyhow::Result<()> {
    copy(root, name, folder)?;
    let tools = NodeModules::find_or_install(root)?;
    // Where both the compiler and Node.js look for packages.
    let link = folder.join("node_modules");
    symlink(tools.folder(), &link).with_context(|| format!("cannot link {}", link.display()))?;
    fs::write(folder.join("package.json"), package(name)).context("cannot write package.json")?;
    run(&mut command(folder, tools.program("tsc"), &["--project", "tsconfig.json"]))?;
    let mut program = command(folder, "node", &["js/main.js"]);
    program.envs(demo.to_try()?);
    run(&mut program)
}

/// The generator's imports leave out the file name's ending, which only the older kind of module allows.
fn package(name: &str) -> String {
    let kind = if name == "typescript" { "module" } else { "commonjs" };
    format!("{{ \"private\": true, \"type\": \"{kind}\" }}\n")
}
