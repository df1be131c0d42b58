//! What the shell counts: requests by route and status, and how long they took. Plain counters, so that a request costs
//! a few additions; whoever shows them chooses the format.

use crate::partner_counts::PartnerCounts;
use lendpay_domain::PartnerId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets of durations.
pub const BUCKETS: [Duration; 12] = [
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
];

/// The first status that is counted.
const FIRST: u16 = 200;
const STATUSES: usize = 400;

/// The counters of a side. A side that is given them fills in its routes.
#[derive(Debug, Default)]
pub struct RequestCounts {
    routes: OnceLock<Box<[RouteCounts]>>,
    /// Refused with 429: partners, addresses.
    limited: [AtomicU64; 2],
    auth_failures: AtomicU64,
    partners: PartnerCounts,
}

/// The counters of a route.
#[derive(Debug)]
pub struct RouteCounts {
    template: String,
    by_status: Box<[AtomicU64]>,
    buckets: [AtomicU64; BUCKETS.len()],
    microseconds: AtomicU64,
    count: AtomicU64,
}

impl RequestCounts {
    /// Every route, and last `-` for requests to no known address.
    pub fn routes(&self) -> &[RouteCounts] {
        self.routes.get().map(AsRef::as_ref).unwrap_or_default()
    }

    pub(crate) fn set_routes<'a>(&self, templates: impl Iterator<Item = &'a str>) {
        let routes = templates.chain(["-"]).map(RouteCounts::new).collect();
        // Counters that already serve a side keep its routes.
        let _ = self.routes.set(routes);
    }

    /// Requests that were refused with 429: of a `partner` over its limit, and of an `address` that failed to
    /// authenticate too often.
    pub fn limited(&self) -> [(&'static str, u64); 2] {
        let [partner, address] = self.limited.each_ref().map(|count| count.load(Ordering::Relaxed));
        [("partner", partner), ("address", address)]
    }

    /// Requests without valid credentials, whether they were told so (401) or were too many (429).
    pub fn auth_failures(&self) -> u64 {
        self.auth_failures.load(Ordering::Relaxed)
    }

    /// Requests of each partner that was known as such.
    pub const fn partners(&self) -> &PartnerCounts {
        &self.partners
    }

    /// Counts a request, of a partner if one is known, to the route of this number, or to none.
    pub(crate) fn count(&self, route: Option<usize>, status: u16, took: Duration, partner: Option<PartnerId>) {
        if status == 429 {
            self.limited[usize::from(partner.is_none())].fetch_add(1, Ordering::Relaxed);
        }
        if status == 401 || status == 429 && partner.is_none() {
            self.auth_failures.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(partner) = partner {
            self.partners.count(partner, status);
        }
        let routes = self.routes();
        if let Some(route) = routes.get(route.unwrap_or(routes.len().saturating_sub(1))) {
            route.add(status, took);
        }
    }
}

impl RouteCounts {
    fn new(template: &str) -> Self {
        Self {
            template: template.to_owned(),
            by_status: (0..STATUSES).map(|_| AtomicU64::new(0)).collect(),
            buckets: Default::default(),
            microseconds: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }

    fn add(&self, status: u16, took: Duration) {
        if let Some(count) = self.by_status.get(usize::from(status.saturating_sub(FIRST))) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(bucket) = BUCKETS.iter().position(|bound| took <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        self.microseconds
            .fetch_add(u64::try_from(took.as_micros()).expect("less than 584,000 years"), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The path as the document writes it.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The statuses that were answered, with their numbers.
    pub fn by_status(&self) -> impl Iterator<Item = (u16, u64)> {
        let counts = self.by_status.iter().map(|count| count.load(Ordering::Relaxed));
        (FIRST..).zip(counts).filter(|(_, count)| *count > 0)
    }

    /// For each of [`BUCKETS`] the requests that took at most that long and longer than the one before it.
    pub fn buckets(&self) -> [u64; BUCKETS.len()] {
        self.buckets.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// All requests, and the time that they took together.
    pub fn total(&self) -> (u64, Duration) {
        (self.count.load(Ordering::Relaxed), Duration::from_micros(self.microseconds.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_status() {
        let counts = RequestCounts::default();
        let known = Some(PartnerId::new(uuid::Uuid::from_u128(1)));
        counts.count(None, 200, Duration::ZERO, known);
        counts.set_routes(["/a", "/b"].into_iter());
        for (route, status, took) in [(Some(1), 200, 1), (Some(1), 404, 3), (None, 404, 29_000), (Some(1), 200, 1)] {
            counts.count(route, status, Duration::from_millis(took), known);
        }
        let [a, b, other] = counts.routes() else { panic!("three routes") };
        assert_eq!(a.by_status().count(), 0);
        assert_eq!(b.by_status().collect::<Vec<_>>(), [(200, 2), (404, 1)]);
        assert_eq!((b.buckets()[1], b.buckets()[3], b.total()), (2, 1, (3, Duration::from_millis(5))));
        assert_eq!((other.template(), other.buckets()[11]), ("-", 1));
        for (status, known) in [(401, None), (429, None), (429, known), (403, known)] {
            counts.count(None, status, Duration::ZERO, known);
        }
        assert_eq!((counts.limited(), counts.auth_failures()), ([("partner", 1), ("address", 1)], 2));
    }
}
