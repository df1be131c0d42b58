//! What readers of events are told when a store is restored.

use crate::data::fill;
use crate::operator::{Both, KEY};
use crate::process::{BINARY, Process, Server, arguments, client, command, run};
use lendpay_api::transfer::check;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Stdio;

/// Copies a stopped store, as a backup of its directory does.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

fn events(both: &Both, after: &str) -> (u16, Value) {
    let call = client().get(format!("{}/operator/events?after={after}", both.url)).header("x-operator-key", KEY).call();
    let mut answer = call.expect("an answer");
    let body = answer.body_mut().read_to_string().expect("a text");
    (answer.status().as_u16(), serde_json::from_str(&body).expect("JSON"))
}

#[test]
fn a_reader_of_a_store_that_was_restored_is_told_to_begin_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let (original, restored) = (directory.path().join("original"), directory.path().join("restored"));
    let store = format!("sled:{}", restored.display());
    let data = fill(&original, 4);
    copy(&original, &restored);
    let key = [("x-service-apikey", data.key.as_str())];
    let accept = |server: &Server, n: usize| {
        let answer = server.post(&data.accept_path(data.offers[n]), &key, "").expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
    };
    let both = Both::start(&original, &[]);
    (0..2).for_each(|n| accept(&both.server, n));
    let (_, seen) = events(&both, "0");
    let seen_events = seen["items"].as_array().expect("a list");
    let last = &seen_events.last().expect("many")["sequence"];
    let (history, operator) = (seen["history"].as_str().expect("an id"), both.url.replace("http://", ""));
    let mut follow = both.command(&["events", "--follow", "--json"]);
    let mut follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut printed = BufReader::new(follow.stdout.take().expect("piped")).lines();
    for event in seen_events {
        let line = printed.next().expect("a line").expect("a text");
        assert_eq!(&serde_json::from_str::<Value>(&line).expect("JSON"), event);
    }
    let busy = run(&["history", "new", "--store", &format!("sled:{}", original.display())]);
    assert!(!busy.status.success() && busy.stderr.contains("in use"), "{}", busy.stderr);
    both.server.process.signal("TERM");
    assert!(both.server.process.wait().0.success());

    let begun = run(&["history", "new", "--store", &store]);
    assert!(begun.status.success() && begun.stderr.contains("from the beginning"), "{}", begun.stderr);
    let mut serve = command(BINARY);
    serve.args(arguments(&restored)).args(["--operator-listen", &operator, "--operator-key", KEY]);
    let both = Both::ready(Process::spawn(serve));
    // The sequences that the reader has seen are given again.
    (1..4).for_each(|n| accept(&both.server, n));
    let (status, again) = events(&both, "0");
    assert_eq!((status, again["items"].as_array().map(Vec::len)), (200, Some(seen_events.len() + 1)));
    assert_ne!(again["history"], history);
    let (status, answer) = events(&both, &format!("{history}:{last}"));
    assert_eq!((status, &answer["errorCode"]), (409, &"CursorUnknown".into()), "{answer}");
    // Who follows is told, and has been shown nothing of the other history.
    assert_eq!(follow.wait().expect("a child").code(), Some(1));
    let mut told = String::new();
    follow.stderr.take().expect("piped").read_to_string(&mut told).expect("a text");
    assert!(told.contains("Cursor unknown") && told.contains("from the beginning"), "{told}");
    assert_eq!(printed.count(), 0);

    // What is imported elsewhere has another history again; the file names the one that it is from.
    let file = directory.path().join("export").display().to_string();
    both.run(&["export", &file, "--running"]);
    let exported = check(BufReader::new(std::fs::File::open(&file).expect("a file"))).expect("an export");
    assert_eq!(exported.history.map(|id| id.to_string()).as_deref(), again["history"].as_str());
}

#[test]
fn a_directory_without_a_store_gets_no_history() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("none");
    let refused = run(&["history", "new", "--store", &format!("sled:{}", path.display())]);
    assert!(!refused.status.success() && refused.stderr.contains("there is no store in"), "{}", refused.stderr);
    assert!(!path.exists());
}
