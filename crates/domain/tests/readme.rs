//! The life cycle's picture in the README is the domain's table.

use lendpay_domain::offer::Status;
use std::collections::BTreeSet;

#[test]
fn the_readme_draws_every_transition_and_no_other() {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once("```mermaid\nstateDiagram-v2\n").expect("a state diagram");
    let (diagram, _) = rest.split_once("```").expect("the end of the diagram");
    let mut drawn = BTreeSet::new();
    for line in diagram.lines() {
        let (from, to) = line.trim().split_once(" --> ").expect("an arrow on every line");
        let to = to.split(" : ").next().expect("a status");
        assert!(drawn.insert((from.to_owned(), to.to_owned())), "drawn twice: {line}");
    }
    let mut table = BTreeSet::from([("[*]".to_owned(), Status::Offered.to_string())]);
    for status in Status::ALL {
        table.extend(status.successors().iter().map(|next| (status.to_string(), next.to_string())));
        if status.successors().is_empty() {
            table.insert((status.to_string(), "[*]".to_owned()));
        }
    }
    assert_eq!(drawn, table);
}
