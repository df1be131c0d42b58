//! `lendpay export` and `lendpay import`.

use crate::data::{fill, open};
use crate::operator::{Both, KEY};
use crate::process::{BINARY, Ended, Process, command, run};
use lendpay_api::transfer::Reader;
use lendpay_domain::change::Record;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

/// What commit 57c173a exported, in format 1: `api::transfer`'s tests say what is in it.
const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../api/src/transfer/format-1.ndjson");

fn store(directory: &Path) -> String {
    format!("sled:{}", directory.display())
}

fn ok(ended: &Ended) {
    assert!(ended.status.success(), "{}", ended.stderr);
}

/// The records of an export.
fn records(file: &Path) -> Vec<Record> {
    let mut reader = Reader::new(BufReader::new(File::open(file).expect("a file")));
    std::iter::from_fn(|| reader.next().expect("a complete export")).collect()
}

/// The lines below the header.
fn lines(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a file");
    text.split_once('\n').expect("a header").1.to_owned()
}

#[test]
fn a_store_goes_through_a_file_and_is_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    let data = fill(&one, 1_000);
    // Something of every kind, and a key that was used.
    let both = Both::start(&one, &[]);
    let key = [("x-service-apikey", data.key.as_str()), ("idempotency-key", "k")];
    for &offer in &data.offers[..500] {
        assert_eq!(both.server.post(&data.accept_path(offer), &key[..1], "").expect("an answer").status, 200);
    }
    let buyer = r#"{"name":"B","bankAccount":{"iban":"GB33BUKB20201555555555"}}"#;
    let created = both.server.post("/payments/buyers", &key, buyer).expect("an answer");
    assert_eq!(created.status, 201);

    let file = directory.path().join("running.ndjson");
    both.run(&["export", &file.display().to_string(), "--running"]);
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let busy = run(&["export", "-", "--store", &store(&one)]);
    assert!(!busy.status.success() && busy.stderr.contains("--running"), "{}", busy.stderr);
    assert!(!run(&["import", &file.display().to_string(), "--store", &store(&one)]).status.success());
    both.server.process.signal("TERM");
    assert_eq!(both.server.process.wait().0.code(), Some(0));

    let stopped = directory.path().join("stopped.ndjson");
    ok(&run(&["export", &stopped.display().to_string(), "--store", &store(&one)]));
    assert_eq!(lines(&stopped), lines(&file), "the same running and stopped");
    let piped = run(&["export", "-", "--store", &store(&one)]);
    assert_eq!(piped.stdout.split_once('\n').expect("a header").1, lines(&file));

    // In from standard input.
    let mut import = command(BINARY);
    import.args(["import", "-", "--store", &store(&two)]).stdin(File::open(&file).expect("a file"));
    let output = import.output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let again = directory.path().join("again.ndjson");
    ok(&run(&["export", &again.display().to_string(), "--store", &store(&two)]));
    assert_eq!(lines(&again), lines(&file), "the same but for the header");

    let both = Both::start(&two, &[]);
    let replayed = both.server.post("/payments/buyers", &key, buyer).expect("an answer");
    assert_eq!((replayed.status, &replayed.body), (201, &created.body), "keys work, and creations are remembered");
    let answer = both.server.post(&data.accept_path(data.offers[700]), &key[..1], "").expect("an answer");
    assert_eq!(answer.status, 200);
    let last = both.run_json(&["events"]).pop().expect("many")["sequence"].as_u64().expect("a number");
    let exported = records(&file).last().and_then(|record| record.sequence).expect("a sequence");
    // The use of the key may be noted in between.
    assert!((exported + 1..=exported + 2).contains(&last), "sequences go on");
}

/// Imports an export of format 1 into an empty store, and exports it again: nothing is lost, and creations are still
/// remembered.
pub fn an_export_of_format_1_goes_through(store: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let imported = run(&["import", FORMAT_1, "--store", store]);
    ok(&imported);
    for words in ["34 records imported", "have expired: 1.", "today's full checks: "] {
        assert!(imported.stderr.contains(words), "{}", imported.stderr);
    }
    let again = directory.path().join("again");
    ok(&run(&["export", &again.display().to_string(), "--store", store]));
    let (old, mut new) = (records(Path::new(FORMAT_1)), records(&again));
    // Format 1 has no sequence for the use of a key.
    for (old, new) in old.iter().zip(&mut new) {
        new.sequence = new.sequence.filter(|_| old.sequence.is_some());
    }
    assert_eq!(new, old);

    let mut serve = command(BINARY);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--store", store, "--log-format", "json"]);
    serve.args(["--operator-listen", "127.0.0.1:0", "--operator-key", KEY]);
    let both = Both::ready(Process::spawn(serve));
    let partner = "00000001-0000-4000-8000-000000000001";
    let key = &both.run_json(&["key", "create", partner, "new", "--area", "payments"])[0]["key"];
    let headers = [("x-service-apikey", key.as_str().expect("a key")), ("idempotency-key", "format-1")];
    let buyer = r#"{"name":"Northwind Bicycles Ltd","registrationNumber":"01234567","countryCode":"GB","type":0,
        "bankAccount":{"currencyCode":"GBP","accountName":"Northwind Bicycles","sortCode":"20-20-15",
        "accountNumber":"55555555","bic":"BUKBGB22","accountType":"Current","iban":"GB33BUKB20201555555555"}}"#;
    let replayed = both.server.post("/payments/buyers", &headers, buyer).expect("an answer");
    let id = &replayed.body["id"];
    assert_eq!((replayed.status, id), (201, &"ac81b389-e875-8c36-87ee-8d5ddecf8828".into()), "it was there");
}

#[test]
fn an_export_of_57c173a_is_imported_without_loss() {
    let directory = tempfile::tempdir().expect("a directory");
    an_export_of_format_1_goes_through(&store(directory.path()));
}

#[test]
fn what_is_not_whole_or_does_not_fit_changes_nothing_and_is_told_with_its_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    fill(&one, 200);
    let file = directory.path().join("good");
    ok(&run(&["export", &file.display().to_string(), "--store", &store(&one)]));
    let good = std::fs::read_to_string(&file).expect("a file");
    let all: Vec<_> = good.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let bad = directory.path().join("bad");
    for (text, words) in [
        (String::new(), "line 1: the file ends"),
        ("{}\n".to_owned(), "line 1: is not the header"),
        (joined(&all[..100]), "line 101: the file ends before its last line"),
        (good[..good.len() - 40].to_owned(), "the file ends in the middle of this line"),
        (good.replace("A test", "A tesu"), "counts or checksum do not fit"),
        (joined(&[&all[..50], &all[51..]].concat()), "line 204: counts or checksum do not fit"),
        (good.replacen("\"offer\"", "\"ofer\"", 1), "line 5: is not a record"),
        (good.clone() + "more", "something follows"),
        (good.replace("\"format\":2", "\"format\":3"), "format 3"),
    ] {
        std::fs::write(&bad, &text).expect("a write");
        let ended = run(&["import", &bad.display().to_string(), "--store", &store(&two)]);
        assert_eq!(ended.status.code(), Some(1), "{words}");
        assert!(
            ended.stderr.contains(words) && ended.stderr.contains("nothing was imported"),
            "{words}: {}",
            ended.stderr
        );
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(!two.exists(), "nothing was written");
    }
    // Whole, but for another store: what was done is undone.
    let ended = run(&["import", &file.display().to_string(), "--store", &store(&one)]);
    assert!(ended.stderr.contains("not empty") && ended.stderr.contains("--merge"), "{}", ended.stderr);
    ok(&run(&["import", &file.display().to_string(), "--store", &store(&two)]));
    let ended = run(&["import", &file.display().to_string(), "--store", &store(&two), "--merge"]);
    assert!(ended.stderr.contains("0 records imported, 203 of what was there"), "{}", ended.stderr);
    drop(open(&two));
}

#[test]
fn an_export_that_is_cut_off_leaves_no_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("file");
    let name = file.display().to_string();
    let ended = run(&["export", &name, "--store", &store(&directory.path().join("nothing"))]);
    assert!(!ended.status.success() && ended.stderr.contains("there is no store in"), "{}", ended.stderr);

    // A service that breaks off in the middle.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let service = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 4096]);
        let header = r#"{"export":{"format":2,"createdAt":"2026-01-01T00:00:00Z","program":"x"}}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
        stream.write_all(format!("{head}{header}\n").as_bytes()).expect("a write");
    });
    let mut export = command(BINARY);
    export.args(["export", &name, "--running", "--operator-url", &url, "--operator-key", KEY]);
    let output = export.stdout(Stdio::null()).output().expect("the binary runs");
    service.join().expect("it served");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complained.contains("did not arrive complete"), "{complained}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
}
