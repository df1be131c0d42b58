//! The clients for TypeScript: types for openapi-fetch, classes with calls of their own, and functions with zod schemas.

use std::path::Path;

use xshell::{Shell, cmd};

use super::{DOCUMENT, copy, openapi_generator};
use crate::service::Demo;
use crate::tools::npm::NodeModules;

pub fn generate_types(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let program = NodeModules::find_or_install(shell)?.program("openapi-typescript");
    let types = folder.join("client/schema.d.ts");
    Ok(cmd!(shell, "{program} {DOCUMENT} --output {types}").run()?)
}

pub fn generate_with_calls(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    openapi_generator(shell, "typescript-fetch", "supportsES6=true", &folder.join("client"))
}

pub fn generate_zod(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    copy(shell, "typescript-zod", folder)?;
    let tools = NodeModules::find_or_install(shell)?;
    // The generator's configuration names the generator, and the document is beside it.
    tools.link_into(folder)?;
    shell.copy_file(DOCUMENT, folder.join("partner.json"))?;
    let program = tools.program("openapi-ts");
    let _there = shell.push_dir(folder);
    Ok(cmd!(shell, "{program}").run()?)
}

pub fn test_types(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    test(shell, folder, "typescript", demo)
}

pub fn test_zod(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    test(shell, folder, "typescript-zod", demo)
}

pub fn test_calls(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    test(shell, folder, "typescript-fetch", demo)
}

fn test(shell: &Shell, folder: &Path, name: &str, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, name, folder)?;
    shell.copy_file("xtask/sdk/scenario.ts", folder)?;
    let tools = NodeModules::find_or_install(shell)?;
    tools.link_into(folder)?;
    shell.write_file(folder.join("package.json"), package(name))?;
    let _there = shell.push_dir(folder);
    let tsc = tools.program("tsc");
    cmd!(shell, "{tsc} --project tsconfig.json").run()?;
    Ok(cmd!(shell, "node js/main.js").envs(demo.to_try()?).run()?)
}

/// The generator's imports leave out the file name's ending, which only the older kind of module allows.
fn package(name: &str) -> String {
    let kind = if name == "typescript-fetch" { "commonjs" } else { "module" };
    format!("{{ \"private\": true, \"type\": \"{kind}\" }}\n")
}
