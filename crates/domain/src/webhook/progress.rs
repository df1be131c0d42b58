//! How far the delivery to an endpoint has come: every event up to the cursor is delivered or set aside.

use super::retries::TRIES;
use super::{Lane, Problem};
use crate::{EndpointId, Timestamp};
use std::collections::BTreeMap;

/// The most events of an endpoint that are set aside.
pub const ASIDE: usize = 1_000;

/// How far the delivery to an endpoint has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Grows by one when an operator resumes the endpoint or moves its cursor. Whoever serves it reads it again then.
    pub generation: u32,
    /// Every event up to this sequence that the endpoint wants is delivered or set aside.
    pub cursor: u64,
    /// When it last took an event.
    pub last_success_at: Option<Timestamp>,
    /// What is set aside, by sequence.
    pub aside: BTreeMap<u64, Aside>,
}

/// An event that is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Its sequence.
    pub sequence: u64,
    /// What it is in order for.
    pub lane: Lane,
    /// How it failed; `None` if it only waits for an earlier event of its lane.
    pub failed: Option<Failed>,
}

/// How a delivery has failed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// How often.
    pub attempts: u32,
    /// When first.
    pub first_at: Timestamp,
    /// When it is tried again.
    pub next_at: Timestamp,
    /// What went wrong the last time.
    pub problem: Problem,
}

/// What delivery has to say about an endpoint. Says the values that result, so that noting it twice is the same as
/// noting it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The generation of the progress that this belongs to. With a greater one than before, nothing else is set aside.
    pub generation: u32,
    /// The cursor.
    pub cursor: u64,
    /// When the endpoint last took an event; `None` if it has not changed.
    pub last_success_at: Option<Timestamp>,
    /// What is set aside, or has failed again.
    pub aside: Vec<Aside>,
    /// What is set aside no more.
    pub done: Vec<u64>,
}

impl Progress {
    /// Applies what was noted.
    pub fn note(&mut self, noted: &Noted) {
        if noted.generation != self.generation {
            self.generation = noted.generation;
            self.aside.clear();
        }
        self.cursor = noted.cursor;
        self.last_success_at = noted.last_success_at.or(self.last_success_at);
        self.aside.extend(noted.aside.iter().map(|aside| (aside.sequence, *aside)));
        for sequence in &noted.done {
            self.aside.remove(sequence);
        }
    }

    /// What makes a new generation of this, in which everything that is set aside is due `now`, and its 7 days begin.
    /// With another cursor, what lies after that is not set aside: it is delivered in its turn.
    pub fn again(&self, endpoint: EndpointId, cursor: Option<u64>, now: Timestamp) -> Noted {
        let due = |aside: &Aside| {
            let restarted =
                |failed: Failed| Failed { attempts: failed.attempts.min(TRIES), first_at: now, next_at: now, ..failed };
            let failed = aside.failed.map(restarted);
            Aside { failed, ..*aside }
        };
        let (generation, last_success_at) = (self.generation + 1, None);
        let aside = self.aside.range(..=cursor.unwrap_or(u64::MAX)).map(|(_, aside)| due(aside)).collect();
        Noted { endpoint, generation, cursor: cursor.unwrap_or(self.cursor), last_success_at, aside, done: Vec::new() }
    }
}

impl Noted {
    /// That delivery begins after a sequence.
    pub const fn beginning(endpoint: EndpointId, cursor: u64) -> Self {
        Self { endpoint, generation: 0, cursor, last_success_at: None, aside: Vec::new(), done: Vec::new() }
    }

    /// Whether a store can keep this as one change. What is noted about one endpoint always fits: it sets aside at most
    /// [`ASIDE`], and what is done was set aside.
    pub fn fit(all: &[Self]) -> bool {
        // A sequence takes less than a fourth of an event that is set aside.
        let takes = |noted: &Self| 1 + noted.aside.len() + noted.done.len() / 4;
        all.iter().map(takes).sum::<usize>() <= 1 + ASIDE + ASIDE / 4
    }

    /// Divides what is noted about many endpoints into parts that [fit](Self::fit): mostly one.
    pub fn parts(all: Vec<Self>) -> Vec<Vec<Self>> {
        let mut parts: Vec<Vec<Self>> = Vec::new();
        for noted in all {
            match parts.last_mut() {
                Some(part) => {
                    part.push(noted);
                    if !Self::fit(part) {
                        let last = part.pop().into_iter().collect();
                        parts.push(last);
                    }
                }
                None => parts.push(vec![noted]),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::samples::*;

    fn noted(n: u64, aside: Vec<Aside>, done: Vec<u64>) -> Noted {
        Noted { aside, done, ..Noted::beginning(endpoint_id(n), 9) }
    }

    #[test]
    fn noting_twice_is_noting_once() {
        let steps = [
            Noted::beginning(endpoint_id(1), 3),
            noted(1, vec![aside(4), aside(5)], vec![]),
            Noted { last_success_at: Some(at(5)), ..noted(1, vec![waits(6)], vec![4]) },
            Noted { generation: 1, cursor: 2, ..noted(1, vec![aside(2)], vec![]) },
        ];
        let mut once = Progress::default();
        for step in &steps {
            once.note(step);
            let mut twice = once.clone();
            twice.note(step);
            assert_eq!(once, twice);
        }
        assert_eq!((once.generation, once.cursor, once.last_success_at), (1, 2, Some(at(5))));
        assert_eq!(once.aside.into_values().collect::<Vec<_>>(), [aside(2)]);
    }

    #[test]
    fn a_new_generation_tries_everything_again_and_forgets_what_comes_after_its_cursor() {
        let mut progress = Progress::default();
        progress.note(&noted(1, vec![aside(4), waits(6), aside(8)], vec![]));
        let due = |n| Aside {
            failed: aside(n).failed.map(|it| Failed { first_at: at(7), next_at: at(7), ..it }),
            ..aside(n)
        };
        let resumed = progress.again(endpoint_id(1), None, at(7));
        assert_eq!((resumed.generation, resumed.cursor), (1, 9));
        assert_eq!(resumed.aside, [due(4), waits(6), due(8)]);
        let moved = progress.again(endpoint_id(1), Some(6), at(7));
        assert_eq!((moved.generation, moved.cursor), (1, 6));
        assert_eq!(moved.aside, [due(4), waits(6)]);
        let forwards = progress.again(endpoint_id(1), Some(70), at(7));
        assert_eq!((forwards.cursor, forwards.aside.len()), (70, 3));
    }

    #[test]
    fn parts_hold_everything_in_order_and_are_bounded() {
        let full = |n| noted(n, (1..=ASIDE as u64).map(aside).collect(), (1..=ASIDE as u64).collect());
        let few = |n| noted(n, vec![aside(1)], vec![]);
        let sizes = |all: Vec<Noted>| {
            let parts = Noted::parts(all.clone());
            assert_eq!(parts.concat(), all);
            parts.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(vec![]), [0_usize; 0]);
        assert_eq!(sizes((0..20).map(few).collect()), [20]);
        assert_eq!(sizes((0..3).map(full).collect()), [1, 1, 1]);
        assert_eq!(sizes(vec![few(1), full(2), few(3), few(4)]), [1, 1, 2]);
    }
}
