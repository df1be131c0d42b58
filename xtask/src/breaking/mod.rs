//! What a change of a document does to those who rely on it: whether it breaks their code, and whether it is announced.

mod announced;
mod lost;
mod redocly;
mod seeded;

use anyhow::{Context, bail};
use lendpay_api::document::Document;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::command::output;

pub use seeded::self_test;

/// The folder of the documents, below the workspace.
const FOLDER: &str = "openapi";

/// Compares the documents that the code makes with those of a commit; of none, each with the one of its [`base`].
///
/// A change that breaks needs a major step of `info.version`, any change a step and an entry in the changelog.
pub fn check(shell: &Shell, documents: &[Document], commit: Option<&str>) -> anyhow::Result<()> {
    let commit = commit.map(|name| revision(shell, name).with_context(|| format!("there is no commit {name}")));
    let commit = commit.transpose()?;
    let changelog = shell.read_file(format!("{FOLDER}/CHANGELOG.md"))?;
    let mut complaints = Vec::new();
    for Document { file, text } in documents {
        let new: Value = serde_json::from_str(text).with_context(|| format!("{file} is no JSON"))?;
        let base = commit.clone().or_else(|| base(shell, file, &new));
        let Some(old) = base.as_deref().and_then(|base| at(shell, base, file)) else {
            println!("{FOLDER}/{file} is new.");
            complaints.extend(announced::entry(&changelog, file, &new));
            continue;
        };
        let base = base.unwrap_or_default();
        if old == new {
            println!("{FOLDER}/{file} is that of {base}.");
            continue;
        }
        let breaking = breaking_changes(shell, &old, &new)?;
        println!("{FOLDER}/{file} has changed since {base} in ways that break: {}.", breaking.len());
        complaints.extend(announced::step(file, &old, &new, &breaking));
        complaints.extend(announced::entry(&changelog, file, &new));
    }
    let since = commit.or_else(|| left_main(shell)).unwrap_or_else(|| "HEAD".to_owned());
    let files = output(cmd!(shell, "git ls-tree --name-only {since}:{FOLDER}")).unwrap_or_default();
    for file in files.lines().filter(|name| name.ends_with(".json")) {
        if !documents.iter().any(|document| document.file == file) {
            complaints.push(format!("{FOLDER}/{file} is gone; whoever relies on it has nothing to rely on"));
        }
    }
    if !complaints.is_empty() {
        bail!("{}", complaints.join("\n"));
    }
    Ok(())
}

/// The commit with whose document one is compared when nobody says: the first of these that there is.
///
/// 1. Where HEAD left `main`, local commits of a clone's own `main` included. However many commits change a document on the
///    way, its version is raised once.
/// 2. HEAD, while the document differs from HEAD's.
/// 3. The newest commit that has the document with another version than it has now. This is the case on `main` itself, where
///    nobody can tell which commits came together. A change without a step of the version is noticed before, by 1 or 2.
fn base(shell: &Shell, file: &str, new: &Value) -> Option<String> {
    if let Some(commit) = left_main(shell) {
        return Some(commit);
    }
    let head = revision(shell, "HEAD")?;
    if at(shell, &head, file).is_some_and(|committed| committed != *new) {
        return Some(head);
    }
    let changes = output(cmd!(shell, "git log --first-parent --format=%H -- {FOLDER}/{file}"))?;
    let other =
        |commit: &&str| at(shell, commit, file).is_some_and(|it| it["info"]["version"] != new["info"]["version"]);
    changes.lines().find(other).map(str::to_owned)
}

/// Where HEAD left `main`; none if it is on it.
fn left_main(shell: &Shell) -> Option<String> {
    let head = revision(shell, "HEAD")?;
    let main = ["origin/main", "main"];
    let left = main.into_iter().find_map(|main| output(cmd!(shell, "git merge-base HEAD {main}")));
    left.filter(|commit| *commit != head)
}

fn revision(shell: &Shell, name: &str) -> Option<String> {
    let commit = format!("{name}^{{commit}}");
    output(cmd!(shell, "git rev-parse --verify --quiet {commit}"))
}

/// A document as a commit has it.
fn at(shell: &Shell, commit: &str, file: &str) -> Option<Value> {
    let text = output(cmd!(shell, "git show {commit}:{FOLDER}/{file}"))?;
    Some(serde_json::from_str(&text).expect("a document was checked before it was committed"))
}

/// Every change that can break a client.
fn breaking_changes(shell: &Shell, old: &Value, new: &Value) -> anyhow::Result<Vec<String>> {
    Ok([redocly::breaking(shell, old, new)?, lost::breaking(old, new)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A repository whose `main` has a commit for each of these versions and bodies of a document, with another file
    /// changed in between.
    fn repository(shell: &Shell, commits: &[(&str, u32)]) {
        cmd!(shell, "git init --quiet --initial-branch main").run().unwrap();
        for (version, body) in commits {
            commit(shell, &document(version, *body));
            commit(shell, &Value::Null);
        }
    }

    fn document(version: &str, body: u32) -> Value {
        json!({ "info": { "version": version }, "body": body })
    }

    fn commit(shell: &Shell, document: &Value) -> String {
        let file = if document.is_null() { "other" } else { "openapi/partner.json" };
        let text = if document.is_null() { format!("{:?}", std::time::Instant::now()) } else { document.to_string() };
        shell.write_file(file, text).unwrap();
        cmd!(shell, "git add .").run().unwrap();
        cmd!(shell, "git -c user.name=x -c user.email=x commit --quiet -m x").run().unwrap();
        revision(shell, "HEAD").unwrap()
    }

    /// The body and version of the document that this one is compared with.
    fn compared(shell: &Shell, new: &Value) -> Option<Value> {
        at(shell, &base(shell, "partner.json", new)?, "partner.json")
    }

    #[test]
    fn on_main_a_document_is_compared_with_the_last_one_of_another_version() {
        let shell = Shell::new().unwrap();
        let folder = shell.create_temp_dir().unwrap();
        shell.change_dir(folder.path());
        // Twice changed within 1.1.0: the step was made by the first of them.
        repository(&shell, &[("1.0.0", 1), ("1.0.1", 2), ("1.1.0", 3), ("1.1.0", 4)]);
        assert_eq!(compared(&shell, &document("1.1.0", 4)), Some(document("1.0.1", 2)));
        // What is not committed is compared with HEAD, whether or not it has a step.
        assert_eq!(compared(&shell, &document("1.1.0", 5)), Some(document("1.1.0", 4)));
        assert_eq!(compared(&shell, &document("1.2.0", 5)), Some(document("1.1.0", 4)));
    }

    #[test]
    fn on_a_branch_and_before_a_push_a_document_is_compared_with_mains() {
        let shell = Shell::new().unwrap();
        let folder = shell.create_temp_dir().unwrap();
        shell.change_dir(folder.path());
        repository(&shell, &[("1.0.0", 1)]);
        let mains = revision(&shell, "HEAD").unwrap();
        cmd!(shell, "git switch --quiet --create branch").run().unwrap();
        commit(&shell, &document("1.1.0", 2));
        commit(&shell, &document("1.1.0", 3));
        for new in [document("1.1.0", 3), document("1.1.0", 4), document("1.0.0", 4)] {
            assert_eq!(compared(&shell, &new), Some(document("1.0.0", 1)), "{new}");
        }
        // A clone's own main, which is ahead of where it was cloned from.
        cmd!(shell, "git branch --quiet --force main HEAD").run().unwrap();
        cmd!(shell, "git update-ref refs/remotes/origin/main {mains}").run().unwrap();
        cmd!(shell, "git switch --quiet main").run().unwrap();
        assert_eq!(compared(&shell, &document("1.1.0", 3)), Some(document("1.0.0", 1)));
    }

    #[test]
    fn the_first_version_of_a_document_is_compared_with_none() {
        let shell = Shell::new().unwrap();
        let folder = shell.create_temp_dir().unwrap();
        shell.change_dir(folder.path());
        repository(&shell, &[("1.0.0", 1), ("1.0.0", 2)]);
        assert_eq!(compared(&shell, &document("1.0.0", 2)), None);
    }
}
