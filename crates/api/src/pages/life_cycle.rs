//! The life of an offer as a picture, drawn from the domain's table: of any offer, or of one that stands somewhere.

use lendpay_domain::offer::Status;

/// A box, and how far the centres of neighbours are apart.
const BOX: (i32, i32) = (150, 40);
const APART: (i32, i32) = (170, 100);

/// To the right of all boxes, for arrows that boxes are in the way of.
const MARGIN: i32 = 515;

/// The column and the row of a status.
const fn place(status: Status) -> (i32, i32) {
    match status {
        Status::Offered => (1, 0),
        Status::CustomerAccepted => (0, 1),
        Status::CustomerDeclined => (1, 1),
        Status::Expired => (2, 1),
        Status::Advanced => (0, 2),
        Status::Archived => (1, 3),
    }
}

const fn centre(status: Status) -> (i32, i32) {
    let (column, row) = place(status);
    (85 + APART.0 * column, 25 + APART.1 * row)
}

/// What leads to a status. An arrow without a label is an archiving.
const fn label(to: Status) -> &'static str {
    match to {
        Status::CustomerAccepted => "accept",
        Status::CustomerDeclined => "decline",
        Status::Expired => "time is over",
        Status::Advanced => "pay out",
        Status::Archived | Status::Offered => "",
    }
}

fn arrow(from: Status, to: Status) -> String {
    let ((column, row), (to_column, to_row)) = (place(from), place(to));
    let ((x, y), (to_x, to_y)) = (centre(from), centre(to));
    let between = |status: &Status| place(*status).0 == column && (row + 1..to_row).contains(&place(*status).1);
    let path = if column == to_column && Status::ALL.iter().any(between) {
        format!("M{} {y}H{MARGIN}V{to_y}H{}", x + BOX.0 / 2, to_x + BOX.0 / 2)
    } else {
        // Arrows that come from farther end nearer to the middle.
        let (side, near) = ((to_column - column).signum(), 60 - 20 * (to_row - row));
        format!("M{} {}L{} {}", x + side * 50, y + BOX.1 / 2, to_x - side * near, to_y - BOX.1 / 2)
    };
    let (middle, height) = ((x + to_x) / 2, (y + to_y) / 2 + 4);
    let (anchor, at) =
        if to_column > column { ("start", middle + 24) } else { ("end", middle - 10 - 14 * (column - to_column)) };
    let (class, text) = match label(to) {
        "" => (" class=\"archive\"", String::new()),
        label => ("", format!("<text x=\"{at}\" y=\"{height}\" text-anchor=\"{anchor}\">{label}</text>")),
    };
    format!("<path d=\"{path}\"{class} marker-end=\"url(#head)\"/>{text}")
}

/// What the picture says of a status of one offer.
pub(crate) struct Mark {
    /// Of the box and its texts.
    pub class: &'static str,
    /// Since when.
    pub since: String,
}

fn status(status: Status, mark: Option<Mark>) -> String {
    let ((x, y), (width, height)) = (centre(status), BOX);
    let (left, top) = (x - width / 2, y - height / 2);
    let (name_at, since_at) = if mark.is_some() { (y - 2, y + 14) } else { (y + 5, y) };
    let since = |mark: &Mark| format!("<text x=\"{x}\" y=\"{since_at}\" text-anchor=\"middle\">{}</text>", mark.since);
    format!(
        "<g class=\"{}\"><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\
         <text class=\"name\" x=\"{x}\" y=\"{name_at}\" text-anchor=\"middle\">{status}</text>{}</g>",
        mark.as_ref().map_or("any", |mark| mark.class),
        mark.as_ref().map_or_else(String::new, since)
    )
}

/// The picture, with its content in words for those who do not see it. Marks say where an offer stands and has been.
pub(crate) fn drawing(mark: impl Fn(Status) -> Option<Mark>) -> String {
    let steps = || Status::ALL.iter().flat_map(|from| from.successors().iter().map(move |to| (*from, *to)));
    let words: Vec<_> = steps().map(|(from, to)| format!("{from} to {to}")).collect();
    let arrows: String = steps().map(|(from, to)| arrow(from, to)).collect();
    let boxes: String = Status::ALL.iter().map(|each| status(*each, mark(*each))).collect();
    format!(
        "<figure class=\"drawing\"><svg viewBox=\"0 0 525 350\" role=\"img\" aria-labelledby=\"life life-steps\">\
         <title id=\"life\">The life of an offer</title><desc id=\"life-steps\">Steps: {}.</desc>\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>{arrows}{boxes}</svg>\
         <figcaption>A new offer is Offered. Dashed: the lender archives the offer.</figcaption></figure>\n",
        words.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_the_table_is_drawn_and_no_box_hides_another() {
        let drawing =
            drawing(|status| (status == Status::Expired).then(|| Mark { class: "now", since: "today".to_owned() }));
        assert_eq!((drawing.matches("now").count(), drawing.matches(">today<").count()), (1, 1));
        let steps: usize = Status::ALL.iter().map(|status| status.successors().len()).sum();
        assert_eq!(drawing.matches("marker-end").count(), steps);
        assert!(drawing.contains("Offered to CustomerAccepted, ") && drawing.contains("Advanced to Archived"));
        for (n, status) in Status::ALL.iter().enumerate() {
            assert!(Status::ALL[..n].iter().all(|other| place(*other) != place(*status)), "{status}");
            for next in status.successors() {
                assert!(place(*next).1 > place(*status).1, "{status} to {next}: arrows lead down");
                assert_eq!(label(*next).is_empty(), *next == Status::Archived, "{next}");
            }
        }
    }
}
