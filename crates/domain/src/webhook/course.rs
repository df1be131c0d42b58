//! Which events may be sent to an endpoint now. Whoever serves an endpoint has one [`Course`] of it: it is told what
//! the log holds and what became of each sending, and says what to send, and what to keep.
//!
//! An event is sent when every earlier one of its lane is delivered, and the number of those under way allows it. One
//! that has failed less than three times keeps its place among those under way until it is tried again. One that is set
//! aside does not, and the later events of its lane are set aside with it, so that the cursor goes on.

use super::progress::ASIDE;
use super::{Aside, Endpoint, Failed, InFlight, Lane, Noted, Problem, Progress, Retries, Verdict};
use crate::event::Event;
use crate::{EndpointId, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// How many events are held that are not set aside.
const WINDOW: usize = 1_000;

/// How many events may be delivered ahead of one that holds the cursor back. So many may be sent again after a crash.
const AHEAD: usize = 10_000;

/// How far the cursor comes before it is noted although nothing was sent: past events of others.
const FAR: u64 = 10_000;

/// An event that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its sequence.
    pub sequence: u64,
    /// Which attempt it is, counted from 1.
    pub number: u32,
}

/// What is known of an endpoint's delivery by the process that serves it.
#[derive(Debug)]
pub struct Course {
    endpoint: EndpointId,
    limit: usize,
    /// The most that are set aside.
    most: usize,
    generation: u32,
    cursor: u64,
    /// Up to where the log was read.
    read_to: u64,
    last_success_at: Option<Timestamp>,
    /// What is read and not delivered.
    held: BTreeMap<u64, Item>,
    /// The sequences that are held, by what they are in order for: their lanes, or all together.
    lanes: HashMap<Option<Lane>, BTreeSet<u64>>,
    ready: Ready,
    /// The first events of lanes that wait for another attempt, and until when.
    timers: BTreeSet<(Timestamp, u64)>,
    /// How many are set aside.
    aside: usize,
    /// How many of those are under way.
    aside_flying: usize,
    /// How many others are under way, or wait for their second or third attempt.
    slots: usize,
    /// What is delivered past the cursor.
    ahead: BTreeSet<u64>,
    unsaved: Unsaved,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    lane: Lane,
    aside: bool,
    flying: bool,
    failed: Option<Failed>,
}

/// The first events of lanes that may be sent.
#[derive(Debug, Default)]
struct Ready {
    /// For the first time.
    fresh: BTreeSet<u64>,
    /// For the second or third time: their places are kept.
    failing: BTreeSet<u64>,
    /// From among those that are set aside.
    aside: BTreeSet<u64>,
}

/// What has changed since it was noted.
#[derive(Debug, Default)]
struct Unsaved {
    sent: bool,
    cursor: u64,
    aside: BTreeSet<u64>,
    done: BTreeSet<u64>,
}

impl Course {
    /// Goes on where an endpoint's stored progress says.
    pub fn new(endpoint: &Endpoint, progress: &Progress) -> Self {
        Self::bounded(endpoint.id, endpoint.in_flight, progress, ASIDE)
    }

    fn bounded(endpoint: EndpointId, limit: InFlight, progress: &Progress, most: usize) -> Self {
        let Progress { generation, cursor, last_success_at, ref aside } = *progress;
        let mut course = Self {
            endpoint,
            limit: limit.get().into(),
            most,
            generation,
            cursor,
            read_to: cursor,
            last_success_at,
            held: BTreeMap::new(),
            lanes: HashMap::new(),
            ready: Ready::default(),
            timers: BTreeSet::new(),
            aside: aside.len(),
            aside_flying: 0,
            slots: 0,
            ahead: BTreeSet::new(),
            unsaved: Unsaved { cursor, ..Unsaved::default() },
        };
        for Aside { sequence, lane, failed } in aside.values() {
            course.hold(*sequence, Item { lane: *lane, aside: true, flying: false, failed: *failed });
        }
        course
    }

    /// After which sequence to read on.
    pub const fn read_to(&self) -> u64 {
        self.read_to
    }

    /// Every event up to this sequence is delivered or set aside.
    pub const fn cursor(&self) -> u64 {
        self.cursor
    }

    /// How many events are set aside.
    pub const fn aside(&self) -> usize {
        self.aside
    }

    /// How many more events may be read now.
    pub fn room(&self) -> usize {
        let held = self.held.len() - self.aside;
        WINDOW.min(AHEAD.saturating_sub(self.ahead.len())).saturating_sub(held)
    }

    /// Takes events that the endpoint wants, in the order of the log, which was read up to `end`.
    pub fn read<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>, end: u64) {
        for event in events {
            if event.sequence > self.read_to {
                self.read_to = event.sequence;
                // What is set aside can lie past the cursor.
                if !self.held.contains_key(&event.sequence) {
                    let lane = Lane::of(event);
                    self.hold(event.sequence, Item { lane, aside: false, flying: false, failed: None });
                }
            }
        }
        self.read_to = self.read_to.max(end);
        self.advance();
    }

    /// The next event to send, if one may be sent now. It is under way until [`Self::delivered`] or [`Self::failed`] is
    /// told.
    pub fn next(&mut self, now: Timestamp) -> Option<Due> {
        while let Some(&(at, sequence)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, sequence));
            self.make_ready(sequence);
        }
        let has_place = self.slots + self.aside_flying < self.limit;
        // Those that are set aside leave half of the places to others.
        let may_retry = has_place && self.aside_flying < (self.limit / 2).max(1);
        let may_begin = has_place && self.aside + self.slots < self.most;
        let sequence = self
            .ready
            .failing
            .pop_first()
            .or_else(|| may_retry.then(|| self.ready.aside.pop_first()).flatten())
            .or_else(|| may_begin.then(|| self.ready.fresh.pop_first()).flatten())?;
        let item = self.held.get_mut(&sequence).expect("what is ready is held");
        item.flying = true;
        match item {
            Item { aside: true, .. } => self.aside_flying += 1,
            Item { failed: None, .. } => self.slots += 1,
            Item { failed: Some(_), .. } => {}
        }
        Some(Due { sequence, number: item.failed.map_or(0, |failed| failed.attempts) + 1 })
    }

    /// When [`Self::next`] may have an event that it does not have now, if nothing else happens until then.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// The endpoint has taken an event that was under way.
    pub fn delivered(&mut self, sequence: u64, now: Timestamp) {
        self.last_success_at = self.last_success_at.max(Some(now));
        self.settle(sequence);
    }

    /// An event that was under way was not taken. `hints` are what the endpoint asked for, and jitter: see
    /// [`Retries::after`].
    pub fn failed(
        &mut self,
        sequence: u64,
        problem: Problem,
        now: Timestamp,
        retries: &Retries,
        hints: (Option<Duration>, f64),
    ) -> Verdict {
        let item = self.held.get_mut(&sequence).expect("what is under way is held");
        let (verdict, failed) = retries.after(item.failed, problem, self.last_success_at, now, hints);
        if verdict == Verdict::GivenUp {
            self.settle(sequence);
            return verdict;
        }
        (item.flying, item.failed) = (false, Some(failed));
        if item.aside {
            self.aside_flying -= 1;
        } else if matches!(verdict, Verdict::Aside(_)) {
            item.aside = true;
            self.aside += 1;
            self.slots -= 1;
        }
        if item.aside {
            self.unsaved.aside.insert(sequence);
        }
        let key = self.key(self.held[&sequence].lane);
        if self.lanes[&key].first() == Some(&sequence) {
            self.arm(sequence);
        }
        self.advance();
        verdict
    }

    /// What is to be kept, if there is something new. It is to be given to the store again until that has kept it; a
    /// later one does not repeat it.
    pub fn noted(&mut self) -> Option<Noted> {
        let Unsaved { sent, cursor, aside, done } = &self.unsaved;
        if !sent && aside.is_empty() && done.is_empty() && self.cursor - cursor < FAR {
            return None;
        }
        let aside = aside.iter().map(|sequence| {
            let Item { lane, failed, .. } = self.held[sequence];
            Aside { sequence: *sequence, lane, failed }
        });
        let noted = Noted {
            endpoint: self.endpoint,
            generation: self.generation,
            cursor: self.cursor,
            last_success_at: self.last_success_at,
            aside: aside.collect(),
            done: done.iter().copied().collect(),
        };
        self.unsaved = Unsaved { cursor: self.cursor, ..Unsaved::default() };
        Some(noted)
    }

    /// What an event is in order with.
    fn key(&self, lane: Lane) -> Option<Lane> {
        (self.limit > 1).then_some(lane)
    }

    fn hold(&mut self, sequence: u64, item: Item) {
        self.held.insert(sequence, item);
        let lane = self.lanes.entry(self.key(item.lane)).or_default();
        let first = lane.first().copied();
        lane.insert(sequence);
        // After a crash an event that was delivered before one that is set aside can come again.
        if let Some(later) = first.filter(|first| *first > sequence) {
            self.disarm(later);
        }
        if first.is_none_or(|first| first > sequence) {
            self.arm(sequence);
        }
    }

    /// An event is the first of its lane no more.
    fn disarm(&mut self, sequence: u64) {
        self.ready.aside.remove(&sequence);
        if let Some(failed) = self.held[&sequence].failed {
            self.timers.remove(&(failed.next_at, sequence));
        }
    }

    /// An event has become the first of its lane.
    fn arm(&mut self, sequence: u64) {
        match self.held[&sequence].failed {
            Some(failed) => drop(self.timers.insert((failed.next_at, sequence))),
            None => self.make_ready(sequence),
        }
    }

    fn make_ready(&mut self, sequence: u64) {
        let Ready { fresh, failing, aside } = &mut self.ready;
        match self.held[&sequence] {
            Item { aside: true, .. } => aside.insert(sequence),
            Item { failed: Some(_), .. } => failing.insert(sequence),
            Item { failed: None, .. } => fresh.insert(sequence),
        };
    }

    /// An event that was under way is not sent again.
    fn settle(&mut self, sequence: u64) {
        let item = self.held.remove(&sequence).expect("what is under way is held");
        if item.aside {
            self.aside -= 1;
            self.aside_flying -= 1;
            self.unsaved.aside.remove(&sequence);
            self.unsaved.done.insert(sequence);
        } else {
            self.slots -= 1;
            self.ahead.insert(sequence);
        }
        self.unsaved.sent = true;
        let key = self.key(item.lane);
        let lane = self.lanes.get_mut(&key).expect("what is held has a lane");
        lane.remove(&sequence);
        match lane.first().copied() {
            Some(next) => self.arm(next),
            None => drop(self.lanes.remove(&key)),
        }
        self.advance();
    }

    /// Moves the cursor past everything that is delivered or set aside. What waits for an event that is set aside is
    /// set aside too.
    fn advance(&mut self) {
        let mut end = self.read_to;
        for (sequence, item) in self.held.range_mut(self.cursor + 1..) {
            if !item.aside {
                let first = self.limit > 1 && !item.flying && item.failed.is_none();
                let first = first.then(|| self.lanes[&Some(item.lane)].first().copied()).flatten();
                // The first of a lane is set aside if it is not past the cursor: everything before this event is.
                if first.is_none_or(|first| first == *sequence) || self.aside + self.slots >= self.most {
                    end = *sequence - 1;
                    break;
                }
                item.aside = true;
                self.aside += 1;
                self.unsaved.aside.insert(*sequence);
            }
        }
        if end > self.cursor {
            self.cursor = end;
            self.ahead = self.ahead.split_off(&(end + 1));
        }
    }
}

#[cfg(test)]
mod tests;
