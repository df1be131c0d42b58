//! Starting on a database, and moving from one kind of store to the other.

use super::{PARTNER, Service, database, migrated};
use crate::process::{BINARY, Process, client, command, run};
use lendpay_cluster::Cluster;
use serde_json::json;

#[test]
fn tables_that_are_missing_old_or_new_stop_the_start_with_advice() {
    let empty = Cluster::shared().database();
    let name = empty.rsplit('/').next().expect("a name").to_owned();
    let serve = || run(&["serve", "--store", &empty, "--listen", "127.0.0.1:0"]);
    let ended = serve();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("no tables in the database; make them with `lendpay migrate`"), "{}", ended.stderr);
    migrated(empty.clone());
    assert!(run(&["migrate", "--store", &empty]).stderr.contains("up to date"));
    for (version, advice) in [(99, "a newer one"), (1, "run `lendpay migrate`")] {
        let sql = format!(
            "DELETE FROM lendpay_migrations; INSERT INTO lendpay_migrations VALUES ({version}, now(), {version})"
        );
        Cluster::shared().sql(&name, &sql);
        let ended = serve();
        assert_eq!(ended.status.code(), Some(1));
        assert!(ended.stderr.contains(advice), "{}", ended.stderr);
    }
    let ended = run(&["migrate", "--store", "sled:/nowhere"]);
    assert!(ended.stderr.contains("no tables"), "{}", ended.stderr);
}

#[test]
fn a_database_that_answers_before_it_writes_is_refused() {
    let store = database();
    let name = store.rsplit('/').next().expect("a name");
    Cluster::shared().sql(name, &format!("ALTER DATABASE {name} SET synchronous_commit = off"));
    let ended = run(&["serve", "--store", &store, "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("synchronous_commit"), "{}", ended.stderr);
}

/// What comes back is what went, but for the numbers: the embedded store numbers partners, keys and applications too.
#[test]
fn everything_moves_from_one_kind_of_store_to_the_other_and_back() {
    let store = database();
    let service = Service::start(&store, &[]);
    let key = service.partner();
    let offers = service.offers(3);
    assert_eq!(service.accept(&client(), &key.text, &offers[0]).expect("an answer").status, 200);
    assert_eq!(service.create(&client(), &key.text, "a").expect("an answer").status, 201);
    service.operate("POST", &format!("{}/decline", offers[1].operator_path()), None);
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let lines = |name: &str| {
        let text = std::fs::read_to_string(file(name)).expect("an export");
        // The first line has the time of the export; the last one its sum.
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.pop();
        lines.remove(0);
        lines
    };
    let must = |arguments: &[&str]| {
        let ended = run(arguments);
        assert!(ended.status.success(), "{arguments:?}: {}", ended.stderr);
    };
    must(&["export", &file("first"), "--store", &store]);
    let (sled, second) = (format!("sled:{}", file("sled")), database());
    must(&["import", &file("first"), "--store", &sled]);
    must(&["export", &file("second"), "--store", &sled]);
    must(&["import", &file("second"), "--store", &second]);
    must(&["export", &file("third"), "--store", &second]);
    let unnumbered = |name: &str| {
        let number = |line: &str| {
            let (_, rest) = line.split_once(r#""sequence":"#)?;
            Some(rest.split(',').next().expect("a number").to_owned())
        };
        let without = |line: String| match number(&line) {
            Some(found) => line.replacen(&format!(r#""sequence":{found}"#), "", 1),
            None => line,
        };
        lines(name).into_iter().map(without).collect::<Vec<_>>()
    };
    assert_eq!(unnumbered("first"), unnumbered("third"));
    assert_eq!(unnumbered("first"), unnumbered("second"));
    assert_eq!(lines("first").len(), 1 + 1 + 1 + 3 + 2 + 1 + 1);
    // Twice is refused, and with --merge changes nothing.
    let refused = run(&["import", &file("first"), "--store", &second]);
    assert!(!refused.status.success() && refused.stderr.contains("--merge"), "{}", refused.stderr);
    must(&["import", &file("first"), "--store", &second, "--merge"]);
    must(&["export", &file("fourth"), "--store", &second]);
    assert_eq!(lines("third"), lines("fourth"));
    // It goes on from there: what was accepted stays, the key works, numbers go on.
    let moved = Service::start(&second, &[]);
    let reply = moved.accept(&client(), &key.text, &offers[0]).expect("an answer");
    assert_eq!((reply.status, &reply.body["status"]), (200, &"CustomerAccepted".into()));
    let last = moved.events(0).last().and_then(|event| event["sequence"].as_u64()).expect("events");
    assert_eq!(moved.accept(&client(), &key.text, &offers[2]).expect("an answer").status, 200);
    assert_eq!(moved.events(last).len(), 1);
}

#[test]
fn an_export_of_57c173a_is_imported_without_loss() {
    crate::transfer::an_export_of_format_1_goes_through(&database());
}

#[test]
fn an_import_that_does_not_fit_names_its_line_and_does_nothing() {
    let store = database();
    let service = Service::start(&store, &[]);
    service.partner();
    let offers = service.offers(2);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("export").display().to_string();
    assert!(run(&["export", &file, "--store", &store]).status.success());
    let text = std::fs::read_to_string(&file).expect("an export");
    let line = text.lines().position(|line| line.starts_with(r#"{"offer""#)).expect("an offer") + 1;

    // In another database the application is another partner's.
    let other = database();
    let beside = Service::start(&other, &[]);
    let partner = "00000000-0000-4000-8000-000000000002";
    beside.must("PUT", &format!("/operator/partners/{partner}"), &json!({"name": "Other"}));
    let application = format!("/operator/applications/{}", offers[0].application);
    beside.must("PUT", &application, &json!({"partnerId": partner}));
    let refused = run(&["import", &file, "--store", &other, "--merge"]);
    assert!(!refused.status.success());
    let wanted = format!("line {line}: its application belongs to another partner");
    assert!(refused.stderr.contains(&wanted), "{}", refused.stderr);
    assert_eq!(beside.operate("GET", &format!("{PARTNER}/keys"), None).0, 404, "no partner came in");
    assert!(beside.events(0).is_empty());
}

#[test]
fn a_database_on_another_machine_without_verified_tls_is_warned_of() {
    let mut serve = command(BINARY);
    // Nobody has this address (RFC 5737).
    serve.args(["serve", "--listen", "127.0.0.1:0", "--store", "postgres://u:hunter2@192.0.2.1/d?connect_timeout=1"]);
    let warning = Process::spawn(serve)
        .wait_for("the database is on another machine, without verified TLS; add sslmode=verify-full");
    assert_eq!((&warning["level"], &warning["store"]), (&"WARN".into(), &"postgres://192.0.2.1:5432/d".into()));
}
