//! The samples in the guides: each is compiled and run against a sandbox, and answers what the guide says.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use xshell::{Cmd, Shell, cmd};

use crate::command::cargo;
use crate::service::Demo;
use crate::tools::npm::NodeModules;

/// The folder of the guides.
const FOLDER: &str = "openapi/guides";

/// Where the guides say that a sandbox listens.
const BASE: &str = "http://127.0.0.1:8080";

/// Members of answers that differ each time.
const VARYING: [&str; 8] =
    ["createdAt", "date", "expiryAt", "history", "occurredAt", "operationId", "sequence", "statusChangedAt"];

/// What the identifiers in a sandbox begin with: they are the same each time.
const FIXED: &str = "5a4db0c5-";

/// The manifest of a program in Rust. It takes the versions of the workspace.
const MANIFEST: &str = "[package]\nname = \"sample\"\nedition = \"2024\"\n\n[[bin]]\nname = \"sample\"\npath = \"main.rs\"\n\n\
    [dependencies]\nureq = { version = \"3\", default-features = false }\n\n[workspace]\n";

/// A code block of a guide.
struct Block<'g> {
    language: &'g str,
    text: String,
    /// Whether it follows another one, without text in between.
    adjacent: bool,
}

/// A sample, and what the guide says that it prints.
struct Sample<'g> {
    language: &'g str,
    source: String,
    printed: Option<(&'g str, String)>,
}

/// A guide whose blocks are parts of programs: [`crate::webhook_guide`] runs those.
const PARTS: &str = "webhooks.md";

/// Runs the samples of every guide.
pub fn test(shell: &Shell) -> anyhow::Result<()> {
    let demo = Demo::start(shell)?;
    let folder = shell.current_dir().join("target/guides");
    shell.create_dir(&folder)?;
    let mut guides = shell.read_dir(FOLDER)?;
    guides.retain(|path| path.extension().is_some_and(|extension| extension == "md") && !path.ends_with(PARTS));
    for path in guides {
        let (guide, title) =
            (shell.read_file(&path)?, path.file_name().expect("what a folder lists has a name").display());
        // Each guide finds what was there in the beginning.
        demo.reset(shell)?;
        for (number, sample) in samples(&guide).iter().enumerate() {
            let name = format!("{title}, sample {} ({})", number + 1, sample.language);
            run(shell, &folder, sample, &demo.base).with_context(|| name.clone())?;
        }
        println!("{title}: {} samples answer what it says.", samples(&guide).len());
    }
    Ok(())
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut open, mut adjacent) = (false, false);
    for line in guide.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                blocks.push(Block { language, text: String::new(), adjacent });
                open = true;
            }
            (Some(_), true) => (open, adjacent) = (false, true),
            (None, true) => {
                let block = blocks.last_mut().expect("a block is open");
                block.text += line;
                block.text += "\n";
            }
            (None, false) => adjacent &= line.is_empty(),
        }
    }
    blocks
}

/// The samples of a guide. What the next block of JSON or of text shows is what the samples before it print.
fn samples(guide: &str) -> Vec<Sample<'_>> {
    let mut printed = None;
    let mut samples: Vec<Sample<'_>> = Vec::new();
    for block in blocks(guide).into_iter().rev() {
        match block.language {
            "json" | "text" => printed = Some((block.language, block.text)),
            "sh" | "python" | "typescript" | "java" | "go" | "rust" => {
                samples.push(Sample { language: block.language, source: block.text, printed: printed.clone() });
                if !block.adjacent {
                    printed = None;
                }
            }
            _ => printed = None,
        }
    }
    samples.reverse();
    samples
}

fn run(shell: &Shell, folder: &Path, sample: &Sample<'_>, base: &str) -> anyhow::Result<()> {
    let Sample { language, source, printed } = sample;
    let mut source = source.replace(BASE, base);
    if printed.is_none() {
        // Where the guide shows an error, that is the answer.
        source = source.replace("curl ", "curl --fail-with-body ");
    }
    let found = program(shell, folder, language, &source)?.quiet().read()?;
    match printed {
        None => Ok(()),
        Some(("text", text)) => {
            ensure!(found.trim() == text.trim(), "it prints:\n{found}");
            Ok(())
        }
        Some((_, json)) => {
            let wanted: Value = serde_json::from_str(json).context("what it should print is no JSON")?;
            let found: Value = serde_json::from_str(&found).with_context(|| format!("it prints no JSON: {found}"))?;
            alike("", &wanted, &found)
        }
    }
}

/// The command that runs a program.
fn program<'a>(shell: &'a Shell, folder: &Path, language: &str, source: &str) -> anyhow::Result<Cmd<'a>> {
    let write = |name: &str| {
        let path = folder.join(name);
        shell.write_file(&path, source).map(|()| path)
    };
    Ok(match language {
        "sh" => cmd!(shell, "bash -euo pipefail -c {source}").ignore_stderr(),
        "python" => cmd!(shell, "python3 -c {source}"),
        "java" => {
            let path = write("Sample.java")?;
            cmd!(shell, "java {path}")
        }
        "go" => {
            let path = write("sample.go")?;
            cmd!(shell, "go run {path}")
        }
        "typescript" => {
            let (path, tools) = (write("sample.mts")?, NodeModules::find_or_install(shell)?);
            let (tsc, types) = (tools.program("tsc"), tools.folder().join("@types"));
            let strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
            let kind = ["--target", "es2022", "--module", "nodenext", "--moduleDetection", "force", "--types", "node"];
            cmd!(shell, "{tsc} {strict...} {kind...} --typeRoots {types} {path}").quiet().run()?;
            let made = folder.join("sample.mjs");
            cmd!(shell, "node {made}")
        }
        "rust" => {
            let project = folder.join("rust");
            shell.create_dir(&project)?;
            shell.write_file(project.join("main.rs"), source)?;
            shell.write_file(project.join("Cargo.toml"), MANIFEST)?;
            shell.copy_file("Cargo.lock", project.join("Cargo.lock"))?;
            cargo(shell).args(["run", "--quiet", "--manifest-path"]).arg(project.join("Cargo.toml"))
        }
        other => bail!("nothing runs {other}"),
    })
}

/// Fails where an answer has other members than the guide shows, or another value where it is the same each time.
fn alike(path: &str, wanted: &Value, found: &Value) -> anyhow::Result<()> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            let names = |object: &serde_json::Map<String, Value>| object.keys().cloned().collect::<Vec<_>>();
            ensure!(names(wanted) == names(found), "{path} has the members {:?}", names(found));
            wanted.iter().try_for_each(|(name, wanted)| match wanted {
                Value::Array(_) | Value::Object(_) => alike(&format!("{path}/{name}"), wanted, &found[name]),
                wanted => {
                    let varies = VARYING.contains(&name.as_str())
                        || name == "id" && wanted.as_str().is_some_and(|id| !id.starts_with(FIXED));
                    let same = wanted == &found[name] || varies && wanted.is_string() == found[name].is_string();
                    ensure!(same, "{path}/{name} is {}", found[name]);
                    Ok(())
                }
            })
        }
        (Value::Array(wanted), Value::Array(found)) => {
            ensure!(wanted.len() == found.len(), "{path} has {} items", found.len());
            wanted.iter().zip(found).try_for_each(|(wanted, found)| alike(path, wanted, found))
        }
        _ => {
            ensure!(wanted == found, "{path} is {found}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn samples_answer_what_the_next_block_shows() {
        let guide = "```sh\na\n```\n\n```python\nb\n```\n\nThen:\n\n```json\n{}\n```\n\n```sh\nc\n```\nx\n```sh oauth\nd\n```\n";
        let samples = samples(guide);
        let found: Vec<_> = samples.iter().map(|sample| (&*sample.source, sample.printed.is_some())).collect();
        assert_eq!(found, [("a\n", true), ("b\n", true), ("c\n", false)]);
    }

    #[test]
    fn answers_are_alike_but_for_what_varies() {
        let offer = |id: &str, status: &str| json!({ "id": id, "status": status, "date": "now" });
        let fixed = "5a4db0c5-0000-4000-8000-000000000201";
        let same = |wanted: Value, found: Value| alike("", &wanted, &found).is_ok();
        assert!(same(offer("1", "Offered"), offer("2", "Offered")));
        assert!(!same(offer("1", "Offered"), offer("1", "Expired")));
        assert!(!same(offer(fixed, "Offered"), offer("2", "Offered")));
        assert!(!same(json!({ "a": 1 }), json!({ "a": 1, "b": 2 })));
        assert!(!same(json!([1]), json!([1, 1])) && same(json!(["x"]), json!(["x"])));
    }
}
