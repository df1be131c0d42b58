//! What became of the clients: a table in openapi/README.md, which is made from the service's log while they are
//! tested.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;
use xshell::Shell;

use super::{Client, DOCUMENT};
use crate::openapi::Mode;

const README: &str = "openapi/README.md";
const BEGIN: &str = "<!-- clients: begin -->\n";
const END: &str = "<!-- clients: end -->";

/// What a client has called and met.
pub struct Row<'a> {
    client: &'a Client,
    operations: BTreeSet<String>,
    statuses: BTreeSet<u64>,
}

impl<'a> Row<'a> {
    /// From lines of the service's log.
    pub fn of(client: &'a Client, log: &str, document: &Value) -> Self {
        let (operations, statuses) = Self::met(log, document);
        Self { client, operations, statuses }
    }

    /// The operations that were called, and what they answered.
    pub fn met(log: &str, document: &Value) -> (BTreeSet<String>, BTreeSet<u64>) {
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let (mut operations, mut statuses) = (BTreeSet::new(), BTreeSet::new());
        for line in lines.filter(|line| line["target"] == "lendpay::request") {
            let (route, method) = (line["route"].as_str(), line["method"].as_str().unwrap_or_default().to_lowercase());
            let operation = route.and_then(|route| document["paths"][route][&method]["operationId"].as_str());
            if let (Some(operation), Some(status)) = (operation, line["status"].as_u64()) {
                operations.insert(operation.to_owned());
                statuses.insert(status);
            }
        }
        (operations, statuses)
    }

    fn text(&self) -> String {
        let Client { name, generator, strict, .. } = self.client;
        let statuses: Vec<_> = self.statuses.iter().map(u64::to_string).collect();
        let operations = self.operations.len();
        format!("| `{name}` | {generator} | {strict} | {operations} | {} |\n", statuses.join(", "))
    }
}

/// The document as a value.
pub fn document(shell: &Shell) -> anyhow::Result<Value> {
    serde_json::from_str(&shell.read_file(DOCUMENT)?).context("the document is no JSON")
}

/// Writes the table, or fails where it is not what the run has found.
pub fn bring_in_line(shell: &Shell, rows: &[Row<'_>], mode: Mode) -> anyhow::Result<()> {
    let head = "| client | generator | compiled and checked with | operations called | statuses met |\n|---|---|---|---|---|\n";
    let table = rows.iter().fold(head.to_owned(), |table, row| table + &row.text());
    let readme = shell.read_file(README)?;
    let found = replaced(&readme, &table).with_context(|| format!("{README} has no place for the clients"))?;
    if found == readme {
        println!("{README} says what the clients have met.");
    } else if mode == Mode::Export {
        shell.write_file(Path::new(README), &found)?;
        println!("{README} written");
    } else {
        bail!("{README} does not say what the clients have met; `cargo xtask sdk results` updates it\n\n{table}");
    }
    Ok(())
}

/// A text with another table between the marks.
fn replaced(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_tells_what_the_log_tells() {
        let document = json!({ "paths": { "/events": { "get": { "operationId": "ListEvents" } } } });
        let log = "starting\n{\"target\":\"lendpay::request\",\"route\":\"/events\",\"method\":\"GET\",\"status\":200}\n\
                   {\"target\":\"lendpay::request\",\"route\":\"/events\",\"method\":\"GET\",\"status\":401}\n\
                   {\"target\":\"lendpay::request\",\"route\":\"-\",\"method\":\"GET\",\"status\":404}\n";
        let row = Row::of(&super::super::CLIENTS[0], log, &document);
        assert!(row.text().ends_with("| 1 | 200, 401 |\n"), "{}", row.text());
    }

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let text = format!("a\n{BEGIN}old\n{END}\nb\n");
        assert_eq!(replaced(&text, "new\n"), Some(format!("a\n{BEGIN}new\n{END}\nb\n")));
        assert_eq!(replaced("nothing", "new"), None);
    }
}
