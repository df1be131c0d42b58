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
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Subcommand)]
pub enum Language {
    /// openapi-generator: pydantic models, urllib3
    Python,
    /// openapi-generator: java.net.http, Jackson
    Java,
    /// openapi-generator: classes and calls over fetch
    TypescriptFetch,
    /// openapi-typescript and openapi-fetch: types only
    Typescript,
    /// progenitor: reqwest
    Rust,
}

impl Language {
    const ALL: [Self; 5] = [Self::Python, Self::Java, Self::TypescriptFetch, Self::Typescript, Self::Rust];

    fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Java => "java",
            Self::TypescriptFetch => "typescript-fetch",
            Self::Typescript => "typescript",
            Self::Rust => "rust",
        }
    }
}

/// Generates one client into an emptied target/sdk/LANGUAGE, and returns that folder.
pub fn generate(shell: &Shell, language: Language) -> anyhow::Result<PathBuf> {
    let name = language.name();
    let folder = shell.current_dir().join("target/sdk").join(name);
    shell.remove_path(&folder)?;
    shell.create_dir(&folder)?;
    match language {
        Language::Python => python::generate(shell, &folder)?,
        Language::Java => java::generate(shell, &folder)?,
        Language::TypescriptFetch => typescript::generate_with_calls(shell, &folder)?,
        Language::Typescript => typescript::generate_types(shell, &folder)?,
        Language::Rust => rust::generate(shell, &folder)?,
    }
    println!("The {name} client is in target/sdk/{name}.");
    Ok(folder)
}

/// Generates each client, compiles it, and runs a program that calls the service with it.
pub fn test(shell: &Shell) -> anyhow::Result<()> {
    let demo = Demo::start(shell)?;
    for language in Language::ALL {
        println!("\n--- {} ---", language.name());
        let folder = generate(shell, language)?;
        match language {
            Language::Python => python::test(shell, &folder, &demo)?,
            Language::Java => java::test(shell, &folder, &demo)?,
            Language::TypescriptFetch | Language::Typescript => {
                typescript::test(shell, &folder, language.name(), &demo)?
            }
            Language::Rust => rust::test(shell, &folder, &demo)?,
        }
    }
    Ok(())
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
