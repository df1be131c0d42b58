//! Clients that are generated from the partners' document: made, compiled at their strictest, and run against the service.

mod java;
mod python;
mod rust;
mod typescript;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::command::{command, run_quietly};
use crate::demo::Demo;
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
pub fn generate(root: &Path, language: Language) -> anyhow::Result<PathBuf> {
    let name = language.name();
    let folder = root.join("target/sdk").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    match language {
        Language::Python => python::generate(root, &folder)?,
        Language::Java => java::generate(root, &folder)?,
        Language::TypescriptFetch => typescript::generate_with_calls(root, &folder)?,
        Language::Typescript => typescript::generate_types(root, &folder)?,
        Language::Rust => rust::generate(root, &folder)?,
    }
    println!("The {name} client is in target/sdk/{name}.");
    Ok(folder)
}

/// Generates each client, compiles it, and runs a program that calls the service with it.
pub fn test(root: &Path) -> anyhow::Result<()> {
    let demo = Demo::start(root)?;
    for language in Language::ALL {
        println!("\n--- {} ---", language.name());
        let folder = generate(root, language)?;
        match language {
            Language::Python => python::test(root, &folder, &demo)?,
            Language::Java => java::test(root, &folder, &demo)?,
            Language::TypescriptFetch | Language::Typescript => {
                typescript::test(root, &folder, language.name(), &demo)?
            }
            Language::Rust => rust::test(&folder, &demo)?,
        }
    }
    Ok(())
}

/// Runs openapi-generator: one generator with its options, into a folder.
fn openapi_generator(root: &Path, generator: &str, options: &str, folder: &Path) -> anyhow::Result<()> {
    let program = SDK.find_or_install(root)?.join("openapi-generator-cli");
    // Its tests and descriptions of each model are for people who maintain what is generated.
    let parts = "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
    let arguments = ["generate", "--generator-name", generator, "--input-spec", DOCUMENT, "--global-property", parts];
    let mut command = command(root, program, &arguments);
    command.args(["--additional-properties", options, "--output"]).arg(folder);
    // It prints a line for each file.
    run_quietly(&mut command)
}

/// Copies the folder xtask/sdk/NAME into `to`.
fn copy(root: &Path, name: &str, to: &Path) -> anyhow::Result<()> {
    copy_folder(&root.join("xtask/sdk").join(name), to).with_context(|| format!("cannot copy xtask/sdk/{name}"))
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
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
