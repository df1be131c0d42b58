//! Rotating a key from the command line.

use crate::operator::{Both, KEY};
use serde_json::{Value, json};
use std::time::Duration;

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

    // Both work until the time is over, which the service keeps.
    let third = both.run_json(&["key", "rotate", "northwind", old_id, "--after", "1d"]).remove(0);
    assert_eq!([old, text(&third, "key")].map(|key| status(&both, key)), [201, 201]);
    let listed = |id: &str| both.run_json(&["key", "list", "Northwind"]).into_iter().find(|key| key["keyId"] == *id);
    let in_a_day = listed(old_id).expect("it is there")["expiresAt"].clone();
    assert!(in_a_day.is_string());

    // An earlier end comes in its place; then it is refused, and the new one works.
    let rotate = ["key", "rotate", "Northwind", old_id, "--after", "2s", "--expires", "2099-01-01"];
    let fourth = both.run_json(&rotate).remove(0);
    assert_eq!(text(&fourth, "expiresAt"), "2099-01-01T00:00:00Z");
    assert!(text(&listed(old_id).expect("it is there"), "expiresAt") < in_a_day.as_str().expect("a time"));
    while status(&both, old) == 201 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!([old, text(&fourth, "key")].map(|key| status(&both, key)), [401, 201]);
    let output = both.command(&["key", "rotate", "Northwind", old_id, "--after", "1d"]).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("as it is"), "{told}");

    // The same without another key.
    both.run(&["key", "revoke", "Northwind", text(&third, "keyId"), "--after", "7d"]);
    assert!(listed(text(&third, "keyId")).expect("it is there")["expiresAt"].is_string());
    let problem = both.fails(&["key", "revoke", "Northwind", text(&third, "keyId"), "--after", "8d"], KEY);
    assert!(problem.contains("409 Key ends earlier"), "{problem}");
    both.run(&["key", "revoke", "Northwind", old_id]);

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
    assert_eq!(both.run_json(&["key", "list", "Northwind"]).len(), 7, "what was refused made no key");
    let refused = both.command(&["key", "rotate", "Northwind", old_id, "--after", "7"]).output().expect("it runs");
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("such as 90s"));
}
