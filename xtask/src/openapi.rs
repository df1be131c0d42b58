//! Keeps the committed documents equal to what the code makes.

use std::path::PathBuf;

use anyhow::bail;
use lendpay_api::document::Document;
use serde_json::Value;
use similar::TextDiff;
use xshell::Shell;

/// The folder of the documents, below the workspace.
const FOLDER: &str = "openapi";

/// What to do about a file that is not what the code makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write it.
    Export,
    /// Fail, show the difference and name the command that updates it.
    Check,
}

/// Writes the documents, or fails where a file differs from its document.
///
/// A JSON file in the folder that no document has is an error in both modes; it is left for a person to delete.
pub fn bring_in_line(shell: &Shell, documents: &[Document], mode: Mode) -> anyhow::Result<()> {
    let mut complaints = Vec::new();
    for document in documents {
        let name = format!("{FOLDER}/{}", document.file);
        let committed = if shell.path_exists(&name) { shell.read_file(&name)? } else { String::new() };
        if committed == document.text {
            println!("{name} is up to date");
        } else if mode == Mode::Export {
            shell.write_file(&name, &document.text)?;
            println!("{name} written");
        } else {
            let difference = difference(&name, &committed, &document.text);
            complaints.push(format!(
                "{name} is not what the code makes; `cargo xtask openapi export` updates it\n\n{difference}"
            ));
        }
    }
    for file in files(shell)? {
        let name = file.file_name().expect("what a folder lists has a name");
        if !documents.iter().any(|document| name == document.file) {
            complaints.push(format!("{FOLDER}/{} belongs to no document; delete it", name.display()));
        }
    }
    if !complaints.is_empty() {
        bail!("{}", complaints.join("\n"));
    }
    Ok(())
}

/// The operations of a document.
pub fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
    paths.filter_map(Value::as_object).flat_map(|operations| operations.values())
}

/// The JSON files in the documents' folder, in the order of their names.
pub fn files(shell: &Shell) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = shell.read_dir(FOLDER)?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    Ok(files)
}

fn difference(name: &str, committed: &str, made: &str) -> String {
    TextDiff::from_lines(committed, made)
        .unified_diff()
        .context_radius(3)
        .header(&format!("{name} (committed)"), &format!("{name} (from the code)"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell in a folder with these documents; the folder is removed with the second.
    fn workspace(files: &[(&str, &str)]) -> (Shell, xshell::TempDir) {
        let shell = Shell::new().unwrap();
        let root = shell.create_temp_dir().unwrap();
        shell.change_dir(root.path());
        shell.create_dir(FOLDER).unwrap();
        for (name, text) in files {
            shell.write_file(format!("{FOLDER}/{name}"), text).unwrap();
        }
        (shell, root)
    }

    fn document(text: &str) -> Document {
        Document { file: "partner.json", text: text.to_owned() }
    }

    fn complaint((shell, _): &(Shell, xshell::TempDir), documents: &[Document]) -> String {
        format!("{:#}", bring_in_line(shell, documents, Mode::Check).unwrap_err())
    }

    #[test]
    fn a_file_equal_to_its_document_passes() {
        let root = workspace(&[("partner.json", "{}\n"), ("CHANGELOG.md", "# Changes\n")]);
        bring_in_line(&root.0, &[document("{}\n")], Mode::Check).unwrap();
    }

    #[test]
    fn a_changed_line_is_shown_with_the_command_that_updates_the_file() {
        let root = workspace(&[("partner.json", "{\n  \"openapi\": \"3.0.0\"\n}\n")]);
        let complaint = complaint(&root, &[document("{\n  \"openapi\": \"3.0.3\"\n}\n")]);
        assert!(complaint.contains("cargo xtask openapi export"), "{complaint}");
        assert!(complaint.contains("--- openapi/partner.json (committed)\n+++ openapi/partner.json (from the code)"));
        assert!(complaint.contains("\n {\n-  \"openapi\": \"3.0.0\"\n+  \"openapi\": \"3.0.3\"\n }"), "{complaint}");
    }

    #[test]
    fn a_missing_final_newline_is_a_difference() {
        let root = workspace(&[("partner.json", "{}")]);
        assert!(complaint(&root, &[document("{}\n")]).contains("No newline at end of file"));
    }

    #[test]
    fn a_missing_file_fails_the_check_and_is_written_by_the_export() {
        let root = workspace(&[]);
        assert!(complaint(&root, &[document("{}\n")]).contains("+{}"));
        bring_in_line(&root.0, &[document("{}\n")], Mode::Export).unwrap();
        bring_in_line(&root.0, &[document("{}\n")], Mode::Check).unwrap();
        assert_eq!(root.0.read_file("openapi/partner.json").unwrap(), "{}\n");
    }

    #[test]
    fn a_file_that_no_document_has_is_named_and_kept() {
        let root = workspace(&[("partner.json", "{}\n"), ("old.json", "{}\n")]);
        assert_eq!(complaint(&root, &[document("{}\n")]), "openapi/old.json belongs to no document; delete it");
        bring_in_line(&root.0, &[document("{}\n")], Mode::Export).unwrap_err();
        assert!(root.0.path_exists("openapi/old.json"));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let root = workspace(&[("partner.json", "{}\n"), ("old.json", "{}\n")]);
        let complaint = complaint(&root, &[document("{\"a\": 1}\n")]);
        assert!(
            complaint.contains("partner.json is not what") && complaint.contains("old.json belongs"),
            "{complaint}"
        );
    }
}
