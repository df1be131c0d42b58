//! What stands around every page, and what pages are put together from. Whatever is put in by `html!` is escaped.

use super::{HOME, Pairs, SIGN_OUT, STYLE};
use crate::context::Context;
use crate::failure::Failure;
use crate::operators::KnownOperator;
use crate::side::Shape;
use crate::wire::time::Time;
use chrono::TimeDelta;
use lendpay_domain::Timestamp;
use maud::{DOCTYPE, Markup, Render, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use poem::http::{HeaderValue, StatusCode};
use std::fmt::Display;
use uuid::Uuid;

/// What stands around the pages of somebody who has signed in.
pub(super) struct Frame {
    pub who: KnownOperator,
    pub token: String,
    pub now: Timestamp,
}

/// A page without its frame.
pub(super) struct Page {
    pub status: StatusCode,
    pub title: String,
    pub body: Markup,
    /// A cookie that it sets.
    pub cookie: Option<HeaderValue>,
}

impl Page {
    pub fn new(title: impl Into<String>, body: Markup) -> Self {
        Self { status: StatusCode::OK, title: title.into(), body, cookie: None }
    }

    /// Says why something was refused, with what operations answer then.
    pub fn of_failure(failure: &Failure, context: &Context) -> Self {
        let told = failure.body(Shape::Operator, context.operation, context.at);
        let body = html! {
            p.problem role="alert" { (told.message) }
            @if !told.errors.is_empty() { ul { @for error in &told.errors { li { (error) } } } }
            p { "Operation " code { (told.operation_id) } }
            p { a href=(HOME) { "Back to the search" } }
        };
        Self::new(told.title, body)
    }

    /// The whole document.
    pub fn render(self, frame: Option<&Frame>) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="description" content="The console of those who operate Lendpay";
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href=(STYLE);
                    title { (self.title) " – Lendpay console" }
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    @if let Some(frame) = frame { (bar(frame)) }
                    main #main {
                        h1 { (self.title) }
                        (self.body)
                    }
                }
            }
        }
    }
}

fn bar(frame: &Frame) -> Markup {
    let yesterday = (frame.now - TimeDelta::days(1)).format("%Y-%m-%d");
    html! {
        header {
            a.brand href=(HOME) { "Lendpay" }
            nav aria-label="Lists" {
                a href={ (HOME) "/partners" } { "Partners" }
                a href={ (HOME) "/buyers" } { "Buyers" }
                a href={ (HOME) "/events?from=" (yesterday) } { "Events" }
            }
            form role="search" method="get" action={ (HOME) "/search" } {
                input name="q" type="search" required maxlength="256" aria-label="Search"
                    placeholder="Id, partner’s name or registration number";
                button type="submit" { "Search" }
            }
            form.who method="post" action=(SIGN_OUT) {
                (hidden("token", &frame.token))
                span { (frame.who.actor) " (" (frame.who.role) ")" }
                button type="submit" { "Sign out" }
            }
        }
    }
}

/// A field of a form that nobody sees.
pub(super) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A value, or that there is none.
pub(super) fn maybe(value: &Option<impl Render>) -> Markup {
    html! { @if let Some(value) = value { (value) } @else { span.none { "none" } } }
}

/// A moment, to the second.
pub(super) fn time(time: Time) -> Markup {
    html! { time datetime=(time.text()) { (time.0.format("%Y-%m-%d %H:%M:%S")) " UTC" } }
}

/// A moment and how far away it is, or that there is none.
pub(super) fn distance(time: Option<Time>, now: Timestamp) -> Markup {
    let Some(time) = time else { return maybe(&None::<&str>) };
    let far = (time.0 - now).abs();
    let (count, unit) = match (far.num_days(), far.num_hours(), far.num_minutes()) {
        (0, 0, minutes) => (minutes, "minute"),
        (0, hours, _) => (hours, "hour"),
        (days, ..) => (days, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    html! {
        (self::time(time)) " "
        span.none {
            @if time.0 > now { "in " (count) " " (unit) (plural) } @else { (count) " " (unit) (plural) " ago" }
        }
    }
}

/// A name and its value, one below the other.
pub(super) fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! { dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}

/// A form with the filters of a list, each with its name, what it is called and its kind, and with what it has now.
pub(super) fn filters(path: &str, first: Option<Markup>, fields: &[(&str, &str, &str)], query: &Pairs) -> Markup {
    html! {
        form.filters method="get" action={ (HOME) "/" (path) } {
            @if let Some(first) = first { (first) }
            @for (name, label, kind) in fields {
                div {
                    label for=(name) { (label) }
                    input id=(name) name=(name) type=(kind) value=(query.get(name));
                }
            }
            button type="submit" { "Show" }
        }
    }
}

/// A table with a name, or that it has no rows.
pub(super) fn table(name: &str, heads: &[&str], rows: impl Iterator<Item = Vec<Markup>>) -> Markup {
    let mut rows = rows.peekable();
    html! {
        h2 { (name) }
        @if rows.peek().is_none() {
            p.none { "None." }
        } @else {
            div.scroll role="region" tabindex="0" aria-label=(name) {
                table {
                    thead { tr { @for head in heads { th scope="col" { (head) } } } }
                    tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
                }
            }
        }
    }
}

/// Leads to the next page of a list, if there is one: to an address with these parameters and `after`.
pub(super) fn more(next: &Option<String>, path: &str, query: &[(&str, &str)]) -> Markup {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    html! {
        @if let Some(next) = next {
            @let rest = query.iter().map(|(name, value)| format!("&{name}={}", encoded(value))).collect::<String>();
            p { a href={ (path) "?after=" (encoded(next)) (rest) } { "Next page" } }
        }
    }
}

/// A link to a page of the console.
pub(super) fn link(path: impl Display, text: impl Render) -> Markup {
    html! { a href={ (HOME) "/" (path) } { (text) } }
}

/// Links to things by their ids.
pub(super) fn partner(id: Uuid) -> Markup {
    link(format_args!("partners/{id}"), id.to_string())
}

pub(super) fn application(id: Uuid) -> Markup {
    link(format_args!("applications/{id}"), id.to_string())
}

pub(super) fn offer(application: Uuid, id: Uuid) -> Markup {
    link(format_args!("applications/{application}/offers/{id}"), id.to_string())
}

pub(super) fn buyer(id: Uuid) -> Markup {
    link(format_args!("buyers/{id}"), id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_says_how_far_away_it_is() {
        let at = |seconds| Timestamp::from_timestamp(seconds, 0).expect("in range");
        let far = |seconds| distance(Some(Time(at(seconds))), at(1_000_000)).into_string();
        for (seconds, said) in [
            (1_000_000, "0 minutes ago"),
            (999_930, "1 minute ago"),
            (1_000_000 + 7_200, "in 2 hours"),
            (1_000_000 - 3 * 86_400 - 5, "3 days ago"),
        ] {
            assert!(far(seconds).contains(&format!(">{said}<")), "{}", far(seconds));
        }
        assert!(distance(None, at(0)).into_string().contains("none"));
    }

    #[test]
    fn the_next_page_keeps_its_filters() {
        let next = more(&Some("a:b".to_owned()), "/x", &[("name", "a&b \"c\"")]).into_string();
        assert_eq!(next, r#"<p><a href="/x?after=a%3Ab&amp;name=a%26b%20%22c%22">Next page</a></p>"#);
    }
}
