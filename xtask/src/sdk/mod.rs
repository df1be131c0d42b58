//! Clients that are generated from the partners' document: made, compiled at their strictest, and run against the service.

mod java;
mod python;
mod rust;
mod typescript;

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::command::run_quietly;
use crate::service::Demo;
use crate::tools::python::SDK;

/// The document that partners generate their clients from.
const DOCUMENT: &str = "openapi/partner.json";

/// A client that can be generated.
struct Client {
    name: &'static str,
    generate: fn(&Shell, &Path) -> anyhow::Result<()>,
    test: fn(&Shell, &Path, &Demo) -> anyhow::Result<()>,
}

const CLIENTS: [Client; 5] = [
    Client { name: "python", generate: python::generate, test: python::test },
    Client { name: "java", generate: java::generate, test: java::test },
    Client { name: "typescript-fetch", generate: typescript::generate_with_calls, test: typescript::test_calls },
    Client { name: "typescript", generate: typescript::generate_types, test: typescript::test_types },
    Client { name: "rust", generate: rust::generate, test: rust::test },
];

/// What stands for all of them, each generated, compiled at its strictest, and run against the service.
const TEST: &str = "test";

/// What [`run`] takes.
pub fn names() -> Vec<&'static str> {
    CLIENTS.iter().map(|client| client.name).chain([TEST]).collect()
}

/// Generates a client, or tests all of them.
pub fn run(shell: &Shell, name: &str) -> anyhow::Result<()> {
    if name == TEST {
        return test(shell);
    }
    CLIENTS.iter().filter(|client| client.name == name).try_for_each(|client| client.generate(shell).map(drop))
}

/// Generates each client, compiles it, and runs a program that calls the service with it.
pub fn test(shell: &Shell) -> anyhow::Result<()> {
    let demo = Demo::start(shell)?;
    for client in CLIENTS {
        println!("\n--- {} ---", client.name);
        let folder = client.generate(shell)?;
        // Each finds what was there in the beginning.
        demo.reset(shell)?;
        (client.test)(shell, &folder, &demo)?;
    }
    Ok(())
}

impl Client {
    /// Generates it into an emptied target/sdk/NAME, and returns that folder.
    fn generate(&self, shell: &Shell) -> anyhow::Result<PathBuf> {
        let folder = shell.current_dir().join("target/sdk").join(self.name);
        shell.remove_path(&folder)?;
        shell.create_dir(&folder)?;
        (self.generate)(shell, &folder)?;
        println!("The {0} client is in target/sdk/{0}.", self.name);
        Ok(folder)
    }
}

/// Runs openapi-generator: one generator with its options, into a folder.
fn openapi_generator(shell: &Shell, generator: &str, options: &str, folder: &Path) -> anyhow::Result<()> {
    let program = SDK.find_or_install(shell)?.join("openapi-generator-cli");
    // Its tests and descriptions of each model are for people who maintain what is generated.
    let parts = "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
    let generate = cmd!(shell, "{program} generate --generator-name {generator} --input-spec {DOCUMENT}");
    let generate = generate.args(["--global-property", parts, "--additional-properties", options]);
    // It prints a line for each file.
    run_quietly(generate.arg("--output").arg(folder))
}

/// Copies what is in the folder xtask/sdk/NAME into `to`.
fn copy(shell: &Shell, name: &str, to: &Path) -> anyhow::Result<()> {
    shell.create_dir(to)?;
    Ok(cmd!(shell, "cp --recursive xtask/sdk/{name}/. {to}").run()?)
}

#[cfg(test)]
mod tests {
    const README: &str = include_str!("../../../README.md");

    /// The programs are compiled and run, so what the README shows works.
    #[test]
    fn the_lines_in_the_readme_are_lines_of_the_programs() {
        let programs = [
            ("python", include_str!("../../sdk/python/main.py")),
            ("java", include_str!("../../sdk/java/Main.java")),
            ("typescript-fetch", include_str!("../../sdk/typescript-fetch/main.ts")),
            ("typescript", include_str!("../../sdk/typescript/main.ts")),
            ("rust", include_str!("../../sdk/rust/examples/main.rs")),
        ];
        for (language, program) in programs {
            let after = README.split(&format!("(`cargo xtask sdk {language}`,")).nth(1);
            let block = after.and_then(|text| text.split("```").nth(1)).unwrap_or_default();
            let shown: Vec<_> = block.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
            assert_eq!(shown.len(), 5, "{language}");
            for line in shown {
                assert!(program.lines().any(|other| other.trim() == line), "{language}: {line}");
            }
        }
    }
}
