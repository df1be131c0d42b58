//! What the commands print: a table for people, or JSON, one object a line, for scripts.

use crate::printable;
use rustix::termios::tcgetwinsize;
use serde_json::Value;
use std::io::{self, Write as _};

/// The columns of a table: the heading and the field.
pub type Columns = &'static [(&'static str, &'static str)];

/// Prints items as they come: under one heading, or, where a table is wider than the terminal, each as lines of its
/// own. A reader that has gone away ends the command.
pub struct Screen {
    json: bool,
    columns: Columns,
    widths: Vec<usize>,
    /// The width of the terminal, if there is one.
    room: Option<usize>,
}

impl Screen {
    pub fn new(json: bool, columns: Columns) -> Self {
        let room = tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|room| *room > 0);
        Self { json, columns, widths: Vec::new(), room }
    }

    /// Prints some items.
    pub fn show(&mut self, items: &[Value]) -> Result<(), String> {
        let mut text = String::new();
        if self.json {
            items.iter().for_each(|item| text.push_str(&format!("{}\n", printable::json(item))));
            return print(&text);
        }
        let rows: Vec<Vec<String>> =
            items.iter().map(|item| self.columns.iter().map(|(_, field)| cell(&item[field])).collect()).collect();
        let headings: Vec<_> = self.columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        let is_first = self.widths.is_empty();
        if is_first {
            let width = |n: usize| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
            self.widths = headings.iter().enumerate().map(|(n, heading)| width(n).max(heading.len())).collect();
        }
        let width = self.widths.iter().sum::<usize>() + 2 * (self.widths.len() - 1);
        if self.room.is_some_and(|room| room < width) {
            let longest = headings.iter().map(String::len).max().unwrap_or(0);
            for row in &rows {
                headings
                    .iter()
                    .zip(row)
                    .for_each(|(heading, cell)| text.push_str(&format!("{heading:longest$}  {cell}\n")));
                text.push('\n');
            }
            return print(&text);
        }
        if is_first {
            text.push_str(&self.line(&headings));
        }
        for row in &rows {
            text.push_str(&self.line(row));
        }
        print(&text)
    }

    fn line(&self, row: &[String]) -> String {
        let cells: Vec<_> = row.iter().zip(&self.widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => printable::line(text),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(","),
        // Whole amounts without their ".0".
        Value::Number(number) if number.is_f64() => number.as_f64().expect("it is one").to_string(),
        other => other.to_string(),
    }
}

fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.map_err(|error| format!("standard output cannot be written: {error}")),
    }
}

/// Reads a list to its end and prints it, page by page.
pub fn list(screen: &mut Screen, read: impl Fn(&str) -> Result<Value, String>) -> Result<(), String> {
    let mut query = "?limit=500".to_owned();
    loop {
        let mut page = read(&query)?;
        let Value::Array(items) = page["items"].take() else { return Err("the service answered no list".to_owned()) };
        screen.show(&items)?;
        match page["next"].as_str() {
            Some(next) => query = format!("?limit=500&after={next}"),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_is_one_line() {
        assert_eq!(cell(&json!("a\u{1b}[2Jb\n")), "a [2Jb ");
        assert_eq!(cell(&json!(["lending", "payments"])), "lending,payments");
        assert_eq!((cell(&Value::Null), cell(&json!(0.09))), ("-".to_owned(), "0.09".to_owned()));
        assert_eq!([json!(25_000.0), json!(25_000.55), json!(41)].map(|it| cell(&it)), ["25000", "25000.55", "41"]);
    }
}
