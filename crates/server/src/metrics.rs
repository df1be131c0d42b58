//! What `/metrics` answers: Prometheus' text format, version 0.0.4.
//!
//! Written by hand: all of it are counters that are there anyway, and the format is a page long. Labels are routes, statuses
//! and types; never an id.

use crate::listener::ConnectionSlots;
use crate::store::Kept;
use lendpay_api::{BUCKETS, RequestCounts};
use lendpay_domain::event::Subject;
use lendpay_storage::embedded::OpenReport;
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Everything that is counted.
pub struct Metrics<S> {
    /// Requests of partners.
    pub partner: Arc<RequestCounts>,
    /// Requests of the operator.
    pub operator: Arc<RequestCounts>,
    /// Weak, so that a slow reader of metrics does not keep the store open.
    store: Weak<S>,
    /// Connections of partners, and of the operator.
    slots: [Arc<ConnectionSlots>; 2],
    /// Log lines that were dropped.
    dropped_lines: Arc<AtomicU64>,
}

impl<S: Kept> Metrics<S> {
    /// Counters that begin at 0, and those of a store.
    pub fn new(store: Weak<S>, slots: [Arc<ConnectionSlots>; 2], dropped_lines: Arc<AtomicU64>) -> Self {
        Self { partner: Arc::default(), operator: Arc::default(), store, slots, dropped_lines }
    }

    /// All of it, as it is now.
    pub fn write(&self) -> String {
        let mut page = Page(String::with_capacity(16 * 1024));
        page.family("lendpay_build_info", "gauge", "The program that runs.");
        page.sample("lendpay_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        let sides = [("partner", &self.partner), ("operator", &self.operator)];
        page.family("lendpay_http_requests_total", "counter", "Requests by route and status.");
        for (side, counts) in sides {
            for route in counts.routes() {
                for (status, count) in route.by_status() {
                    let status = status.to_string();
                    let labels = [("side", side), ("route", route.template()), ("status", status.as_str())];
                    page.sample("lendpay_http_requests_total", &labels, count);
                }
            }
        }
        page.family(
            "lendpay_http_request_duration_seconds",
            "histogram",
            "From the first byte of a request to the head of its answer.",
        );
        for (side, counts) in sides {
            counts.routes().iter().filter(|route| route.total().0 > 0).for_each(|route| page.durations(side, route));
        }
        page.family(
            "lendpay_rate_limited_total",
            "counter",
            "Requests that were refused with 429, by what was over its limit.",
        );
        for (over, count) in self.partner.limited() {
            page.sample("lendpay_rate_limited_total", &[("over", over)], count);
        }
        page.family("lendpay_auth_failures_total", "counter", "Requests without valid credentials.");
        for (side, counts) in sides {
            page.sample("lendpay_auth_failures_total", &[("side", side)], counts.auth_failures());
        }
        page.connections(&self.slots);
        page.single(
            "lendpay_log_lines_dropped_total",
            "counter",
            "Log lines that were dropped, since nobody read them and 1 MiB waited.",
            self.dropped_lines.load(Ordering::Relaxed),
        );
        if let Some(store) = self.store.upgrade() {
            page.store(&*store);
        }
        page.0
    }
}

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (n, (label, text)) in labels.iter().enumerate() {
            let before = if n == 0 { '{' } else { ',' };
            // Routes, statuses and types hold nothing that would have to be escaped.
            let _ = write!(self.0, "{before}{label}=\"{text}\"");
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    fn durations(&mut self, side: &str, route: &lendpay_api::RouteCounts) {
        let name = "lendpay_http_request_duration_seconds";
        let (count, sum) = route.total();
        let labels = [("side", side), ("route", route.template())];
        let mut so_far = 0;
        for (bound, more) in BUCKETS.iter().zip(route.buckets()) {
            so_far += more;
            let bound = bound.as_secs_f64().to_string();
            self.sample(&format!("{name}_bucket"), &[labels[0], labels[1], ("le", &bound)], so_far);
        }
        self.sample(&format!("{name}_bucket"), &[labels[0], labels[1], ("le", "+Inf")], count.max(so_far));
        self.sample(&format!("{name}_sum"), &labels, sum.as_secs_f64());
        self.sample(&format!("{name}_count"), &labels, count.max(so_far));
    }

    fn connections(&mut self, slots: &[Arc<ConnectionSlots>; 2]) {
        let sides = || ["partner", "operator"].into_iter().zip(slots);
        self.family("lendpay_connections", "gauge", "Connections that are open.");
        for (side, slots) in sides() {
            self.sample("lendpay_connections", &[("side", side)], slots.taken());
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.family("lendpay_connections_refused_total", "counter", "Connections that got no slot, and why.");
        for (side, slots) in sides() {
            for (reason, counter) in [("full", &slots.full), ("address", &slots.greedy)] {
                let labels = [("side", side), ("reason", reason)];
                self.sample("lendpay_connections_refused_total", &labels, count(counter));
            }
        }
        self.family(
            "lendpay_connections_ended_total",
            "counter",
            "Connections that were ended for being slow or idle, or to make room for others.",
        );
        for (side, slots) in sides() {
            for (reason, counter) in [("head", &slots.slow), ("idle", &slots.idle), ("displaced", &slots.displaced)] {
                let labels = [("side", side), ("reason", reason)];
                self.sample("lendpay_connections_ended_total", &labels, count(counter));
            }
        }
    }

    fn store(&mut self, store: &impl Kept) {
        let stats = store.stats();
        self.single(
            "lendpay_store_up",
            "gauge",
            "1 while the store works.",
            i32::from(store.failure_reason().is_none()),
        );
        if let Some(OpenReport { rebuilt, cut_bytes, .. }) = store.opened() {
            let help = "Bytes that the last start cut off the end of the log. Nobody had been told of what they hold.";
            self.single("lendpay_log_cut_bytes", "gauge", help, cut_bytes);
            let help = "1 if the last start rebuilt the index from the log.";
            self.single("lendpay_index_rebuilt", "gauge", help, i32::from(rebuilt));
        }
        if let Some(estimate) = store.rebuild_estimate() {
            let help = "How long a start would take that had to rebuild the index.";
            self.single("lendpay_index_rebuild_estimate_seconds", "gauge", help, seconds(estimate));
        }
        self.single(
            "lendpay_store_queue_depth",
            "gauge",
            "Commands that wait for the disk or the database.",
            stats.queued,
        );
        self.family("lendpay_store_group_commands", "summary", "Commands of a group that was made durable.");
        self.sample("lendpay_store_group_commands_sum", &[], stats.commands);
        self.sample("lendpay_store_group_commands_count", &[], stats.groups);
        self.single("lendpay_store_largest_group", "gauge", "The most commands that a group had.", stats.largest_group);
        self.family("lendpay_store_sync_seconds", "summary", "Waiting for the disk, or for the database's commit.");
        self.sample("lendpay_store_sync_seconds_sum", &[], seconds(stats.syncing));
        self.sample("lendpay_store_sync_seconds_count", &[], stats.groups);
        if let Some(standbys) = stats.standbys {
            let help = "Standbys that a commit waits for, as seen when /health/ready was asked last.";
            self.single("lendpay_store_synchronous_standbys", "gauge", help, standbys);
        }
        self.family("lendpay_offer_transitions_total", "counter", "Offers by the status that they reached.");
        for (kind, count) in Subject::TYPES.iter().zip(stats.events) {
            if let Some(transition) = kind.strip_prefix("offer.") {
                self.sample("lendpay_offer_transitions_total", &[("transition", transition)], count);
            }
        }
        self.family("lendpay_events_total", "counter", "Events by type.");
        for (kind, count) in Subject::TYPES.iter().zip(stats.events) {
            self.sample("lendpay_events_total", &[("type", kind)], count);
        }
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
