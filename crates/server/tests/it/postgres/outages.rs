//! A database that is not there, goes away, can only be read, has no room, or knows another password: it is said,
//! refused in the contract's shape, and over when it is over.

use super::{Ends, Service, migrated};
use crate::operator::KEY;
use crate::process::{BINARY, Reply, client, command, run};
use lendpay_cluster::{Begin, Cluster};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const TROUBLE: &str = "the database cannot be used; trying again";
const OVER: &str = "the database works again";

fn loans(cluster: &Cluster) -> String {
    cluster.sql("postgres", "CREATE DATABASE loans");
    migrated(cluster.url("loans"))
}

/// An error of the contract: 503 in the shape of the payments area, with a time to come back.
fn is_refused(reply: &Reply) {
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert!(reply.headers.contains_key("retry-after"));
    let mut members: Vec<_> = reply.body.as_object().expect("an object").keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["date", "errors", "message", "operationId", "title"]);
    let text = reply.body.to_string().to_lowercase();
    assert!(!["postgres", "sql", "database", "connect"].iter().any(|word| text.contains(word)), "{text}");
}

fn wait_until_ready(service: &Service) {
    while service.ready().0 != 200 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_database_that_is_down_at_the_start_may_come_later() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    let url = format!("postgres://postgres@127.0.0.1:{port}/loans");
    let mut service = Service::start_without_database(&url);
    let (status, body) = service.ready();
    assert_eq!(status, 503);
    assert!(body["reason"].as_str().expect("a reason").contains("refused"), "{body}");
    is_refused(&service.create(&client(), "any", "a").expect("an answer"));
    let migrate = run(&["migrate", "--store", &url]);
    assert!(!migrate.status.success() && migrate.stderr.contains("refused"), "{}", migrate.stderr);

    let cluster = Cluster::start_on(port, Begin::Empty, &["fsync=off"]);
    // Its tables come with it: a process that finds a database without tables ends.
    cluster.sql("postgres", "CREATE DATABASE restored");
    migrated(cluster.url("restored"));
    cluster.sql("postgres", "ALTER DATABASE restored RENAME TO loans");
    wait_until_ready(&service);
    service.process.wait_for(OVER);
    // Not before: lines are read in order.
    service.process.wait_for("ready");
    let key = service.partner().text;
    assert_eq!(service.create(&client(), &key, "a").expect("an answer").status, 201);
}

#[test]
fn a_database_that_goes_away_under_load_is_missed_and_found_again() {
    /// Writes that are acknowledged before the database goes away, and again once it is back.
    const WRITES: usize = 500;
    // What is killed is the server, not the machine: its files stay without being synced.
    let mut cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
    let mut service = Service::start(&loans(&cluster), &[]);
    let key = service.partner().text;
    let (next, acknowledged, refused) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let ended = AtomicBool::new(false);
    let wait_for = |counter: &AtomicUsize, count: usize| {
        while counter.load(Ordering::SeqCst) < count {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let agent = client();
                while !ended.load(Ordering::SeqCst) {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    let reply = service.create(&agent, &key, &format!("key-{n}")).expect("the service is there");
                    if reply.status == 201 {
                        acknowledged.fetch_add(1, Ordering::SeqCst);
                    } else {
                        is_refused(&reply);
                        refused.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let _ends = Ends(&ended);
        wait_for(&acknowledged, WRITES);
        let before = service.process.memory();
        cluster.kill();
        // Everybody is refused once, after the ten seconds that a command may wait.
        wait_for(&refused, 64);
        let during = service.process.memory();
        assert!(during < before + 64 * 1024, "{before} KiB before, {during} KiB while it was away");
        cluster.start_again(&["fsync=off"]);
        let so_far = acknowledged.load(Ordering::SeqCst);
        wait_for(&acknowledged, so_far + WRITES);
    });
    wait_until_ready(&service);
    let created = service.events(0).len();
    assert!(created >= acknowledged.load(Ordering::SeqCst), "{created}");
    service.process.wait_for(TROUBLE);
    service.process.wait_for(OVER);
}

/// What the service cannot take now is sent again, as the document says.
#[test]
fn a_load_outlasts_a_database_that_is_away() {
    let mut cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
    let service = Service::start(&loans(&cluster), &[]);
    service.partner();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("offers.csv");
    let head = "applicationId,partnerId,reference,details,fundingType,offerType,annualPercentageRate";
    let partner = &super::PARTNER["/operator/partners/".len()..];
    let line = |n| format!("\n5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21,{partner},A-{n},-,TermLoan,Indicative,0.09");
    std::fs::write(&file, format!("{head}{}", (0..20).map(line).collect::<String>())).expect("a file");
    cluster.kill();
    let mut load = command(BINARY);
    load.args(["offer", "load", "--json"]).arg(&file).env("LENDPAY_OPERATOR_URL", &service.operator);
    let load = load.env("LENDPAY_OPERATOR_KEY", KEY).stdout(Stdio::piped()).spawn().expect("the binary runs");
    let refused = "route=\"/operator/offers/batch\",status=\"503\"";
    while !service.metrics().contains(refused) {
        std::thread::sleep(Duration::from_millis(20));
    }
    cluster.start_again(&["fsync=off"]);
    let output = load.wait_with_output().expect("it ends");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("\"created\":20"), "{printed}");
}

#[test]
fn a_database_that_can_only_be_read_is_not_ready() {
    let cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
    let mut service = Service::start(&loans(&cluster), &[]);
    let key = service.partner().text;
    let read_only = |on: &str| {
        cluster.sql("postgres", &format!("ALTER SYSTEM SET default_transaction_read_only = {on}"));
        cluster.sql("postgres", "SELECT pg_reload_conf()");
    };
    read_only("on");
    while service.ready().0 != 503 {
        std::thread::sleep(Duration::from_millis(20));
    }
    is_refused(&service.create(&client(), &key, "a").expect("an answer"));
    service.process.wait_for(TROUBLE);
    read_only("off");
    wait_until_ready(&service);
    assert_eq!(service.create(&client(), &key, "a").expect("an answer").status, 201);
}

#[test]
fn a_database_without_room_refuses_until_there_is_room() {
    /// More than a file of its log, which it makes at once, and than any table of its own; tables grow in smaller
    /// steps.
    const LONGEST: u64 = 4 * 1024 * 1024;
    let cluster = Cluster::start(Begin::EmptyWithShortLogFiles, &["fsync=off"]);
    let mut service = Service::start(&loans(&cluster), &["--buyer-checks", "contract"]);
    let key = service.partner().text;
    cluster.bound_files(Some(LONGEST));
    // Random digits, which no compression makes small.
    let mut digits = String::new();
    while digits.len() < 60_000 {
        digits.push_str(&uuid::Uuid::from_bytes(super::rand_bytes()).simple().to_string());
    }
    let long = |n: usize| format!(r#"{{"name":"{n}-{digits}"}}"#);
    let (agent, mut acknowledged) = (client(), 0);
    let headers = [("x-service-apikey", key.as_str())];
    let refused = (0..).find_map(|n| {
        let reply = crate::process::post(&agent, &service.address, "/payments/buyers", &headers, &long(n));
        let reply = reply.expect("an answer");
        acknowledged += usize::from(reply.status == 201);
        (reply.status != 201).then_some(reply)
    });
    is_refused(&refused.expect("there is an end"));
    let line = service.process.wait_for(TROUBLE);
    assert!(line["reason"].as_str().expect("a reason").contains("could not"), "{line}");
    cluster.bound_files(None);
    let reply =
        crate::process::post(&agent, &service.address, "/payments/buyers", &headers, &long(0)).expect("an answer");
    assert_eq!(reply.status, 201);
    service.process.wait_for(OVER);
    assert_eq!(service.events(0).len(), acknowledged + 1);
}

#[test]
fn a_wrong_password_is_said_and_not_shown() {
    let cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
    loans(&cluster);
    cluster.sql("loans", "CREATE ROLE lendpay LOGIN SUPERUSER PASSWORD 'right'");
    cluster.admit("host all lendpay 127.0.0.1/32 scram-sha-256");
    let url = format!("postgres://lendpay:hunter2@127.0.0.1:{}/loans", cluster.port());
    let mut service = Service::start_without_database(&url);
    let (status, body) = service.ready();
    assert_eq!(status, 503);
    let reason = body["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("password authentication failed") && !reason.contains("hunter2"), "{reason}");
    is_refused(&service.create(&client(), "any", "a").expect("an answer"));
    let migrate = run(&["migrate", "--store", &url]);
    assert!(!migrate.status.success() && !migrate.stderr.contains("hunter2"), "{}", migrate.stderr);
    cluster.sql("loans", "ALTER ROLE lendpay PASSWORD 'hunter2'");
    wait_until_ready(&service);
    service.process.wait_for(OVER);
    service.process.signal("TERM");
    let (status, log) = service.process.wait();
    assert!(status.success());
    assert!(!log.join("\n").contains("hunter2"));
}
