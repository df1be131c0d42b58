//! The texts of the pages. `build.rs` makes them from Markdown.

use super::{life_cycle, site};
use crate::side::Side;

/// A text as a page.
pub(super) struct Text {
    /// The file's name without its ending; that of the start page is `index`.
    pub name: &'static str,
    /// Its first heading.
    pub title: &'static str,
    html: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// The start page.
const START: &str = "index";

/// Where a text wants the picture of an offer's life.
const LIFE_CYCLE: &str = "<!-- life-cycle -->";

impl Text {
    /// The texts that a side shows.
    pub fn of(side: Side) -> &'static [Self] {
        match side {
            Side::Partner | Side::Sandbox => &PARTNER,
            Side::Operator => &OPERATOR,
        }
    }

    pub fn is_start(&self) -> bool {
        self.name == START
    }

    /// Its address.
    pub fn path(&self, side: Side) -> String {
        let prefix = side.pages();
        if self.is_start() { format!("{prefix}/") } else { format!("{prefix}/guides/{}", self.name) }
    }

    /// The page.
    pub fn page(&self, side: Side) -> String {
        let body = self.html.replace(LIFE_CYCLE, &life_cycle::drawing(|_| None));
        site::page(side, &self.path(side), self.title, &body)
    }
}
