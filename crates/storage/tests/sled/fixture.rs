//! A store of format 1, kept as a file: whatever the program becomes, it opens it, or migrates it. The file holds every record
//! of every tree as hex, since a database of sled takes 8 MiB; the test puts them into a database below the store.

use crate::conformance::exports::{everything, one_of_everything};
use crate::conformance::samples::*;
use crate::{below, open};
use lendpay_domain::Store;
use lendpay_domain::offer::Status;
use std::fmt::Write as _;
use tempfile::TempDir;

const FORMAT_1: &str = include_str!("format-1.txt");
const TREES: [&str; 8] = ["meta", "log", "offers", "buyers", "partners", "keys", "applications", "uses"];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}

fn dump(directory: &TempDir) -> String {
    below(directory, |db| {
        let mut text = String::new();
        for tree in TREES {
            for item in &db.open_tree(tree).expect("opens") {
                let (key, value) = item.expect("works");
                writeln!(text, "{tree} {} {}", hex(&key), hex(&value)).expect("a String");
            }
        }
        text
    })
}

#[tokio::test]
async fn a_store_of_format_1_opens_and_holds_what_it_held() {
    let directory = TempDir::new().expect("a temporary directory");
    below(&directory, |db| {
        for line in FORMAT_1.lines() {
            let [tree, key, value] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            db.open_tree(tree).expect("opens").insert(bytes_of(key), bytes_of(value)).expect("works");
        }
    });
    let store = open(&directory);
    assert_eq!(types_after(&store, 0).await, ["offer.created", "offer.accepted", "buyer.created", "buyer.created"]);
    let found = store.find_offer(application(1), offer(1), at(2)).await.expect("works").expect("there");
    assert_eq!((found.status, found.status_changed_at, found.terms), (Status::CustomerAccepted, at(3), terms()));
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    let buyer = store.find_buyer(buyer_id(2)).await.expect("works").expect("there");
    assert!(buyer.description == description() && buyer.created_at == at(3));
    assert_eq!(everything(&store).await.len(), 9);
    drop(store);
    assert_eq!(dump(&directory), FORMAT_1, "opening changes nothing");
}

/// What a new store of this program is made of, for the fixture of a new format.
#[tokio::test]
#[ignore = "prints; for whoever changes the format"]
async fn print_a_fixture() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    one_of_everything(&store).await;
    drop(store);
    println!("{}", dump(&directory));
}
