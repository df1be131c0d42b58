//! What the commands print: tables and records for people; JSON, one object a line, or CSV for scripts.

use crate::printable;
use rustix::termios::tcgetwinsize;
use serde_json::Value;
use std::io::{self, Write as _};
use unicode_width::UnicodeWidthStr as _;

/// A field of what is printed.
pub struct Column {
    heading: &'static str,
    /// With dots for what is inside an object.
    field: &'static str,
    in_tables: bool,
}

/// A column of tables.
pub const fn column(heading: &'static str, field: &'static str) -> Column {
    Column { heading, field, in_tables: true }
}

/// A field that only records and CSV have.
pub const fn detail(heading: &'static str, field: &'static str) -> Column {
    Column { heading, field, in_tables: false }
}

/// The fields of a kind of item.
pub type Columns = &'static [Column];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for each item, under one heading.
    Table,
    /// A line for each field.
    Record,
    /// JSON, an item a line.
    Json,
    /// CSV (RFC 4180), with the names of the fields in the first line.
    Csv,
}

impl Format {
    /// JSON if it is wanted.
    pub const fn json_or(json: bool, other: Self) -> Self {
        if json { Self::Json } else { other }
    }
}

/// Prints items as they come. Where a table is wider than the terminal, each item becomes a record.
pub struct Screen {
    format: Format,
    columns: Vec<&'static Column>,
    /// Whether the heading was printed.
    begun: bool,
    /// The widths of the columns, which grow with what is printed.
    widths: Vec<usize>,
    /// The width of the terminal, if there is one.
    room: Option<usize>,
}

impl Screen {
    pub fn new(format: Format, columns: Columns) -> Self {
        let room = tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|room| *room > 0);
        let columns: Vec<_> = columns.iter().filter(|column| column.in_tables || format != Format::Table).collect();
        let widths = columns.iter().map(|column| column.heading.len()).collect();
        Self { format, columns, begun: false, widths, room }
    }

    /// Prints some items.
    pub fn show(&mut self, items: &[Value]) -> Result<(), String> {
        if items.is_empty() {
            return Ok(());
        }
        match self.format {
            Format::Table => self.table(items),
            Format::Record => print(&self.records(items)),
            Format::Json => print(&items.iter().map(|item| format!("{}\n", printable::json(item))).collect::<String>()),
            Format::Csv => self.csv(items),
        }
    }

    /// Prints the heading of a list without items.
    pub fn finish(&mut self) -> Result<(), String> {
        match self.format {
            _ if self.begun => Ok(()),
            Format::Table => self.table(&[]),
            Format::Csv => self.csv(&[]),
            Format::Record | Format::Json => Ok(()),
        }
    }

    fn cells<'a>(&'a self, item: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.columns.iter().map(|column| column.of(item))
    }

    fn table(&mut self, items: &[Value]) -> Result<(), String> {
        let is_first = !std::mem::replace(&mut self.begun, true);
        let rows: Vec<Vec<String>> = items.iter().map(|item| self.cells(item).map(cell).collect()).collect();
        for row in &rows {
            self.widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.width()));
        }
        let width = self.widths.iter().sum::<usize>() + 2 * (self.widths.len() - 1);
        if self.room.is_some_and(|room| room < width) {
            return print(&self.records(items));
        }
        // Numbers stand below each other, at the right.
        let right: Vec<_> =
            self.columns.iter().map(|column| items.iter().any(|item| column.of(item).is_number())).collect();
        let headings: Vec<_> = self.columns.iter().map(|column| column.heading.to_owned()).collect();
        let lines = is_first.then_some(&headings).into_iter().chain(&rows);
        print(&lines.map(|row| self.line(row, &right)).collect::<String>())
    }

    fn line(&self, row: &[String], right: &[bool]) -> String {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(&self.widths).zip(right) {
            let room = " ".repeat(width - cell.width());
            line.push_str(&if *right { format!("{room}{cell}  ") } else { format!("{cell}{room}  ") });
        }
        format!("{}\n", line.trim_end())
    }

    fn records(&self, items: &[Value]) -> String {
        let longest = self.columns.iter().map(|column| column.heading.len()).max().expect("items have fields");
        let mut text = String::new();
        for item in items {
            for (column, value) in self.columns.iter().zip(self.cells(item)) {
                text.push_str(&format!("{:longest$}  {}\n", column.heading, cell(value)));
            }
            text.push('\n');
        }
        text
    }

    fn csv(&mut self, items: &[Value]) -> Result<(), String> {
        let mut lines = csv::Writer::from_writer(Vec::new());
        if !std::mem::replace(&mut self.begun, true) {
            lines.write_record(self.columns.iter().map(|column| column.field)).expect("a Vec takes everything");
        }
        for item in items {
            let cells = self.cells(item).map(|value| if value.is_null() { String::new() } else { cell(value) });
            lines.write_record(cells).expect("a Vec takes everything, and all lines have the same fields");
        }
        let text = lines.into_inner().expect("a Vec takes everything");
        print(&String::from_utf8(text).expect("it was made of strings"))
    }
}

impl Column {
    /// The value of the field; null where an object on the way is null.
    fn of<'a>(&self, item: &'a Value) -> &'a Value {
        self.field.split('.').fold(item, |value, name| &value[name])
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

/// Prints to standard output. A reader that has gone away ends the command.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.map_err(|error| format!("standard output cannot be written: {error}")),
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

    #[test]
    fn lines_of_a_table_join_whatever_the_width_of_their_letters() {
        const COLUMNS: Columns = &[column("NAME", "name"), column("SUM", "sum"), detail("IBAN", "account.iban")];
        let mut screen = Screen::new(Format::Table, COLUMNS);
        (screen.widths, screen.room) = (vec![10, 8], None);
        let line = |name: &str, sum: &str| screen.line(&[name.to_owned(), sum.to_owned()], &[false, true]);
        assert_eq!(line("Northwind", "25000.55"), "Northwind   25000.55\n");
        assert_eq!(line("北風", "9"), "北風               9\n", "two columns each");
        let item = json!({ "name": "x", "sum": 1.5, "account": null });
        let record = Screen::new(Format::Record, COLUMNS);
        assert_eq!(record.records(std::slice::from_ref(&item)), "NAME  x\nSUM   1.5\nIBAN  -\n\n");
    }
}
