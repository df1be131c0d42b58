//! What the pages of both sides look like: one template, one style sheet, one script, all in the page.

use super::reference;
use super::texts::Text;
use crate::side::Side;
use std::fmt::Display;

const STYLE: &str = include_str!("site.css");
const SCRIPT: &str = include_str!("site.js");

/// Said on every page of a sandbox.
const OF_SANDBOX: &str = "<p class=\"sandbox\">This is a sandbox: nothing in it is real. \
    <a href=\"/sandbox\">What is in it</a></p>\n";

/// A page of a side with its body, which has a heading of level 1.
pub(crate) fn page(side: Side, path: &str, title: &str, body: &str) -> String {
    let (prefix, sandbox) = (side.pages(), side == Side::Sandbox);
    let link = |to: &str, name: &str| {
        let current = if to == path { " aria-current=\"page\"" } else { "" };
        format!("<li><a href=\"{to}\"{current}>{}</a></li>\n", escape(name))
    };
    let (start, guides): (Vec<_>, Vec<_>) = Text::of(side).iter().partition(|text| text.is_start());
    let links = |texts: &[&Text]| texts.iter().map(|text| link(&text.path(side), text.title)).collect::<String>();
    let reference = link(&reference::path(side), "Reference");
    let docs = link(&format!("{prefix}/docs"), "Swagger UI");
    let of_sandbox = if sandbox { link("/sandbox", "What is in the sandbox") } else { String::new() };
    let home = format!("{prefix}/");
    let name = if side == Side::Operator { "Lendpay operator" } else { "Lendpay" };
    let marked = if sandbox { (" data-sandbox", OF_SANDBOX) } else { ("", "") };
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"description\" content=\"{name}: {title}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title} – {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <header><a class=\"home\" href=\"{home}\">{name}</a><a class=\"contents\" href=\"#contents\">Contents</a></header>\n\
         <main id=\"content\" tabindex=\"-1\">\n{}{body}</main>\n\
         <nav id=\"contents\" aria-label=\"Contents\">\n<ul>\n{}{}{reference}{docs}{of_sandbox}</ul>\n</nav>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        marked.0,
        marked.1,
        links(&start),
        links(&guides)
    )
}

/// Text between tags, or in an attribute in double quotes.
pub(crate) fn escape(text: impl Display) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table that scrolls when it is wider than the screen.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let row = |cells: &[String; N]| format!("<tr><td>{}</td></tr>\n", cells.join("</td><td>"));
    let (head, rows) = (head.join("</th><th>"), rows.iter().map(row).collect::<String>());
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>{head}</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n"
    )
}
