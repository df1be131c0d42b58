//! An operator's day, by the command line alone.

use crate::operator::Both;
use crate::operators::{new_key, write};
use crate::process::{BINARY, Server, command};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const APPLICATION: &str = "5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21";

fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().unwrap_or_else(|| panic!("{field}: {item}"))
}

/// 1,000 offers, of which every hundredth expires before 2098.
fn offers(directory: &Path) -> String {
    let mut lines =
        "applicationId,reference,details,fundingType,offerType,annualPercentageRate,amount,expiryAt\n".to_owned();
    for n in 0..1_000 {
        let expiry = if n % 100 == 0 { "2097-12-31T12:00:00Z" } else { "2099-12-31T12:00:00Z" };
        writeln!(lines, "{APPLICATION},A-{n},Fixed rate,TermLoan,Underwritten,0.09,{n}.50,{expiry}").expect("a string");
    }
    let file = directory.join("offers.csv");
    std::fs::write(&file, lines).expect("a file");
    file.to_str().expect("UTF-8").to_owned()
}

/// A partner's request under an operation id; its status.
fn call(server: &Server, key: &str, path: &str, operation: &str, body: &str) -> u16 {
    let trace = format!("00-{operation}-00f067aa0ba902b7-01");
    server.post(path, &[("x-service-apikey", key), ("traceparent", &trace)], body).expect("an answer").status
}

#[test]
fn a_working_day() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, data) = (directory.path().join("operators"), directory.path().join("data"));
    let ((anna, anna_line), (core, core_line)) = (new_key("anna", "admin"), new_key("core-system", "lending"));
    write(&file, &[&anna_line, &core_line], 0o600);
    let both = Both::start(&data, &["--operators-file", file.to_str().expect("UTF-8")]);
    let with = |key: &str, arguments: &[&str]| -> Vec<Value> {
        let mut lendpay = both.command(arguments);
        let output = lendpay.arg("--json").env("LENDPAY_OPERATOR_KEY", key).output().expect("the binary runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).expect("UTF-8");
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };

    // A partner by name, and offers from a file, twice.
    with(&anna, &["partner", "add", "Northwind"]);
    let created =
        with(&anna, &["key", "create", "Northwind", "first", "--area", "lending", "--area", "payments"]).remove(0);
    let csv = offers(directory.path());
    for result in ["created", "unchanged"] {
        let loaded = with(&core, &["offer", "load", &csv, "--partner", "Northwind"]).remove(0);
        assert_eq!(loaded[result], 1_000, "{loaded}");
    }

    // The key is replaced under load.
    let key = Mutex::new(text(&created, "key").to_owned());
    let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let now = || key.lock().expect("no panic").clone();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let answer = both.server.post("/payments/buyers", &[("x-service-apikey", &now())], "{}");
                    assert_eq!(answer.expect("an answer").status, 201);
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let wait_for = |more: usize| {
            let wanted = answered.load(Ordering::SeqCst) + more;
            while answered.load(Ordering::SeqCst) < wanted {
                std::thread::yield_now();
            }
        };
        wait_for(20);
        let rotate = ["key", "rotate", "Northwind", text(&created, "keyId"), "--after", "7d"];
        let made = with(&anna, &rotate).remove(0);
        wait_for(20);
        text(&made, "key").clone_into(&mut key.lock().expect("no panic"));
        wait_for(20);
        over.store(true, Ordering::SeqCst);
    });

    // What became of an accepted, a refused and a malformed call.
    let [accepted, refused, malformed] = [1, 2, 3].map(|n: u128| format!("{n:032x}"));
    let soon = with(&core, &["offer", "list", "--partner", "Northwind", "--expires-before", "2098-01-01"]);
    assert_eq!(soon.len(), 10);
    let accept = |n: usize| format!("/lending/applications/{APPLICATION}/offers/{}/accept", text(&soon[n], "id"));
    with(&core, &["offer", "decline", APPLICATION, text(&soon[1], "id")]);
    assert_eq!(call(&both.server, &now(), &accept(0), &accepted, "{}"), 200);
    assert_eq!(call(&both.server, &now(), &accept(1), &refused, "{}"), 409);
    assert_eq!(call(&both.server, &now(), "/payments/buyers", &malformed, r#"{"type":"one"}"#), 400);
    let became = |operation: &str| with(&anna, &["operation", operation]).remove(0);
    assert_eq!(became(&accepted)["events"]["items"][0]["type"], "offer.accepted");
    assert_eq!(
        (&became(&refused)["calls"][0]["status"], &became(&refused)["events"]["items"]),
        (&json!(409), &json!([]))
    );
    assert_eq!(became(&malformed)["calls"][0]["errors"], json!(["type: must be an integer of 32 bits"]));

    // Who did what.
    for (kind, count, actor) in [
        ("partner.created", 1, "operator:anna"),
        ("key.created", 2, "operator:anna"),
        ("key.expiry_set", 1, "operator:anna"),
        ("application.created", 1, "operator:core-system"),
        ("offer.created", 1_000, "operator:core-system"),
        ("offer.declined", 1, "operator:core-system"),
    ] {
        let events = with(&anna, &["events", "--partner", "Northwind", "--type", kind]);
        assert_eq!(events.len(), count, "{kind}");
        assert!(events.iter().all(|event| event["actor"] == actor), "{kind}: {}", events[0]);
    }

    // Out, and in somewhere else.
    let (export, other) = (directory.path().join("export.ndjson"), directory.path().join("other"));
    let export = export.to_str().expect("UTF-8");
    let out =
        both.command(&["export", export, "--running"]).env("LENDPAY_OPERATOR_KEY", &anna).output().expect("it runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let store = format!("sled:{}", other.display());
    let import = command(BINARY).args(["import", export, "--store", &store]).output().expect("it runs");
    assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stderr));
    let restored = Both::start(&other, &[]);
    assert_eq!(restored.run_json(&["offer", "list", "--partner", "Northwind"]).len(), 1_000);
    assert_eq!(call(&restored.server, &now(), &accept(0), &accepted, "{}"), 200);
}
