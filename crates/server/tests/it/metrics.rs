//! What `/metrics` says of the process, its machine, its certificate and its partners.

use crate::data::fill;
use crate::operator::{Both, KEY};
use crate::process::client;
use crate::tls::Files;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::UNIX_EPOCH;

/// The value of a metric without labels.
#[track_caller]
fn value(metrics: &str, name: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().expect("a number")
}

/// What a service with TLS answers.
fn of(both: &Both) -> String {
    let url = format!("{}/metrics", both.url.replace("http://", "https://"));
    let output = Command::new("curl").args(["--silent", "--fail", "--insecure", &url]).output().expect("curl runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The metrics of a service with TLS.
pub fn with_tls() -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let files = Files::new(directory.path());
    of(&Both::start(&directory.path().join("data"), &files.arguments()))
}

#[test]
fn process_and_disk_are_measured() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 10);
    let begin = std::fs::metadata(directory.path()).and_then(|about| about.modified()).expect("a time");
    let begin = begin.duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    let both = Both::start(directory.path(), &[]);
    let metrics = both.metrics();
    let metric = |name| value(&metrics, name);
    let resident = both.server.process.memory() as f64 * 1024.0;
    let found = metric("process_resident_memory_bytes");
    assert!(found > resident / 2.0 && found < resident * 2.0, "{found} and {resident}");
    assert!(metric("process_virtual_memory_bytes") > found);
    assert!((0.001..600.0).contains(&metric("process_cpu_seconds_total")));
    let started = metric("process_start_time_seconds");
    assert!((begin - 2.0..begin + 600.0).contains(&started), "{started} and {begin}");
    let count = |folder: &str| std::fs::read_dir(both.server.process.folder().join(folder)).expect("a process").count();
    let (threads, files) = (metric("process_threads"), metric("process_open_fds"));
    assert!(threads >= 4.0 && (threads - count("task") as f64).abs() < 64.0, "{threads}");
    assert!(files >= 8.0 && (files - count("fd") as f64).abs() < 16.0, "{files}");
    assert!(metric("process_max_fds") > files);
    let (free, size) = (metric("lendpay_data_disk_free_bytes"), metric("lendpay_data_disk_size_bytes"));
    assert!(free > 0.0 && free < size, "{free} of {size}");
    let log = std::fs::metadata(directory.path().join("log")).expect("a log").len();
    assert!((metric("lendpay_log_bytes") - log as f64).abs() < 1.0);
    let later = both.metrics();
    assert!(value(&later, "process_cpu_seconds_total") >= metric("process_cpu_seconds_total"));
    assert!(!metrics.contains("certificate"), "there is none");
}

#[test]
fn the_first_certificate_that_expires_is_told_and_a_renewed_one_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = Files::new(directory.path());
    let renew = |years: &[i32]| {
        let mut pem = String::new();
        for (n, year) in years.iter().enumerate() {
            let key = KeyPair::generate().expect("a key");
            let mut of = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
            of.not_after = date_time_ymd(*year, 1, 1);
            pem.push_str(&of.self_signed(&key).expect("a certificate").pem());
            if n == 0 {
                std::fs::write(&files.key, key.serialize_pem()).expect("a file");
                std::fs::set_permissions(&files.key, Permissions::from_mode(0o600)).expect("a mode");
            }
        }
        std::fs::write(&files.certificate, pem).expect("a file");
    };
    let expiry = |both: &Both| value(&of(both), "lendpay_certificate_expiry_timestamp_seconds");
    renew(&[2040, 2035]);
    let mut both = Both::start(&directory.path().join("data"), &files.arguments());
    assert_eq!(expiry(&both).to_string(), "2051222400");
    renew(&[2060]);
    both.server.process.wait_for("the certificate was read again");
    assert_eq!(expiry(&both).to_string(), "2840140800");
}

#[test]
fn of_150_partners_100_are_shown_and_the_others_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--rate-limit", "off"]);
    let agent = client();
    let operate = |method: &str, path: &str, body: &Value| -> Value {
        let request =
            ureq::http::Request::builder().method(method).uri(format!("{}/operator/partners/{path}", both.url));
        let request = request.header("x-operator-key", KEY).body(body.to_string()).expect("a request");
        let text = agent.run(request).expect("an answer").body_mut().read_to_string().expect("a text");
        serde_json::from_str(&text).expect("JSON")
    };
    let keys: Vec<_> = (0..150)
        .map(|n| {
            let id = format!("00000000-0000-4000-8000-{n:012}");
            operate("PUT", &id, &json!({ "name": format!("Partner {n}") }));
            let key = operate("POST", &format!("{id}/keys"), &json!({ "name": "a key", "areas": ["payments"] }));
            key["key"].as_str().expect("a key").to_owned()
        })
        .collect();
    for key in &keys {
        for (body, status) in [("{}", 201), ("{", 400)] {
            let answer = both.server.post("/payments/buyers", &[("x-service-apikey", key)], body).expect("an answer");
            assert_eq!(answer.status, status);
        }
    }
    // Nobody's.
    assert_eq!(
        both.server.post("/payments/buyers", &[("x-service-apikey", "x")], "{}").expect("an answer").status,
        401
    );
    let metrics = both.metrics();
    for (name, each, others) in [("requests", 2, 100), ("errors", 1, 50)] {
        let begin = format!("lendpay_partner_{name}_total{{partner=\"");
        let series: Vec<_> = metrics.lines().filter_map(|line| line.strip_prefix(&begin)).collect();
        assert_eq!(series.len(), 101, "{series:#?}");
        let end = format!("\"}} {each}");
        let partners = series.iter().filter(|one| one.starts_with("00000000-0000-4000-8000-") && one.ends_with(&end));
        assert_eq!(partners.count(), 100, "{series:#?}");
        assert!(series.contains(&format!("others\"}} {others}").as_str()), "{series:#?}");
    }
}
