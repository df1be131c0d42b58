//! An endpoint that this process serves.

use lendpay_domain::Timestamp;
use lendpay_domain::event::Event;
use lendpay_domain::query::EventFilter;
use lendpay_domain::webhook::{Course, Endpoint, Progress};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What is known of it.
pub struct Served {
    /// Differs each time that an endpoint begins to be served.
    pub run: u64,
    pub endpoint: Arc<Endpoint>,
    pub filter: EventFilter,
    /// Of the progress that the course began with.
    pub generation: u32,
    pub course: Course,
    /// What was read and neither delivered nor set aside, by sequence. The rest is read again when it is sent.
    events: BTreeMap<u64, Arc<Event>>,
    /// Whether it gets what is read for all. Otherwise it reads for itself until it is at the end of the log.
    pub at_end: bool,
    pub reading: bool,
    /// Whether it is in the worker's queue.
    pub queued: bool,
    /// Its place in the worker's timers.
    pub timer: Option<Timestamp>,
    /// Whether the last attempt failed.
    pub failing: bool,
}

impl Served {
    pub fn new(endpoint: Endpoint, progress: &Progress, run: u64) -> Self {
        let (course, filter) = (Course::new(&endpoint, progress), endpoint.filter());
        Self {
            run,
            endpoint: Arc::new(endpoint),
            filter,
            generation: progress.generation,
            course,
            events: BTreeMap::new(),
            at_end: false,
            reading: false,
            queued: false,
            timer: None,
            failing: false,
        }
    }

    /// Takes over what an operator has changed; `false` if that needs another course.
    pub fn adopt(&mut self, endpoint: &Endpoint) -> bool {
        let same = endpoint.filter() == self.filter && endpoint.in_flight == self.endpoint.in_flight;
        if same && *endpoint != *self.endpoint {
            self.endpoint = Arc::new(endpoint.clone());
        }
        same
    }

    /// Takes what it wants of a part of the log that ends at `end`.
    pub fn read(&mut self, events: Vec<Arc<Event>>, end: u64) {
        self.course.read(events.iter().map(AsRef::as_ref), end);
        self.events.extend(events.into_iter().map(|event| (event.sequence, event)));
    }

    /// An event that was read, if it is still there.
    pub fn event(&self, sequence: u64) -> Option<Arc<Event>> {
        self.events.get(&sequence).cloned()
    }

    pub fn delivered(&mut self, sequence: u64, now: Timestamp) {
        self.events.remove(&sequence);
        self.course.delivered(sequence, now);
    }

    /// Drops the events that are set aside.
    pub fn prune(&mut self) {
        self.events = self.events.split_off(&(self.course.cursor() + 1));
    }

    /// How many events wait, and how long ago the first of them happened. `last` is the end of the log.
    pub fn lag(&self, last: u64, now: Timestamp) -> (u64, Duration) {
        let unread = if self.at_end { 0 } else { last.saturating_sub(self.course.read_to()) };
        let first = self.events.values().next().and_then(|event| (now - event.occurred_at).to_std().ok());
        (self.events.len() as u64 + unread, first.unwrap_or_default())
    }
}
