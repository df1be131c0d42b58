//! Operators with names: their file, their keys, and who is told what they did.

use crate::operator::{Both, KEY};
use crate::process::{BINARY, Process, arguments, command, run};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const READ_AGAIN: &str = "the operators' file was read again";
const STAYS: &str = "the new operators' file cannot be used; the last one stays";

/// A key and its line, as the command makes them.
pub fn new_key(name: &str, role: &str) -> (String, String) {
    let made = run(&["operator", "new-key", name, role, "--json"]);
    assert!(made.status.success(), "{}", made.stderr);
    let made: Value = serde_json::from_str(&made.stdout).expect("a line of JSON");
    let text = |field: &str| made[field].as_str().expect("a text").to_owned();
    assert_eq!((text("name"), text("role")), (name.to_owned(), role.to_owned()));
    (text("key"), text("line"))
}

/// Replaces the file at once, so that nobody reads a part of it.
pub fn write(path: &Path, lines: &[&str], mode: u32) {
    let new = path.with_extension("new");
    std::fs::write(&new, lines.join("\n")).expect("a file");
    std::fs::set_permissions(&new, Permissions::from_mode(mode)).expect("a mode");
    std::fs::rename(new, path).expect("a file");
}

/// Runs a command with a key that is not the single one.
fn with_key(both: &Both, key: &str, arguments: &[&str]) -> Result<String, String> {
    let output = both.command(arguments).env("LENDPAY_OPERATOR_KEY", key).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn is_refused(both: &Both, key: &str) {
    let refused = with_key(both, key, &["partner", "list"]).expect_err("refused");
    assert!(refused.starts_with("lendpay: 401 Invalid operator key"), "{refused}");
}

fn file_of(directory: &Path) -> (PathBuf, String) {
    let path = directory.join("operators");
    (path.clone(), path.display().to_string())
}

#[test]
fn operators_are_those_of_the_file_as_it_is_now_and_what_they_do_is_told_with_their_names() {
    let directory = tempfile::tempdir().expect("a directory");
    let (path, file) = file_of(directory.path());
    let ((anna, anna_line), (bert, bert_line)) = (new_key("anna.k", "support"), new_key("bert", "admin"));
    write(&path, &["# The lender's operators", &anna_line, "", &bert_line], 0o600);
    let mut both = Both::start(&directory.path().join("data"), &["--operators-file", &file]);

    let made = with_key(&both, &bert, &["partner", "add", "Northwind", "--json"]).expect("an admin may");
    let partner: Value = serde_json::from_str(&made).expect("a line of JSON");
    let id = partner["id"].as_str().expect("an id");
    let line = loop {
        let line = both.server.process.wait_for("request");
        if line["method"] == "PUT" {
            break line;
        }
    };
    assert_eq!((&line["actor"], &line["status"]), (&json!("operator:bert"), &json!(201)), "{line}");
    let refused = with_key(&both, &anna, &["partner", "add", "Southwind"]).expect_err("her role is less");
    assert!(refused.contains("403 Role not sufficient: This needs an operator with the role admin."), "{refused}");
    let line = loop {
        let line = both.server.process.wait_for("request");
        if line["status"] == 403 {
            break line;
        }
    };
    assert_eq!((&line["actor"], &line["peer"]), (&json!("operator:anna.k"), &json!("127.0.0.1")), "{line}");
    both.run(&["application", "add", "Northwind"]);
    let events = with_key(&both, &anna, &["events", "--json", "--partner", id]).expect("everybody reads");
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<_> = events.iter().map(|event| json!([event["type"], event["actor"]])).collect();
    assert_eq!(told, [json!(["partner.created", "operator:bert"]), json!(["application.created", "operator"])]);

    // A key is replaced without a gap: for a while both are valid.
    let (next, next_line) = new_key("bert", "admin");
    is_refused(&both, &next);
    write(&path, &[&bert_line, &next_line], 0o600);
    assert_eq!(both.server.process.wait_for(READ_AGAIN)["keys"], 2);
    for key in [&bert, &next] {
        with_key(&both, key, &["partner", "list"]).expect("one of two keys");
    }
    is_refused(&both, &anna);
    write(&path, &[&next_line], 0o600);
    assert_eq!(both.server.process.wait_for(READ_AGAIN)["keys"], 1);
    is_refused(&both, &bert);
    with_key(&both, &next, &["partner", "list"]).expect("the new key");

    // What cannot be used changes nothing, and is not quoted.
    write(&path, &[&next_line, "carl admin SECRET"], 0o600);
    let warning = both.server.process.wait_for(STAYS);
    let reason = warning["reason"].as_str().expect("a reason");
    assert!(reason.contains("line 2: the SHA-256") && !reason.contains("SECRET"), "{reason}");
    write(&path, &[], 0o644);
    let warning = both.server.process.wait_for(STAYS);
    assert!(warning["reason"].as_str().is_some_and(|reason| reason.contains("chmod 600")), "{warning}");
    std::fs::remove_file(&path).expect("it is there");
    both.server.process.wait_for(STAYS);
    with_key(&both, &next, &["partner", "list"]).expect("the last list stays");
    both.run(&["partner", "list"]);

    both.server.process.signal("TERM");
    let (status, log) = both.server.process.wait();
    assert_eq!(status.code(), Some(0));
    let log = log.join("\n");
    for secret in [&anna, &bert, &next, &anna_line, &bert_line, &next_line] {
        let secret = secret.split(['_', ' ']).next_back().expect("digits");
        assert!(secret.len() == 64 && !log.contains(secret), "{log}");
    }
}

#[test]
fn the_file_alone_opens_the_operators_side() {
    let directory = tempfile::tempdir().expect("a directory");
    let (path, file) = file_of(directory.path());
    let (key, line) = new_key("core-system", "lending");
    write(&path, &[&line], 0o600);
    let mut serve = command(BINARY);
    serve.args(arguments(&directory.path().join("data")));
    serve.args(["--operator-listen", "127.0.0.1:0", "--operators-file", &file]);
    let both = Both::ready(Process::spawn(serve));
    with_key(&both, &key, &["offer", "list"]).expect("it may read");
    is_refused(&both, KEY);
    let refused = with_key(&both, &key, &["key", "list", "x"]).expect_err("no such partner");
    assert!(!refused.contains(" 403 "), "{refused}");
    let file = directory.path().join("export").display().to_string();
    let refused = with_key(&both, &key, &["export", &file, "--running"]).expect_err("no admin");
    assert!(refused.contains(" 403 Role not sufficient"), "{refused}");
}

#[test]
fn a_file_that_cannot_be_used_stops_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let (path, file) = file_of(directory.path());
    let data = directory.path().join("data");
    let serve = arguments(&data);
    let serve: Vec<_> = serve.iter().map(String::as_str).chain(["--operators-file", &file]).collect();
    let refused = |words: &str| {
        let ended = run(&serve);
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(words) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
        assert!(!ended.stderr.contains("SECRET") && !data.exists(), "{}", ended.stderr);
    };
    refused("cannot be read");
    let (_, line) = new_key("anna", "read");
    for (lines, words) in [
        (&[line.as_str(), "anna SECRET"][..], "line 2: a line has a name, a role"),
        (&["anna SECRET 1"], "line 1: the role must be one of read, support, lending, admin"),
        (&["SECRET! read 1"], "line 1: an operator's name has"),
        (&[line.as_str(), &line], "line 2: a line above it has the same key"),
    ] {
        write(&path, lines, 0o600);
        refused(words);
    }
    for mode in [0o604, 0o602, 0o660, 0o644] {
        write(&path, &[&line], mode);
        refused("chmod 600");
    }
}

#[test]
fn a_key_is_made_for_a_name_and_a_role() {
    let shown = run(&["operator", "new-key", "anna.k", "read"]);
    let fields: Vec<_> = shown.stdout.lines().filter_map(|line| line.split_once("  ")).collect();
    let field = |name: &str| {
        let found = fields.iter().find(|(heading, _)| heading.trim() == name);
        found.unwrap_or_else(|| panic!("{name}: {}", shown.stdout)).1.trim()
    };
    assert!(field("KEY").starts_with("lendpay_operator_") && field("LINE").starts_with("anna.k read "));
    for (arguments, words) in [
        (["operator", "new-key", "anna k", "read"], "begins with a letter or digit"),
        (["operator", "new-key", "anna", "root"], "read, support, lending, admin"),
    ] {
        let refused = run(&arguments);
        assert!(refused.status.code() == Some(2) && refused.stderr.contains(words), "{}", refused.stderr);
    }
}
