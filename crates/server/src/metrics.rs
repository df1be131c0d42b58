//! What `/metrics` answers: Prometheus' text format, version 0.0.4.
//!
//! Written by hand: all of it are counters that are there anyway, and the format is a page long. Labels are routes,
//! statuses, types, and ids of partners; never another id.

mod machine;
mod webhooks;

use crate::listener::{ConnectionSlots, Tls};
use crate::store::Kept;
use crate::webhooks::Deliverer;
use lendpay_api::{BUCKETS, Counts, Feed, RequestCounts, RouteCounts};
use lendpay_domain::event::Subject;
use lendpay_domain::log::CopyKind;
use lendpay_storage::embedded::OpenReport;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Everything that is counted.
pub struct Metrics<S> {
    /// Requests of partners.
    pub partner: Arc<RequestCounts>,
    /// Requests of the operator.
    pub operator: Arc<RequestCounts>,
    /// Readers that wait for events.
    pub feed: Arc<Feed>,
    /// Weak, so that a slow reader of metrics does not keep the store open.
    pub store: Weak<S>,
    /// Connections of partners, and of the operator.
    pub slots: [Arc<ConnectionSlots>; 2],
    /// Log lines that were dropped.
    pub dropped_lines: Arc<AtomicU64>,
    pub tls: Option<Arc<Tls>>,
    /// What sends webhooks, if something does.
    pub webhooks: Option<Deliverer>,
}

impl<S: Kept> Metrics<S> {
    /// All of it, as it is now.
    pub fn write(&self) -> String {
        let mut page = Page(String::with_capacity(16 * 1024));
        let version = concat!(r#"version=""#, env!("CARGO_PKG_VERSION"), r#"""#);
        page.family("lendpay_build_info", "gauge", "The program that runs.");
        page.sample("lendpay_build_info", version, 1);
        page.process();
        page.requests([("partner", &self.partner), ("operator", &self.operator)]);
        page.partners(&self.partner);
        page.connections(["partner", "operator"].into_iter().zip(&self.slots));
        page.family("lendpay_waiting_readers", "gauge", "Requests that wait for events.");
        for (side, waiting) in ["partner", "operator"].into_iter().zip(self.feed.waiting()) {
            page.sample("lendpay_waiting_readers", format_args!(r#"side="{side}""#), waiting);
        }
        let help = "Log lines that were dropped, since nobody read them and 1 MiB waited.";
        page.counters("lendpay_log_lines_dropped_total", help, [("", count(&self.dropped_lines))]);
        if let Some(expiry) = self.tls.as_ref().and_then(|tls| tls.expiry()) {
            let help = "When the first certificate of --tls-cert expires, in seconds since 1970.";
            page.gauge("lendpay_certificate_expiry_timestamp_seconds", help, expiry.as_secs());
        }
        if let Some(webhooks) = &self.webhooks {
            page.webhooks(webhooks.counts());
        }
        if let Some(store) = self.store.upgrade() {
            page.store(&*store);
        }
        page.0
    }
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.0.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// Routes, statuses and types hold nothing that would have to be escaped in labels.
    fn sample(&mut self, name: &str, labels: impl Display, value: impl Display) {
        let labels = labels.to_string();
        let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
        self.0.push_str(&format!("{name}{labels} {value}\n"));
    }

    fn counters<L: Display>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (L, u64)>) {
        self.family(name, "counter", help);
        samples.into_iter().for_each(|(labels, value)| self.sample(name, labels, value));
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }

    /// The sum of what a number of observations saw.
    fn summary(&mut self, name: &str, help: &str, sum: impl Display, count: u64) {
        self.family(name, "summary", help);
        self.sample(&format!("{name}_sum"), "", sum);
        self.sample(&format!("{name}_count"), "", count);
    }

    fn requests(&mut self, sides: [(&str, &Arc<RequestCounts>); 2]) {
        let routes = || sides.iter().flat_map(|(side, counts)| counts.routes().iter().map(move |route| (*side, route)));
        let by_status = routes().flat_map(|(side, route)| {
            let labels = move |status| format!(r#"side="{side}",route="{}",status="{status}""#, route.template());
            route.by_status().map(move |(status, count)| (labels(status), count))
        });
        self.counters("lendpay_http_requests_total", "Requests by route and status.", by_status);
        let help = "From the first byte of a request to the head of its answer, without waiting for events.";
        self.family("lendpay_http_request_duration_seconds", "histogram", help);
        routes().filter(|(_, route)| route.total().0 > 0).for_each(|(side, route)| self.durations(side, route));
        let help = "Requests that were refused with 429, by what was over its limit.";
        let limited = sides[0].1.limited().into_iter().map(|(over, count)| (format!(r#"over="{over}""#), count));
        self.counters("lendpay_rate_limited_total", help, limited);
        let failures = sides.map(|(side, counts)| (format!(r#"side="{side}""#), counts.auth_failures()));
        self.counters("lendpay_auth_failures_total", "Requests without valid credentials.", failures);
    }

    fn durations(&mut self, side: &str, route: &RouteCounts) {
        let name = "lendpay_http_request_duration_seconds";
        let (bucket, (count, sum)) = (format!("{name}_bucket"), route.total());
        let labels = format!(r#"side="{side}",route="{}""#, route.template());
        let mut so_far = 0;
        for (bound, more) in BUCKETS.iter().zip(route.buckets()) {
            so_far += more;
            self.sample(&bucket, format_args!(r#"{labels},le="{}""#, bound.as_secs_f64()), so_far);
        }
        self.sample(&bucket, format_args!(r#"{labels},le="+Inf""#), count.max(so_far));
        self.sample(&format!("{name}_sum"), &labels, sum.as_secs_f64());
        self.sample(&format!("{name}_count"), &labels, count.max(so_far));
    }

    fn partners(&mut self, counts: &RequestCounts) {
        let (shown, others) = counts.partners().read(Instant::now());
        let shown = shown.into_iter().map(|(partner, counts)| (partner.to_string(), counts));
        let all: Vec<_> = shown.chain([("others".to_owned(), others)]).collect();
        let by_partner = |number: fn(&Counts) -> u64| {
            all.iter().map(move |(partner, counts)| (format!(r#"partner="{partner}""#), number(counts)))
        };
        let help = "Requests of the 100 busiest partners by their ids, and of all others together.";
        self.counters("lendpay_partner_requests_total", help, by_partner(|counts| counts.requests));
        let help = "Requests of the same partners that were answered with a status of 400 or more.";
        self.counters("lendpay_partner_errors_total", help, by_partner(|counts| counts.errors));
    }

    fn connections<'a>(&mut self, sides: impl Iterator<Item = (&'a str, &'a Arc<ConnectionSlots>)> + Clone) {
        self.family("lendpay_connections", "gauge", "Connections that are open.");
        for (side, slots) in sides.clone() {
            self.sample("lendpay_connections", format_args!(r#"side="{side}""#), slots.taken());
        }
        let by_reason = |reasons: fn(&ConnectionSlots) -> Vec<(&str, &AtomicU64)>| {
            sides.clone().flat_map(move |(side, slots)| {
                let labels = move |reason| format!(r#"side="{side}",reason="{reason}""#);
                reasons(slots).into_iter().map(move |(reason, counter)| (labels(reason), count(counter)))
            })
        };
        let refused = by_reason(|slots| vec![("full", &slots.full), ("address", &slots.greedy)]);
        self.counters("lendpay_connections_refused_total", "Connections that got no slot, and why.", refused);
        let ended =
            by_reason(|slots| vec![("head", &slots.slow), ("idle", &slots.idle), ("displaced", &slots.displaced)]);
        let help = "Connections that were ended for being slow or idle, or to make room for others.";
        self.counters("lendpay_connections_ended_total", help, ended);
    }

    fn store(&mut self, store: &impl Kept) {
        let stats = store.stats();
        self.gauge("lendpay_store_up", "1 while the store works.", u8::from(store.failure_reason().is_none()));
        if let Some((OpenReport { rebuilt, cut_bytes, .. }, rebuild_estimate)) = store.files() {
            let help = "Bytes that the last start cut off the end of the log. Nobody had been told of what they hold.";
            self.gauge("lendpay_log_cut_bytes", help, cut_bytes);
            let help = "1 if the last start rebuilt the index from the log.";
            self.gauge("lendpay_index_rebuilt", help, u8::from(rebuilt));
            let help = "How long a start would take that had to rebuild the index.";
            self.gauge("lendpay_index_rebuild_estimate_seconds", help, rebuild_estimate.as_secs_f64());
        }
        if let Some((log, directory)) = store.log() {
            self.disk(directory);
            let help = "Size of the log, which holds everything.";
            self.gauge("lendpay_log_bytes", help, log.end());
            let name = "lendpay_copy_timestamp_seconds";
            let help = "Everything that was acknowledged before is in the last copy of that kind, in seconds since 1970; \
                        0 if none is known.";
            self.family(name, "gauge", help);
            for (kind, label) in [(CopyKind::Backup, "backup"), (CopyKind::Export, "export")] {
                let as_of = log.last_copy(kind).map_or(0, |as_of| as_of.timestamp());
                self.sample(name, format_args!(r#"kind="{label}""#), as_of);
            }
        }
        self.gauge("lendpay_store_queue_depth", "Commands that wait for the disk or the database.", stats.queued);
        let help = "Commands of a group that was made durable.";
        self.summary("lendpay_store_group_commands", help, stats.commands, stats.groups);
        self.gauge("lendpay_store_largest_group", "The most commands that a group had.", stats.largest_group);
        let help = "Waiting for the disk, or for the database's commit.";
        self.summary("lendpay_store_sync_seconds", help, stats.syncing.as_secs_f64(), stats.groups);
        let help = "Refused calls that `lendpay operation` cannot find, since there were too many or they could not be written.";
        self.counters("lendpay_operations_dropped_total", help, [("", stats.calls_lost)]);
        if let Some(standbys) = stats.standbys {
            let help = "Standbys that a commit waits for, as seen when /health/ready was asked last.";
            self.gauge("lendpay_store_synchronous_standbys", help, standbys);
        }
        let events = || Subject::TYPES.iter().zip(stats.events);
        let transition =
            |(kind, count): (&&str, u64)| Some((format!(r#"transition="{}""#, kind.strip_prefix("offer.")?), count));
        let help = "Offers by the status that they reached.";
        self.counters("lendpay_offer_transitions_total", help, events().filter_map(transition));
        let by_type = events().map(|(kind, count)| (format!(r#"type="{kind}""#), count));
        self.counters("lendpay_events_total", "Events by type.", by_type);
    }
}
