//! Clients that are generated from the partners' document: made, compiled at their strictest, and run against the
//! service.

mod go;
mod java;
mod packages;
mod python;
mod results;
mod rust;
mod samples;
mod typescript;

use std::path::{Path, PathBuf};

use anyhow::ensure;
use xshell::{Shell, cmd};

use crate::openapi::Mode;
use crate::service::Demo;
use crate::tools::python::SDK;

/// The document that partners generate their clients from.
const DOCUMENT: &str = "openapi/partner.json";

/// A client that can be generated.
struct Client {
    name: &'static str,
    /// What makes it, with its version.
    generator: &'static str,
    /// At what the client and its program are checked.
    strict: &'static str,
    generate: fn(&Shell, &Path) -> anyhow::Result<()>,
    test: fn(&Shell, &Path, &Demo) -> anyhow::Result<()>,
}

const CLIENTS: [Client; 8] = [
    Client {
        name: "python",
        generator: "openapi-generator `python`",
        strict: "mypy --strict",
        generate: python::generate,
        test: python::test,
    },
    Client {
        name: "python-httpx",
        generator: "openapi-python-client",
        strict: "mypy --strict",
        generate: python::generate_httpx,
        test: python::test_httpx,
    },
    Client {
        name: "java",
        generator: "openapi-generator `java`",
        strict: "javac -Xlint:all -Werror",
        generate: java::generate,
        test: java::test,
    },
    Client {
        name: "typescript-fetch",
        generator: "openapi-generator `typescript-fetch`",
        strict: "tsc --strict",
        generate: typescript::generate_with_calls,
        test: typescript::test_calls,
    },
    Client {
        name: "typescript",
        generator: "openapi-typescript, openapi-fetch",
        strict: "tsc --strict and further checks",
        generate: typescript::generate_types,
        test: typescript::test_types,
    },
    Client {
        name: "typescript-zod",
        generator: "@hey-api/openapi-ts, zod",
        strict: "tsc --strict and further checks; zod at each answer",
        generate: typescript::generate_zod,
        test: typescript::test_zod,
    },
    Client {
        name: "rust",
        generator: "progenitor",
        strict: "rustc -D warnings",
        generate: rust::generate,
        test: rust::test,
    },
    Client {
        name: "go",
        generator: "openapi-generator `go`",
        strict: "go vet",
        generate: go::generate,
        test: go::test,
    },
];

/// What stands for all of them, each generated, compiled at its strictest, and run against the service.
const TEST: &str = "test";

/// The same, and the table of results is written.
const RESULTS: &str = "results";

/// What stands for the packages that can be published.
const PACKAGE: &str = "package";

/// What [`run`] takes.
pub fn names() -> Vec<&'static str> {
    CLIENTS.iter().map(|client| client.name).chain([TEST, RESULTS, PACKAGE]).collect()
}

/// Generates a client, tests all of them, or makes the packages.
pub fn run(shell: &Shell, name: &str) -> anyhow::Result<()> {
    match name {
        TEST => return test(shell, Mode::Check),
        RESULTS => return test(shell, Mode::Export),
        PACKAGE => return packages::make(shell),
        _ => {}
    }
    CLIENTS.iter().filter(|client| client.name == name).try_for_each(|client| client.generate(shell).map(drop))
}

/// Generates each client, compiles it, and runs a program that calls the service with it. Then openapi/README.md says
/// what they have met. The packages of some are installed and run too.
pub fn test(shell: &Shell, mode: Mode) -> anyhow::Result<()> {
    let log = shell.create_dir("target/sdk")?.join("service.log");
    let demo = Demo::logging(shell, &log)?;
    let document = results::document(shell)?;
    let (mut rows, mut read) = (Vec::new(), 0);
    for client in &CLIENTS {
        println!("\n--- {} ---", client.name);
        let folder = client.generate(shell)?;
        // Each finds what was there in the beginning.
        demo.reset(shell)?;
        (client.test)(shell, &folder, &demo)?;
        let written = demo.logged(&log)?;
        rows.push(results::Row::of(client, &written[read..], &document));
        read = written.len();
    }
    samples::test(shell, &demo, &log, &document)?;
    demo.reset(shell)?;
    packages::test(shell, &demo)?;
    results::bring_in_line(shell, &rows, mode)
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

/// Warnings of openapi-generator that the document cannot help.
const NOT_OURS: [&str; 4] = [
    // `type` is a word of the language, and the contract's name of a field.
    "type (reserved word) cannot be used as",
    // The body that AcceptOffer and DeclineOffer ignore may be anything, and its schema is none of the components.
    "Failed to get the schema name: null",
    "Ignoring complex example on request body",
    // Of sets of texts, for which it needs no import.
    "Failed to lookup model in createImportMapOfSet str",
];

/// Runs openapi-generator: one generator with its options, into a folder.
fn openapi_generator(shell: &Shell, generator: &str, options: &str, folder: &Path) -> anyhow::Result<()> {
    let program = SDK.find_or_install(shell)?.join("openapi-generator-cli");
    // Its tests and descriptions of each model are for people who maintain what is generated.
    let parts = "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
    let generate = cmd!(shell, "{program} generate --generator-name {generator} --input-spec {DOCUMENT}");
    let generate = generate.args(["--global-property", parts, "--additional-properties", options]);
    let generate = generate.arg("--output").arg(folder);
    println!("$ {generate}");
    let output = generate.quiet().ignore_status().output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // It prints a line for each file, and its warnings among them.
    let ours = |line: &&str| line.contains(" WARN ") && !NOT_OURS.iter().any(|known| line.contains(known));
    let warnings: Vec<_> = said.lines().filter(ours).collect();
    ensure!(output.status.success(), "openapi-generator failed: {said}");
    ensure!(warnings.is_empty(), "openapi-generator warns:\n{}", warnings.join("\n"));
    Ok(())
}

/// Copies what is in the folder xtask/sdk/NAME into `to`.
fn copy(shell: &Shell, name: &str, to: &Path) -> anyhow::Result<()> {
    shell.create_dir(to)?;
    Ok(cmd!(shell, "cp --recursive xtask/sdk/{name}/. {to}").run()?)
}

#[cfg(test)]
mod tests {
    use super::CLIENTS;

    const README: &str = include_str!("../../../README.md");

    /// What is said of the documents and their clients.
    const OF_DOCUMENTS: &str = include_str!("../../../openapi/README.md");

    const PROGRAMS: [(&str, &str); 8] = [
        ("python", include_str!("../../sdk/python/main.py")),
        ("python-httpx", include_str!("../../sdk/python-httpx/main.py")),
        ("java", include_str!("../../sdk/java/Main.java")),
        ("typescript-fetch", include_str!("../../sdk/typescript-fetch/main.ts")),
        ("typescript", include_str!("../../sdk/typescript/main.ts")),
        ("typescript-zod", include_str!("../../sdk/typescript-zod/main.ts")),
        ("rust", include_str!("../../sdk/rust/examples/main.rs")),
        ("go", include_str!("../../sdk/go/main.go")),
    ];

    /// They compile, so what the list says of each language is so.
    #[test]
    fn the_names_that_are_listed_are_those_that_the_programs_use() {
        let list = OF_DOCUMENTS.split("## Names").nth(1).expect("there is a list of names");
        assert_eq!(PROGRAMS.map(|(client, _)| client), CLIENTS.map(|client| client.name));
        for (client, program) in PROGRAMS {
            let row = list.lines().find(|line| line.starts_with(&format!("| `{client}` |")));
            let row = row.unwrap_or_else(|| panic!("{client} is not in the list"));
            let names: Vec<_> = row.split('`').skip(3).step_by(2).collect();
            assert!(names.len() >= 4, "{client}: {names:?}");
            for name in names {
                assert!(program.contains(name), "{client}: {name}");
            }
        }
    }

    /// The programs are compiled and run, so what the README shows works.
    #[test]
    fn the_lines_in_the_readme_are_lines_of_the_programs() {
        let shown = ["python", "java", "typescript-fetch", "typescript", "rust"];
        for (language, program) in PROGRAMS.into_iter().filter(|(language, _)| shown.contains(language)) {
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
