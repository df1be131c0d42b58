//! The life of an offer as a drawing: every status, the ways between them, and where the offer stands.

use crate::wire::time::Time;
use lendpay_domain::offer::Status;
use maud::{Markup, html};

/// Half the width and half the height of a box.
const HALF: (i32, i32) = (72, 26);

/// Where the middle of a status's box is.
const fn place(status: Status) -> (i32, i32) {
    match status {
        Status::Offered => (80, 130),
        Status::CustomerAccepted => (290, 40),
        Status::CustomerDeclined => (290, 130),
        Status::Expired => (290, 220),
        Status::Advanced => (490, 40),
        Status::Archived => (680, 130),
    }
}

/// The way from one status to one that may follow it.
fn way(from: Status, to: Status) -> String {
    let ((x, y), (to_x, to_y)) = (place(from), place(to));
    if y == to_y && to_x - x > 400 {
        // Around the boxes in between.
        let (bottom, low) = (y + HALF.1, y + 190);
        return format!("M{x} {bottom} C{x} {low} {to_x} {low} {to_x} {}", bottom + 4);
    }
    format!("M{} {y} L{} {to_y}", x + HALF.0, to_x - HALF.0 - 4)
}

/// The drawing. `reached` says when the offer came to a status, as far as that is known; `now` is the one that it has.
pub(super) fn drawing(now: Status, since: Time, reached: impl Fn(Status) -> Option<Time>) -> Markup {
    let short = |time: Time| time.0.format("%Y-%m-%d %H:%M").to_string();
    html! {
        div.scroll role="region" tabindex="0" aria-label="The life of the offer" {
            svg viewBox="0 0 760 300" role="img" aria-labelledby="life-title life-text" {
                title #life-title { "The life of the offer" }
                desc #life-text { "The offer is " (now) " since " (since.text()) "." }
                defs {
                    marker #arrow viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                        path d="M0 0 L8 4 L0 8 z" {}
                    }
                }
                @for from in Status::ALL {
                    @for to in from.successors() {
                        path.way d=(way(*from, *to)) marker-end="url(#arrow)" {}
                    }
                }
                @for status in Status::ALL {
                    @let (x, y) = place(*status);
                    @let at = if *status == now { Some(since) } else { reached(*status) };
                    @let class = if *status == now { "now" } else if at.is_some() { "reached" } else { "other" };
                    g class=(class) {
                        rect x=(x - HALF.0) y=(y - HALF.1) width=(2 * HALF.0) height=(2 * HALF.1) rx="6" {}
                        text x=(x) y=(if at.is_some() { y - 3 } else { y + 5 }) { (status) }
                        @if let Some(at) = at { text.small x=(x) y=(y + 15) { (short(at)) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::Timestamp;

    #[test]
    fn every_status_and_every_way_is_drawn_and_one_is_where_the_offer_stands() {
        let since = Time(Timestamp::UNIX_EPOCH);
        let ways: usize = Status::ALL.iter().map(|status| status.successors().len()).sum();
        for &now in Status::ALL {
            let drawn = drawing(now, since, |status| (status == Status::Offered).then_some(since)).into_string();
            assert_eq!(drawn.matches("class=\"way\"").count(), ways);
            assert_eq!(drawn.matches("class=\"now\"").count(), 1);
            for status in Status::ALL {
                assert!(drawn.contains(&format!(">{status}<")), "{status}");
            }
            assert!(drawn.contains(&format!("The offer is {now} since 1970-01-01T00:00:00Z.")), "{drawn}");
        }
    }

    #[test]
    fn no_boxes_overlap() {
        for (n, one) in Status::ALL.iter().enumerate() {
            for other in &Status::ALL[n + 1..] {
                let ((a, b), (c, d)) = (place(*one), place(*other));
                assert!((a - c).abs() > 2 * HALF.0 || (b - d).abs() > 2 * HALF.1, "{one} {other}");
            }
        }
    }
}
