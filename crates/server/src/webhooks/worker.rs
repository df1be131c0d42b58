//! Serves endpoints: reads the log once for all of them, lets their courses decide what is sent, and keeps what they
//! note.
//!
//! One task owns all state. What takes time is done by tasks of its own, which tell what they have [`Done`]. All of
//! them run on the thread that makes requests, and only the store is asked elsewhere: while commits need the
//! processors, deliveries wait.

mod traffic;

use super::deliverer::Deliverer;
use super::pace::{PAUSE, Pace};
use super::served::Served;
use super::store::{Asked, Looked};
use lendpay_api::{Clock, uuid};
use lendpay_domain::event::EventPage;
use lendpay_domain::webhook::course::Due;
use lendpay_domain::webhook::{Attempt, HELD, Noted, Retries, State, Webhook};
use lendpay_domain::{EndpointId, HolderId, PartnerId, Store, Timestamp};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

/// How often endpoints are looked at, and what was delivered is saved.
const LOOK: Duration = Duration::from_secs(1);

/// How many requests may be under way. An endpoint whose last one failed uses the first half only.
const MOST: usize = 1_024;

/// Of how many partners events are asked for by their ids.
const NAMED: usize = 64;

/// How long requests that are under way have when the service stops.
const GRACE: Duration = Duration::from_secs(5);

/// What a task has done.
enum Done {
    /// Sent an event, or tried to.
    Sent { endpoint: EndpointId, run: u64, due: Due, attempt: Attempt, retry_after: Option<Duration> },
    /// Read the log for all that are at its end: the events of the partners that were wanted then, or everybody's.
    Log { after: u64, wanted: Option<Arc<[PartnerId]>>, page: EventPage },
    /// Read the log for one.
    Past { endpoint: EndpointId, run: u64, page: EventPage },
    /// Looked at all endpoints.
    Looked(Looked),
    /// Looked at one.
    Found(EndpointId, Option<Webhook>),
    /// Saved what was noted, which was outdated for some.
    Saved(Vec<EndpointId>),
    /// Disabled an endpoint.
    Disabled(EndpointId),
}

/// The task.
pub struct Worker<S> {
    store: Asked<S>,
    deliverer: Deliverer,
    clock: Arc<dyn Clock>,
    retries: Retries,
    pace: Pace,
    holder: HolderId,
    changed: mpsc::Receiver<EndpointId>,
    served: HashMap<EndpointId, Served>,
    /// Those that are served, by their owners.
    owners: BTreeMap<Option<PartnerId>, BTreeSet<EndpointId>>,
    /// Until when endpoints are held.
    held: HashMap<EndpointId, Instant>,
    /// Those that are looked at, or are being disabled.
    finding: HashSet<EndpointId>,
    disabling: HashSet<EndpointId>,
    /// Up to where the log was read for all that are at its end; `None` while there are none.
    head: Option<u64>,
    /// Whether there was more behind it.
    more: bool,
    /// The end of the log, as a read told last.
    last: u64,
    /// Endpoints that may have something to send.
    queue: VecDeque<EndpointId>,
    timers: BTreeSet<(Timestamp, EndpointId)>,
    /// What was noted of endpoints that are not served any more.
    left: Vec<Noted>,
    work: JoinSet<Done>,
    reading: bool,
    looking: bool,
    saving: bool,
    in_flight: usize,
    runs: u64,
}

impl<S: Store> Worker<S> {
    pub fn new(
        store: Asked<S>,
        deliverer: Deliverer,
        clock: Arc<dyn Clock>,
        retries: Retries,
        pace: Pace,
        changed: mpsc::Receiver<EndpointId>,
    ) -> Self {
        Self {
            store,
            deliverer,
            clock,
            retries,
            pace,
            holder: HolderId::new(uuid()),
            changed,
            served: HashMap::new(),
            owners: BTreeMap::new(),
            held: HashMap::new(),
            finding: HashSet::new(),
            disabling: HashSet::new(),
            head: None,
            more: false,
            last: 0,
            queue: VecDeque::new(),
            timers: BTreeSet::new(),
            left: Vec::new(),
            work: JoinSet::new(),
            reading: false,
            looking: false,
            saving: false,
            in_flight: 0,
            runs: 0,
        }
    }

    /// Serves until it is told to stop; then requests that are under way end, and what was delivered is saved.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stop.is_cancelled() {
            self.read_log();
            let now = self.clock.now();
            // At each tick the clock is read anyway.
            let due = |(at, _): &(Timestamp, _)| (*at - now).to_std().unwrap_or_default();
            let next = if self.pace.allows() {
                self.send(now);
                self.timers.first().map_or(LOOK, due)
            } else {
                PAUSE
            };
            tokio::select! {
                () = stop.cancelled() => {}
                Some(done) = self.work.join_next() => self.take_all(done),
                Some(endpoint) = self.changed.recv() => self.look_at(endpoint),
                _ = ticks.tick() => self.tick(),
                () = sleep(next.min(LOOK)) => {}
            }
        }
        self.end().await;
    }

    async fn end(mut self) {
        let end = Instant::now() + GRACE;
        while self.in_flight > 0 || self.saving {
            let Ok(Some(done)) = timeout_at(end, self.work.join_next()).await else { break };
            self.take_all(done);
        }
        let noted = self.noted();
        self.store.save(noted).await;
        self.store.release(self.holder).await;
    }

    /// Takes what a task has done, and what others have done meanwhile.
    fn take_all(&mut self, first: Result<Done, JoinError>) {
        let mut next = Some(first);
        while let Some(done) = next {
            self.take(done.expect("tasks do not panic and are not aborted"));
            next = self.work.try_join_next();
        }
    }

    fn take(&mut self, done: Done) {
        match done {
            Done::Sent { endpoint, run, due, attempt, retry_after } => {
                self.in_flight -= 1;
                self.sent(endpoint, run, due, attempt, retry_after);
            }
            Done::Log { after, wanted, page } => {
                self.reading = false;
                // An endpoint that is served only since may want what was left out: it is read again.
                if self.head == Some(after) && wanted.is_none_or(|wanted| self.want_no_more_than(&wanted)) {
                    self.distribute(after, page);
                }
            }
            Done::Past { endpoint, run, page } => self.read_past(endpoint, run, page),
            Done::Looked(looked) => {
                self.looking = false;
                self.looked(looked);
            }
            Done::Found(endpoint, webhook) => {
                self.finding.remove(&endpoint);
                self.found(endpoint, webhook);
            }
            Done::Saved(outdated) => {
                self.saving = false;
                self.look();
                for endpoint in outdated {
                    drop(self.forget(endpoint));
                    self.find(endpoint);
                }
            }
            Done::Disabled(endpoint) => drop(self.disabling.remove(&endpoint)),
        }
    }

    fn tick(&mut self) {
        let (now, head) = (self.clock.now(), self.head.unwrap_or_default());
        let (mut aside, mut lag_events, mut lag) = (0, 0, Duration::ZERO);
        for served in self.served.values_mut() {
            if served.at_end {
                served.course.read(None, head);
            }
            served.prune();
            aside += served.course.aside() as u64;
            let (events, time) = served.lag(self.last, now);
            (lag_events, lag) = (lag_events.max(events), lag.max(time));
        }
        let served = self.served.len() as u64;
        self.deliverer.counts().set_state(|state| {
            (state.served, state.aside, state.lag_events, state.lag) = (served, aside, lag_events, lag);
        });
        let noted = if self.saving { Vec::new() } else { self.noted() };
        if noted.is_empty() {
            self.look();
        } else {
            // Endpoints are looked at when that is done: nobody can hold one whose row is being written.
            self.saving = true;
            let store = self.store.clone();
            self.work.spawn(async move { Done::Saved(store.save(noted).await) });
        }
    }

    /// What is to be saved.
    fn noted(&mut self) -> Vec<Noted> {
        let served = self.served.values_mut().filter_map(|served| served.course.noted());
        self.left.drain(..).chain(served).collect()
    }

    /// An operator has changed an endpoint.
    fn look_at(&mut self, endpoint: EndpointId) {
        self.look();
        if self.served.contains_key(&endpoint) {
            self.find(endpoint);
        }
    }

    fn look(&mut self) {
        if !std::mem::replace(&mut self.looking, true) {
            let (store, holder) = (self.store.clone(), self.holder);
            self.work.spawn(async move { Done::Looked(store.look(holder).await) });
        }
    }

    fn find(&mut self, endpoint: EndpointId) {
        if self.finding.insert(endpoint) {
            let store = self.store.clone();
            self.work.spawn(async move { Done::Found(endpoint, store.webhook(endpoint).await) });
        }
    }

    fn looked(&mut self, Looked { endpoints, held, began }: Looked) {
        let (mut states, mut active) = ([0; 3], HashMap::new());
        let known: HashSet<_> = endpoints.iter().map(|endpoint| endpoint.id).collect();
        for endpoint in endpoints {
            match endpoint.state() {
                State::Active => {
                    states[0] += 1;
                    active.insert(endpoint.id, endpoint);
                }
                State::Paused => states[1] += 1,
                State::Disabled(_) => states[2] += 1,
                State::Deleted => {}
            }
        }
        self.deliverer.counts().set_state(|state| state.endpoints = states);
        self.deliverer.keep_only(|endpoint| known.contains(&endpoint));
        self.held.extend(held.into_iter().map(|endpoint| (endpoint, began + HELD)));
        let now = Instant::now();
        self.held.retain(|endpoint, until| now < *until && active.contains_key(endpoint));
        let gone: Vec<_> = self.served.keys().filter(|endpoint| !self.held.contains_key(endpoint)).copied().collect();
        gone.into_iter().for_each(|endpoint| self.leave(endpoint));
        active.retain(|endpoint, _| self.held.contains_key(endpoint));
        for (id, endpoint) in active {
            if !self.served.get_mut(&id).is_some_and(|served| served.adopt(&endpoint)) {
                self.leave(id);
                self.find(id);
            }
        }
    }

    fn found(&mut self, id: EndpointId, webhook: Option<Webhook>) {
        let may = self.held.contains_key(&id) && !self.disabling.contains(&id);
        let webhook = webhook.filter(|_| may);
        let Some(progress) = webhook.as_ref().and_then(Webhook::served) else { return self.leave(id) };
        let same = |served: &Served| served.generation == progress.generation;
        if self.served.get(&id).is_some_and(same) {
            return;
        }
        drop(self.forget(id));
        self.runs += 1;
        let endpoint = webhook.as_ref().expect("it has a progress").endpoint.clone();
        self.owners.entry(endpoint.owner.partner()).or_default().insert(id);
        self.served.insert(id, Served::new(endpoint, progress, self.runs));
        self.enqueue(id);
    }

    /// Serves an endpoint no more, and notes how far it has come.
    fn leave(&mut self, id: EndpointId) {
        let noted = self.forget(id).and_then(|mut served| served.course.noted());
        self.left.extend(noted);
    }

    /// Whose events are wanted, in order; `None` if everybody's, or those of too many to name them.
    fn wanted(&self) -> Option<Arc<[PartnerId]>> {
        if self.owners.len() > NAMED { None } else { self.owners.keys().copied().collect() }
    }

    fn want_no_more_than(&self, wanted: &[PartnerId]) -> bool {
        self.owners.keys().all(|owner| owner.is_some_and(|owner| wanted.binary_search(&owner).is_ok()))
    }

    fn forget(&mut self, id: EndpointId) -> Option<Served> {
        let served = self.served.remove(&id)?;
        if let Entry::Occupied(mut owner) = self.owners.entry(served.endpoint.owner.partner()) {
            owner.get_mut().remove(&id);
            if owner.get().is_empty() {
                owner.remove();
            }
        }
        served.timer.map(|at| self.timers.remove(&(at, id)));
        if !self.served.values().any(|served| served.at_end) {
            self.head = None;
        }
        Some(served)
    }
}
