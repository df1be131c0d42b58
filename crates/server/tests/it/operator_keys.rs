//! Rotating a key from the command line.

use crate::operator::{Both, KEY};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().unwrap_or_else(|| panic!("{field}: {item}"))
}

fn status(both: &Both, key: &str) -> u16 {
    both.server.post("/payments/buyers", &[("x-service-apikey", key)], "{}").expect("an answer").status
}

#[test]
fn a_key_is_rotated_without_a_refused_call() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    both.run(&["partner", "add", "Northwind"]);
    let created = both.run_json(&["key", "create", "Northwind", "Production", "--area", "payments"]).remove(0);
    let (old, old_id) = (text(&created, "key"), text(&created, "keyId"));

    // Left for a revocation by hand.
    let output = both.command(&["key", "rotate", "Northwind", old_id, "--json"]).output().expect("the binary runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("lendpay key revoke") && told.contains(old_id), "{told}");
    let second: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&second["name"], &second["areas"], &second["expiresAt"]),
        (&created["name"], &created["areas"], &Value::Null)
    );
    assert_eq!([old, text(&second, "key")].map(|key| status(&both, key)), [201, 201]);

    // Both work while the command waits; stopped before its time, it revokes nothing.
    let mut waiting = both.command(&["key", "rotate", "northwind", old_id, "--after", "1d", "--json"]);
    let mut waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
    let mut printed = BufReader::new(waiting.stdout.take().expect("piped")).lines();
    let third = printed.next().expect("a line, before the wait").expect("UTF-8");
    let third: Value = serde_json::from_str(&third).expect("JSON");
    assert_eq!([old, text(&third, "key")].map(|key| status(&both, key)), [201, 201]);
    assert!(waiting.try_wait().expect("a child").is_none(), "it waits");
    waiting.kill().expect("it runs");
    waiting.wait().expect("it ends");
    assert_eq!(status(&both, old), 201);

    // Revoked by the command.
    let rotate = ["key", "rotate", "Northwind", old_id, "--after", "1s", "--expires", "2099-01-01"];
    let fourth = both.run_json(&rotate).remove(0);
    assert_eq!(text(&fourth, "expiresAt"), "2099-01-01T00:00:00Z");
    assert_eq!([old, text(&fourth, "key")].map(|key| status(&both, key)), [401, 201]);

    // A key that only reads is replaced by one that only reads.
    let narrow = both.run_json(&["key", "create", "Northwind", "Reports", "--read-only"]).remove(0);
    assert_eq!((status(&both, text(&narrow, "key")), &narrow["access"]), (403, &json!("read")));
    let rotated = both.run_json(&["key", "rotate", "Northwind", text(&narrow, "keyId")]).remove(0);
    assert_eq!((status(&both, text(&rotated, "key")), &rotated["access"]), (403, &json!("read")));

    let problem = both.fails(&["key", "rotate", "Northwind", old_id], KEY);
    assert!(problem.contains("was revoked at"), "{problem}");
    let unknown = lendpay_api::uuid().to_string();
    let problem = both.fails(&["key", "rotate", "Northwind", &unknown], KEY);
    assert!(problem.contains(&format!("the partner has no key {unknown}")), "{problem}");
    assert_eq!(both.run_json(&["key", "list", "Northwind"]).len(), 6, "what was refused made no key");
    let refused = both.command(&["key", "rotate", "Northwind", old_id, "--after", "7"]).output().expect("it runs");
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("such as 90s"));
}
