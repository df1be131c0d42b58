//! Endpoints of webhooks from the command line.

use crate::operator::{Both, KEY};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A file with keys that this user alone can read.
pub fn keys(directory: &Path, lines: &str) -> PathBuf {
    let file = directory.join("secrets.key");
    std::fs::write(&file, lines).expect("a file");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
    file
}

fn start(directory: &Path, keys: &Path) -> Both {
    Both::start(&directory.join("data"), &["--secrets-key-file", keys.to_str().expect("UTF-8")])
}

#[test]
fn an_endpoint_is_looked_after_from_the_command_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = start(directory.path(), &keys(directory.path(), &"5a".repeat(32)));
    both.run(&["partner", "add", "Northwind"]);
    // An address that is not allowed: nothing is sent.
    let url = "https://127.0.0.1:9/hooks";
    let add = ["webhook", "add", url, "--partner", "northwind", "--type", "offer.accepted,buyer.created"];
    let made = both.run_json(&add).remove(0);
    let endpoint = made["endpointId"].as_str().expect("an id");
    assert!(made["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{made}");
    both.run(&["webhook", "add", "https://core.example/events", "--at-once", "1", "--after", "0"]);
    let of = |what: &str| both.run_json(&["webhook", what, endpoint]).remove(0);
    assert_eq!((&of("pause")["state"], &of("resume")["state"]), (&json!("paused"), &json!("active")));
    assert_ne!(of("rotate")["secret"], made["secret"]);
    assert!(both.run(&["webhook", "show", endpoint]).contains("FORMER SECRET UNTIL"));
    let listed = both.run_json(&["webhook", "list", "--partner", "Northwind"]);
    assert_eq!((listed.len(), &listed[0]["types"]), (1, &json!(["offer.accepted", "buyer.created"])));
    assert!(both.run(&["webhook", "list"]).contains("https://core.example/events"));

    let output = both.command(&["webhook", "test", endpoint, "--json"]).output().expect("it runs");
    let attempt: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&attempt["delivered"], &attempt["problem"]), (&json!(false), &json!("address")));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && told.contains("did not take"), "{told}");
    assert_eq!(both.run_json(&["webhook", "attempts", endpoint]), [attempt]);

    both.run(&["webhook", "update", endpoint, "https://127.0.0.1:9/2"]);
    both.run(&["webhook", "redeliver", endpoint, "--after", "1"]);
    let shown = of("show");
    assert_eq!((&shown["url"], &shown["types"]), (&json!("https://127.0.0.1:9/2"), &Value::Null));
    both.run(&["webhook", "delete", endpoint]);
    let problem = both.fails(&["webhook", "show", endpoint], KEY);
    assert!(problem.contains("404 Webhook endpoint not found"), "{problem}");
    let problem = both.fails(&["webhook", "add", "http://127.0.0.1/"], KEY);
    assert!(problem.contains("url: must begin with https://"), "{problem}");
}

/// The first key seals from then on, and what the second has sealed is opened.
#[test]
fn keys_of_secrets_are_rotated_and_secrets_are_kept_encrypted() {
    let directory = tempfile::tempdir().expect("a directory");
    let (old, new) = ("5a".repeat(32), "a5".repeat(32));
    let test = |both: &Both, endpoint: &str| -> Value {
        let output = both.command(&["webhook", "test", endpoint, "--json"]).output().expect("it runs");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["problem"].clone()
    };
    let both = start(directory.path(), &keys(directory.path(), &old));
    let made = both.run_json(&["webhook", "add", "https://127.0.0.1:9/"]).remove(0);
    let endpoint = made["endpointId"].as_str().expect("an id");
    assert_eq!(test(&both, endpoint), "address");
    drop(both);
    for (lines, problem) in [(format!("# since today\n{new}\n{old}\n"), "address"), (new, "secret")] {
        let both = start(directory.path(), &keys(directory.path(), &lines));
        assert_eq!(test(&both, endpoint), problem);
    }
    let log = std::fs::read(directory.path().join("data/log")).expect("a log");
    let secret = made["secret"].as_str().expect("a secret").as_bytes();
    assert!(!log.windows(16).any(|bytes| bytes == &secret[6..22]), "the secret is in the log");
}

#[test]
fn a_file_of_keys_that_others_can_read_or_that_holds_none_stops_the_start() {
    use crate::process::{BINARY, arguments, command};
    let directory = tempfile::tempdir().expect("a directory");
    let file = keys(directory.path(), "no key\n");
    let started = || {
        let mut serve = command(BINARY);
        serve.args(arguments(&directory.path().join("data"))).args(["--operator-key", KEY]);
        let output = serve.arg("--secrets-key-file").arg(&file).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let told = started();
    assert!(told.contains("line 1 is no key of 64 hexadecimal digits") && !told.contains("no key\n\n"), "{told}");
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("a mode");
    let told = started();
    assert!(told.contains("chmod 600"), "{told}");
}

#[test]
fn without_keys_webhooks_are_off() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let problem = both.fails(&["webhook", "list"], KEY);
    assert!(problem.contains("409 Webhooks are off") && problem.contains("--secrets-key-file"), "{problem}");
}
