//! No bank detail, key or operator's key in what the service lets out of its hands: log, metrics, events, screens.

use crate::operator::{Both, KEY};
use crate::process::{BINARY, command};
use serde_json::json;

#[test]
fn nothing_secret_is_in_the_log_the_metrics_or_the_events() {
    let directory = tempfile::tempdir().expect("a directory");
    // Everything that any crate logs, about requests that succeed and that fail.
    let operators = directory.path().join("operators").display().to_string();
    let (named, line) = crate::operators::new_key("anna", "read");
    crate::operators::write(operators.as_ref(), &[&line], 0o600);
    let both = Both::start(&directory.path().join("data"), &["--log", "trace", "--operators-file", &operators]);
    let read = both.command(&["partner", "list"]).env("LENDPAY_OPERATOR_KEY", &named).output().expect("it runs");
    assert!(read.status.success());
    let id = both.run_json(&["partner", "add", "Northwind"])[0]["id"].as_str().expect("an id").to_owned();
    let key = both.run_json(&["key", "create", &id, "x"])[0]["key"].as_str().expect("a key").to_owned();
    let account = json!({
        "iban": "GB33BUKB20201555555555", "bic": "BUKBGB22", "sortCode": "20-20-15", "accountNumber": "55555555",
        "accountName": "Secretive Holder",
    });
    let wrong = json!({ "iban": "GB34BUKB20201555555555", "accountNumber": "5555555X", "sortCode": "20-20-15" });
    let headers = [("x-service-apikey", key.as_str()), ("idempotency-key", "once")];
    let post =
        |headers: &[(&str, &str)], body: &str| both.server.post("/payments/buyers", headers, body).expect("an answer");
    let good = json!({ "name": "Northwind Bicycles", "bankAccount": account }).to_string();
    assert_eq!(post(&headers, &good).status, 201);
    assert_eq!(post(&headers, &good).status, 201);
    assert_eq!(post(&headers, &good.replace("Bicycles", "Cars")).status, 422);
    assert_eq!(post(&headers[..1], &json!({ "bankAccount": wrong }).to_string()).status, 400);
    assert_eq!(post(&headers[..1], &good[..good.len() - 9]).status, 400);
    let last = if key.ends_with('0') { '1' } else { '0' };
    let changed = format!("{}{last}", &key[..key.len() - 1]);
    post(&[("x-service-apikey", &changed)], &good);
    post(&[("authorization", &format!("Bearer {key}"))], &good);
    for path in ["/operator/buyers", "/operator/buyers?registrationNumber=GB33BUKB20201555555555", "/operator/export"] {
        let mut answer =
            ureq::get(format!("{}{path}", both.url)).header("x-operator-key", KEY).call().expect("an answer");
        answer.body_mut().read_to_string().expect("text");
    }
    let put = ureq::put(format!("{}/operator/partners/{id}", both.url)).header("x-operator-key", KEY);
    let refused = put.config().http_status_as_error(false).build().send(format!("{{\"name\":\"{KEY}\",\"{key}\":1}}"));
    let refused = refused.expect("an answer").body_mut().read_to_string().expect("text");
    let file = directory.path().join("export").display().to_string();
    both.run(&["export", &file, "--running"]);
    let mut metrics = ureq::get(format!("{}/metrics", both.url)).call().expect("an answer");
    let metrics = metrics.body_mut().read_to_string().expect("text");
    let events = both.run(&["events", "--json"]);
    let keys = both.run(&["key", "list", &id, "--json"]);
    both.server.process.signal("TERM");
    let (status, log) = both.server.process.wait();
    assert_eq!(status.code(), Some(0));
    let requests = log.iter().filter(|line| line.contains("lendpay::request")).count();
    assert!(requests > 12 && log.iter().any(|line| line.contains("/operator/export")), "{log:#?}");
    let import = command(BINARY)
        .args(["import", &file, "--store", &format!("sled:{}", directory.path().join("two").display())])
        .output()
        .expect("the binary runs");
    assert!(import.status.success());
    let imported = String::from_utf8_lossy(&import.stderr).into_owned();

    let secrets = [
        "BUKB20201555555555",
        "BUKBGB22",
        "202015",
        "20-20-15",
        "55555555",
        "5555555X",
        "Secretive",
        key.as_str(),
        &key[8..24],
        changed.as_str(),
        KEY,
        named.as_str(),
        line.rsplit(' ').next().expect("a hash"),
    ];
    for (what, text) in [
        ("the log", log.join("\n")),
        ("the metrics", metrics),
        ("the events", events),
        ("the list of keys", keys),
        ("an error", refused),
        ("the import's screen", imported),
    ] {
        for secret in secrets {
            let at = text.find(secret).map(|at| text[at.saturating_sub(200)..].chars().take(300).collect::<String>());
            assert_eq!(at, None, "{secret} is in {what}");
        }
    }
}
