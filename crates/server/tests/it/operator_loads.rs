//! Loading files of offers from the command line.

use crate::data::fill;
use crate::operator::{Both, KEY};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

const APPLICATION: &str = "5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21";
const HEADER: &str =
    "applicationId,reference,details,fundingType,offerType,annualPercentageRate,amount,expiryAt,duration\n";

/// A file of CSV with so many offers.
fn csv(directory: &Path, count: u32) -> PathBuf {
    let mut text = HEADER.to_owned();
    for n in 1..=count {
        writeln!(text, "{APPLICATION},A-{n},\"Fixed rate, no fee\",TermLoan,Underwritten,0.0905,{n}.50,,TwoYears")
            .expect("a string");
    }
    file(directory, "offers.csv", &text)
}

fn file(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn load(both: &Both, file: &Path, more: &[&str]) -> Value {
    let arguments = [&["offer", "load", file.to_str().expect("UTF-8")], more].concat();
    both.run_json(&arguments).remove(0)
}

/// Runs a load that fails; what it told, and what it printed.
fn fails(both: &Both, file: &Path, more: &[&str]) -> (String, String) {
    let mut command = both.command(&["offer", "load", file.to_str().expect("UTF-8"), "--json"]);
    let output = command.args(more).output().expect("the binary runs");
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{told}");
    (told, String::from_utf8(output.stdout).expect("UTF-8"))
}

fn counts(created: u64, replaced: u64, unchanged: u64, failed: u64) -> Value {
    json!({ "created": created, "replaced": replaced, "unchanged": unchanged, "failed": failed })
}

fn offers(both: &Both) -> Vec<Value> {
    both.run_json(&["offer", "list", APPLICATION])
}

#[test]
fn a_file_is_loaded_twice_with_the_same_result() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(&directory.path().join("data"), &[]);
    both.run(&["partner", "add", "Northwind Platform"]);
    let file = csv(directory.path(), 1_000);
    assert_eq!(load(&both, &file, &["--partner", "northwind platform"]), counts(1_000, 0, 0, 0));
    let first = offers(&both);
    assert_eq!(first.len(), 1_000);
    both.run(&["offer", "archive", APPLICATION, first[7]["id"].as_str().expect("an id")]);
    let before = both.run_json(&["events"]);
    assert_eq!(load(&both, &file, &[]), counts(0, 0, 1_000, 0), "what is archived, too");
    assert_eq!(both.run_json(&["events"]), before, "nothing has happened");
    assert_eq!((&first[8]["details"], &first[8]["duration"]), (&json!("Fixed rate, no fee"), &json!("TwoYears")));

    // Another order, other terms for one, and one that can have none.
    let text = std::fs::read_to_string(&file).expect("a file");
    let mut lines: Vec<_> = text.lines().collect();
    let replaced = lines[3].replace("0.0905", "0.08");
    lines[3] = &replaced;
    lines[1..].reverse();
    let archived = first[7]["amount"].as_f64().expect("a number").trunc();
    let other = lines.iter().position(|line| line.contains(&format!("A-{archived},"))).expect("it is there");
    let fixed = lines[other].replace("TwoYears", "Year");
    lines[other] = &fixed;
    std::fs::write(&file, lines.join("\n")).expect("a file");
    let (told, printed) = fails(&both, &file, &[]);
    let wanted = format!("line {}: 409 Terms are fixed", other + 1);
    assert!(told.contains(&wanted) && told.contains("1 of 1000 offers were not loaded"), "{told}");
    assert_eq!(serde_json::from_str::<Value>(&printed).ok(), Some(counts(0, 1, 998, 1)));
}

/// `reference` and `offerId` lead to the same offers, in either format, and from standard input.
#[test]
fn a_line_of_json_says_the_same_as_one_of_csv() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(&directory.path().join("data"), &[]);
    both.run(&["partner", "add", "Northwind"]);
    assert_eq!(load(&both, &csv(directory.path(), 3), &["--partner", "Northwind"]), counts(3, 0, 0, 0));
    let line = |n: u32| {
        json!({
            "applicationId": APPLICATION, "reference": format!("A-{n}"), "details": "Fixed rate, no fee",
            "fundingType": "TermLoan", "offerType": "Underwritten", "annualPercentageRate": 0.0905,
            "amount": f64::from(n) + 0.5, "duration": "TwoYears",
        })
    };
    let by_reference = file(directory.path(), "offers.NDJSON", &format!("{}\n\n{}\n", line(1), line(2)));
    assert_eq!(load(&both, &by_reference, &[]), counts(0, 0, 2, 0));
    let id = offers(&both).iter().find(|offer| offer["amount"] == 3.5).expect("the third")["id"].clone();
    let mut by_id = line(3);
    by_id.as_object_mut().expect("an object").remove("reference");
    by_id["offerId"] = id;
    let by_id = file(directory.path(), "offers", &by_id.to_string());
    let (told, _) = fails(&both, &by_id, &[]);
    assert!(told.contains("say with --format"), "{told}");
    assert_eq!(load(&both, &by_id, &["--format", "ndjson"]), counts(0, 0, 1, 0));
    let mut piped = both.command(&["offer", "load", "-", "--format", "ndjson", "--json"]);
    let output = piped.stdin(std::fs::File::open(&by_id).expect("a file")).output().expect("the binary runs");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).ok(), Some(counts(0, 0, 1, 0)));
}

#[test]
fn nothing_of_a_wrong_file_is_sent() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(&directory.path().join("data"), &[]);
    both.run(&["partner", "add", "Northwind"]);
    let good = format!("{APPLICATION},A-1,-,TermLoan,Indicative,0.09,,,\n");
    let bad = format!("{APPLICATION},,SECRET,Loan,Indicative,nine,,tomorrow,\n");
    let mut text = format!("{HEADER}{good}{bad}{APPLICATION},A-3\n{good}");
    let wrong = file(directory.path(), "offers.csv", &text);
    for more in [&["--partner", "Northwind"][..], &["--dry-run"]] {
        let (told, printed) = fails(&both, &wrong, more);
        for problem in [
            "line 3: offerId: is required, or a reference that it follows from\nline 3: fundingType: must be one of TermLoan\n",
            "line 4: has 2 fields, and the first line names 9\n",
            "line 5: offerId: line 2 has the same offer\n",
            "lendpay: ",
            "offers.csv has 6 problems; nothing was sent\n",
        ] {
            assert!(told.contains(problem), "{problem}: {told}");
        }
        assert!(printed.is_empty() && !told.contains("SECRET"), "{told}");
    }
    text = text.replace(&format!("{APPLICATION},,"), &format!("{APPLICATION},A-2,"));
    for n in 0..100 {
        text.push_str(&good.replace("A-1", &format!("B-{n}")).replace("0.09", "9%"));
    }
    let (told, _) = fails(&both, &file(directory.path(), "offers.csv", &text), &[]);
    for problem in [
        "line 3: fundingType: must be one of TermLoan\n",
        "line 3: annualPercentageRate: must be a number\n",
        "line 3: expiryAt: must be an RFC 3339 date-time\n",
        "and 55 more\n",
        "has 105 problems",
    ] {
        assert!(told.contains(problem), "{problem}: {told}");
    }
    assert_eq!(told.lines().count(), 52);
    assert_eq!(both.run_json(&["application", "list"]), Vec::<Value>::new(), "nothing was sent");

    // A file that is right is only counted; the service need not be there.
    let right = csv(directory.path(), 2);
    let checked = both.command(&["offer", "load", right.to_str().expect("UTF-8"), "--dry-run", "--json"]);
    let mut checked = checked;
    checked.env("LENDPAY_OPERATOR_URL", "http://127.0.0.1:1").env_remove("LENDPAY_OPERATOR_KEY");
    let output = checked.output().expect("the binary runs");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).ok(), Some(json!({ "checked": 2 })));
    let empty = file(directory.path(), "offers.csv", HEADER);
    assert!(fails(&both, &empty, &[]).0.contains("holds no offers"));
    assert!(fails(&both, &right.with_extension("txt"), &["--format", "csv"]).0.contains("cannot be read"));
}

/// Lines whose application is not there fail by themselves; a wrong key ends the load.
#[test]
fn a_load_that_is_refused_says_why() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    fill(&data, 1);
    let both = Both::start(&data, &[]);
    let file = csv(directory.path(), 501);
    let (told, printed) = fails(&both, &file, &[]);
    let problem = "line 2: 404 Application not found: There is no application with this identifier.\n";
    assert!(told.contains(problem) && told.contains("and 451 more"), "{told}");
    assert_eq!(serde_json::from_str::<Value>(&printed).ok(), Some(counts(0, 0, 0, 501)));
    let refused = both.fails(&["offer", "load", file.to_str().expect("UTF-8")], &KEY.replace('0', "1"));
    assert!(refused.contains("401") && refused.contains("repeat the command"), "{refused}");
}

/// Prints how long that takes: `cargo test -p lendpay --test it ten_thousand_offers -- --nocapture`.
#[test]
fn ten_thousand_offers_are_loaded_in_seconds() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(&directory.path().join("data"), &[]);
    both.run(&["partner", "add", "Northwind"]);
    let file = csv(directory.path(), 10_000);
    let start = Instant::now();
    assert_eq!(load(&both, &file, &["--partner", "Northwind"]), counts(10_000, 0, 0, 0));
    let first = start.elapsed();
    assert_eq!(load(&both, &file, &[]), counts(0, 0, 10_000, 0));
    println!("10,000 offers: loaded in {first:?}, and again in {:?}", start.elapsed() - first);
}
