//! The files for those who run the service speak of what there is.

use crate::data::fill;
use crate::operator::Both;
use serde_json::Value;
use std::collections::BTreeSet;

/// The metrics that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("lendpay_") || word.starts_with("process_")).collect()
}

#[test]
fn every_metric_of_the_dashboard_and_the_alerts_is_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let keys = crate::operator_webhooks::keys(directory.path(), &"5a".repeat(32));
    let both = Both::start(directory.path(), &["--secrets-key-file", keys.to_str().expect("UTF-8")]);
    let key = [("x-service-apikey", data.key.as_str())];
    assert_eq!(both.server.post("/payments/buyers", &key, "{}").expect("an answer").status, 201);
    // Some are there on one kind of store, or with TLS, only.
    let metrics = [both.metrics(), crate::postgres::metrics(), crate::metrics::with_tls()].concat();
    let there = named(&metrics);
    let (alerts, dashboard) =
        (include_str!("../../operations/alerts.yaml"), include_str!("../../operations/dashboard.json"));
    serde_json::from_str::<Value>(dashboard).expect("JSON");
    for text in [alerts, dashboard] {
        let wanted = named(text);
        assert!(wanted.len() > 4);
        assert_eq!(wanted.difference(&there).collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}

#[test]
fn the_units_bound_memory_leave_no_core_dump_and_open_the_default_addresses() {
    let service = include_str!("../../operations/lendpay.service");
    let socket = include_str!("../../operations/lendpay.socket");
    for line in ["LimitCORE=0", "MemoryMax=2G", "Requires=lendpay.socket"] {
        assert!(service.lines().any(|found| found == line), "{line}");
    }
    let help = crate::process::run(&["serve", "--help"]).stdout;
    for address in socket.lines().filter_map(|line| line.trim_start_matches("# ").strip_prefix("ListenStream=")) {
        assert!(help.contains(address), "{address}");
    }
}
