//! Reading lists to their end.

use super::Access;
use super::http::Client;
use super::screen::{Columns, Format, Screen};
use clap::Args;
use serde_json::Value;

/// The most items of a page (contract 2.13).
const PAGE: u64 = 500;

/// What every list takes.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// No more than this many; without it, all of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Print JSON, one item a line.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV, with the names of the fields in the first line.
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    pub access: Access,
}

impl ListOptions {
    pub const fn format(&self) -> Format {
        match (self.json, self.csv) {
            (true, _) => Format::Json,
            (false, true) => Format::Csv,
            (false, false) => Format::Table,
        }
    }
}

/// Filters of a list: the name, and the value if it is wanted.
pub type Filters<'a> = &'a [(&'static str, Option<String>)];

/// Prints a list.
pub fn list(
    client: &Client,
    path: &str,
    filters: Filters<'_>,
    options: &ListOptions,
    columns: Columns,
) -> Result<(), String> {
    let mut screen = Screen::new(options.format(), columns);
    pages(client, path, filters, None, options.limit.unwrap_or(u64::MAX), |items| screen.show(items))?;
    screen.finish()
}

/// Hands on the items of a list, page by page, to its end or to the limit.
pub fn pages(
    client: &Client,
    path: &str,
    filters: Filters<'_>,
    mut after: Option<String>,
    mut left: u64,
    mut take: impl FnMut(&[Value]) -> Result<(), String>,
) -> Result<(), String> {
    loop {
        let page = client.get(&address(path, filters, after.as_deref(), left))?;
        let items = items(&page)?;
        take(items)?;
        left = left.saturating_sub(items.len().try_into().expect("a page has few items"));
        match page["next"].as_str() {
            Some(next) if left > 0 => after = Some(next.to_owned()),
            _ => return Ok(()),
        }
    }
}

/// The address of a page.
pub fn address(path: &str, filters: Filters<'_>, after: Option<&str>, left: u64) -> String {
    let mut query = url::form_urlencoded::Serializer::new(format!("{path}?"));
    query.extend_pairs(filters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))));
    query.extend_pairs(after.map(|after| ("after", after)));
    query.append_pair("limit", &left.min(PAGE).to_string()).finish()
}

/// The items of a page.
pub fn items(page: &Value) -> Result<&[Value], String> {
    page["items"].as_array().map(Vec::as_slice).ok_or_else(|| "the service answered no list".to_owned())
}
