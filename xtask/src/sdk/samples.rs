//! The code in the document: each piece of it is run against the service as it stands, but for the address.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use lendpay_api::document::BASE;
use serde_json::Value;
use xshell::{Cmd, Shell, cmd};

use super::results::Row;
use crate::command::cargo;
use crate::openapi;
use crate::service::Demo;
use crate::tools::npm::NodeModules;

/// A language, as the document names it.
struct Language {
    name: &'static str,
    extension: &'static str,
    /// Checks and compiles what is in a folder.
    compile: fn(&Shell, &Path) -> anyhow::Result<()>,
    /// Runs what is in it for an operation.
    run: for<'a> fn(&'a Shell, &str) -> Cmd<'a>,
}

const LANGUAGES: [Language; 6] = [
    Language { name: "Shell", extension: "sh", compile: nothing, run: |shell, call| cmd!(shell, "sh {call}.sh") },
    Language { name: "Python", extension: "py", compile: nothing, run: |shell, call| cmd!(shell, "python3 {call}.py") },
    Language { name: "Java", extension: "java", compile: nothing, run: |shell, call| cmd!(shell, "java {call}.java") },
    Language { name: "TypeScript", extension: "ts", compile: types, run: |shell, call| cmd!(shell, "node {call}.js") },
    Language { name: "Rust", extension: "rs", compile: rust, run: |shell, call| cmd!(shell, "./{call}") },
    Language { name: "Go", extension: "go", compile: nothing, run: |shell, call| cmd!(shell, "go run {call}.go") },
];

/// Runs all of it. What was answered is in the service's log.
pub fn test(shell: &Shell, demo: &Demo, log: &Path, document: &Value) -> anyhow::Result<()> {
    let operations: Vec<_> = openapi::operations(document).collect();
    let mut run = 0;
    for Language { name, extension, compile, run: command } in LANGUAGES {
        let folder = shell.create_dir(format!("target/sdk/samples/{name}"))?;
        let mut calls = Vec::new();
        for operation in &operations {
            let samples = operation["x-codeSamples"].as_array().into_iter().flatten();
            let source = samples.filter(|sample| sample["lang"] == name).find_map(|sample| sample["source"].as_str());
            let (id, source) =
                operation["operationId"].as_str().zip(source).with_context(|| format!("no code in {name}"))?;
            shell.write_file(folder.join(format!("{id}.{extension}")), source.replace(BASE, &demo.base))?;
            calls.push(id);
        }
        demo.reset(shell)?;
        let begin = demo.logged(log)?.len();
        compile(shell, &folder)?;
        for call in &calls {
            let _there = shell.push_dir(&folder);
            command(shell, call).envs(demo.to_try()?).quiet().ignore_stdout().run()?;
        }
        // An answer may come before its line.
        let end = Instant::now() + Duration::from_secs(10);
        let statuses = loop {
            let (called, statuses) = Row::met(&demo.logged(log)?[begin..], document);
            if called.len() == calls.len() {
                break statuses;
            }
            ensure!(Instant::now() < end, "the code in {name} has called {called:?} only");
            std::thread::sleep(Duration::from_millis(20));
        };
        ensure!(statuses.iter().all(|status| (200..300).contains(status)), "the code in {name} has met {statuses:?}");
        run += calls.len();
    }
    println!("{run} pieces of code in the document were run.");
    Ok(())
}

fn nothing(_: &Shell, _: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// As modules, since they wait outside of functions.
fn types(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let tools = NodeModules::find_or_install(shell)?;
    tools.link_into(folder)?;
    shell.write_file(folder.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
    let _there = shell.push_dir(folder);
    let (tsc, options) = (tools.program("tsc"), ["--strict", "--target", "es2022", "--module", "nodenext"]);
    let files: Vec<_> =
        shell.read_dir(".")?.into_iter().filter(|file| file.extension().is_some_and(|it| it == "ts")).collect();
    Ok(cmd!(shell, "{tsc} {options...} --moduleDetection force --types node {files...}").run()?)
}

/// With the crates that the client has.
fn rust(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let client = folder.join("../../rust");
    cmd!(shell, "sh -c").arg(format!("cp {}/*.rs {}/examples/", folder.display(), client.display())).run()?;
    let programs = client.with_file_name("rust-target");
    let _there = shell.push_dir(&client);
    let build = cargo(shell).env("RUSTFLAGS", "-D warnings").env("CARGO_TARGET_DIR", &programs);
    build.args(["build", "--quiet", "--locked", "--examples"]).run()?;
    let built = programs.join("debug/examples");
    Ok(cmd!(shell, "sh -c").arg(format!("cp {}/[A-Z]* {}/", built.display(), folder.display())).run()?)
}
