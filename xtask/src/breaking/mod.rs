//! What a change of a document does to those who rely on it: whether it breaks their code, and whether it is announced.

mod announced;
mod oasdiff;
mod ours;
mod seeded;

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use lendpay_api::document::Document;
use serde_json::Value;

use crate::command::{command, output};
use crate::tools::npm::NodeModules;

pub use seeded::self_test;

/// The folder of the documents, below the workspace.
const FOLDER: &str = "openapi";

/// The documents as the working tree has them, against those of the commit `base`.
///
/// A change that breaks needs a major step of `info.version`, any change a step and an entry in the changelog.
pub fn check(root: &Path, documents: &[Document], base: &str) -> anyhow::Result<()> {
    let commit =
        output(&mut command(root, "git", &["rev-parse", "--verify", "--quiet", &format!("{base}^{{commit}}")]))
            .with_context(|| format!("there is no commit {base}"))?;
    let changelog = fs::read_to_string(root.join(FOLDER).join("CHANGELOG.md")).context("cannot read the changelog")?;
    println!("Comparing the documents with those of {commit}.");
    let mut complaints = Vec::new();
    for document in documents {
        let new = serde_json::from_str(&document.text).with_context(|| format!("{} is no JSON", document.file))?;
        let Some(old) = at(root, &commit, document.file)? else {
            println!("{FOLDER}/{} is new.", document.file);
            complaints.extend(announced::entry(&changelog, document.file, &new));
            continue;
        };
        if old == new {
            println!("{FOLDER}/{} is unchanged.", document.file);
            continue;
        }
        let breaking = breaking_changes(root, &old, &new)?;
        for change in &breaking {
            println!("{FOLDER}/{} breaks: {change}", document.file);
        }
        if breaking.is_empty() {
            println!("{FOLDER}/{} has changed; nothing breaks.", document.file);
        }
        complaints.extend(announced::step(document.file, &old, &new, &breaking));
        complaints.extend(announced::entry(&changelog, document.file, &new));
    }
    for file in files_at(root, &commit) {
        if !documents.iter().any(|document| document.file == file) {
            complaints.push(format!("{FOLDER}/{file} is gone; whoever relies on it has nothing to rely on"));
        }
    }
    if !complaints.is_empty() {
        bail!("{}", complaints.join("\n"));
    }
    Ok(())
}

/// What to compare with when nobody says: where this branch left `main`; on `main` itself, the documents before the last
/// commit that changed one. None when there is no such commit.
pub fn usual_base(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| output(&mut command(root, "git", arguments)).filter(|text| !text.is_empty());
    let head = git(&["rev-parse", "HEAD"])?;
    let main = ["origin/main", "main"].into_iter().find_map(|main| git(&["merge-base", "HEAD", main]));
    if let Some(commit) = main.filter(|commit| *commit != head) {
        return Some(commit);
    }
    if git(&["status", "--porcelain", "--", "openapi/*.json"]).is_some() {
        return Some(head);
    }
    git(&["log", "-2", "--first-parent", "--format=%H", "--", "openapi/*.json"])?.lines().nth(1).map(str::to_owned)
}

/// Every change that can break a client, said once.
fn breaking_changes(root: &Path, old: &Value, new: &Value) -> anyhow::Result<Vec<String>> {
    let mut changes = oasdiff::breaking(root, &NodeModules::find_or_install(root)?, old, new)?;
    changes.extend(ours::breaking(old, new));
    Ok(changes)
}

/// A document as a commit has it.
fn at(root: &Path, commit: &str, file: &str) -> anyhow::Result<Option<Value>> {
    let Some(text) = output(&mut command(root, "git", &["show", &format!("{commit}:{FOLDER}/{file}")])) else {
        return Ok(None);
    };
    let document: Value =
        serde_json::from_str(&text).with_context(|| format!("{FOLDER}/{file} of {commit} is no JSON"))?;
    Ok(Some(without_void_bodies(document)))
}

/// Without bodies that have a null for content: operator.json 1.0.0 had them, and no client can send one.
fn without_void_bodies(mut document: Value) -> Value {
    let paths = document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    for operation in paths.flat_map(|item| item.as_object_mut().into_iter().flat_map(|item| item.values_mut())) {
        if let Some(operation) = operation.as_object_mut()
            && operation.get("requestBody").is_some_and(|body| body["content"].is_null())
        {
            operation.shift_remove("requestBody");
        }
    }
    document
}

/// The names of the documents that a commit has.
fn files_at(root: &Path, commit: &str) -> Vec<String> {
    let list = output(&mut command(root, "git", &["ls-tree", "--name-only", &format!("{commit}:{FOLDER}")]));
    let names = list.unwrap_or_default();
    names.lines().filter(|name| name.ends_with(".json")).map(str::to_owned).collect()
}
