//! Courses beside a model: the same rules, looked up in lists.

use super::*;
use crate::event::{Actor, Subject};
use crate::testing::samples::*;
use crate::{EventId, OperationId};
use proptest::collection::vec;
use proptest::prelude::*;

/// The most that are set aside here, so that it is reached.
const MOST: usize = 5;

/// Event `sequence`, of buyer `lane`.
fn event(sequence: u64, lane: u64) -> Event {
    let (id, operation) = (EventId::from_bytes([1; 16]), OperationId::from_bytes([2; 16]));
    let (subject, partner, actor) = (Subject::Buyer(buyer_id(lane)), Some(partner(1)), Actor::Operator);
    Event { sequence, id, occurred_at: at(0), partner, subject, actor, operation, replaced: None }
}

fn limit(number: u8) -> InFlight {
    InFlight::new(number).expect("in range")
}

fn begin(number: u8) -> Course {
    Course::bounded(endpoint_id(1), limit(number), &Progress::default(), MOST)
}

/// Everything that may be sent now.
fn due(course: &mut Course, seconds: i64) -> Vec<u64> {
    std::iter::from_fn(|| course.next(at(seconds))).map(|due| due.sequence).collect()
}

fn fail(course: &mut Course, sequence: u64, seconds: i64) -> Verdict {
    course.failed(sequence, Problem::Timeout, at(seconds), &Retries::default(), (None, 0.0))
}

/// An event that fails three times, until it is set aside.
fn set_aside(course: &mut Course, sequence: u64) {
    for (seconds, verdict) in
        [(0, Verdict::Again(at(5))), (5, Verdict::Again(at(35))), (35, Verdict::Aside(at(35 + 120)))]
    {
        if seconds > 0 {
            assert_eq!(course.next(at(seconds)).map(|due| due.sequence), Some(sequence));
        }
        assert_eq!(fail(course, sequence, seconds), verdict);
    }
}

#[test]
fn events_of_a_lane_are_sent_one_after_the_other_and_others_at_once() {
    let mut course = begin(16);
    course.read(&[event(1, 1), event(2, 1), event(3, 2), event(7, 1)], 9);
    assert_eq!(due(&mut course, 0), [1, 3]);
    course.delivered(3, at(0));
    assert_eq!((due(&mut course, 0), course.cursor()), (vec![], 0));
    course.delivered(1, at(0));
    assert_eq!((due(&mut course, 0), course.cursor()), (vec![2], 1));
    course.delivered(2, at(0));
    assert_eq!((due(&mut course, 0), course.cursor()), (vec![7], 6));
    course.delivered(7, at(0));
    assert_eq!((due(&mut course, 0), course.cursor()), (vec![], 9));
}

#[test]
fn no_more_are_under_way_than_may_be_and_one_that_failed_keeps_its_place() {
    let mut course = begin(2);
    course.read(&[event(1, 1), event(2, 2), event(3, 3)], 3);
    assert_eq!(due(&mut course, 0), [1, 2]);
    assert_eq!(fail(&mut course, 1, 0), Verdict::Again(at(5)));
    assert_eq!(due(&mut course, 4), [0; 0]);
    course.delivered(2, at(4));
    assert_eq!(due(&mut course, 4), [3], "the place of the one that failed is kept");
    assert_eq!(course.next_at(), Some(at(5)));
    assert_eq!(course.next(at(5)), Some(Due { sequence: 1, number: 2 }));
}

#[test]
fn with_one_at_once_everything_waits_for_the_first() {
    let mut course = begin(1);
    course.read(&[event(1, 1), event(2, 2)], 2);
    assert_eq!(due(&mut course, 0), [1]);
    set_aside(&mut course, 1);
    assert_eq!((course.aside(), course.cursor()), (1, 1));
    assert_eq!(due(&mut course, 100), [0; 0], "also for one that is set aside");
    assert_eq!(due(&mut course, 155), [1]);
    course.delivered(1, at(155));
    assert_eq!(due(&mut course, 155), [2]);
}

#[test]
fn what_is_set_aside_takes_its_lane_with_it_and_lets_others_go_on() {
    let mut course = begin(16);
    course.read(&[event(1, 1), event(2, 2), event(3, 1)], 3);
    assert_eq!(due(&mut course, 0), [1, 2]);
    course.delivered(2, at(0));
    set_aside(&mut course, 1);
    assert_eq!((course.aside(), course.cursor()), (2, 3));
    course.read(&[event(4, 1), event(5, 2)], 5);
    assert_eq!(due(&mut course, 40), [5]);
    course.delivered(5, at(40));
    assert_eq!((course.aside(), course.cursor()), (3, 5));
    let noted = course.noted().expect("new");
    let asides: Vec<_> = noted.aside.iter().map(|aside| (aside.sequence, aside.failed.is_some())).collect();
    assert_eq!((noted.cursor, asides, noted.done), (5, vec![(1, true), (3, false), (4, false)], vec![]));
    assert_eq!(course.noted(), None);
    for sequence in [1, 3, 4] {
        assert_eq!(due(&mut course, 155), [sequence]);
        course.delivered(sequence, at(155));
    }
    let noted = course.noted().expect("new");
    assert_eq!((noted.aside, noted.done, course.aside()), (vec![], vec![1, 3, 4], 0));
}

#[test]
fn with_as_many_set_aside_as_may_be_the_endpoint_waits() {
    let mut course = begin(16);
    course.read((1..=8).map(|n| event(n, n)).collect::<Vec<_>>().iter(), 8);
    assert_eq!(due(&mut course, 0), [1, 2, 3, 4, 5], "no more than could be set aside");
    for (seconds, sequences) in [(0, 1..=5), (5, 1..=5), (35, 1..=5)] {
        if seconds > 0 {
            assert_eq!(due(&mut course, seconds).len(), 5);
        }
        for sequence in sequences {
            fail(&mut course, sequence, seconds);
        }
    }
    assert_eq!((course.aside(), course.cursor(), due(&mut course, 100)), (5, 5, vec![]));
    assert_eq!(due(&mut course, 155), [1, 2, 3, 4, 5]);
    course.delivered(3, at(155));
    assert_eq!(due(&mut course, 155), [6], "one may be begun for each that is done");
}

#[test]
fn what_is_set_aside_leaves_half_of_the_places_to_others() {
    let mut progress = Progress::default();
    let aside = (1..=4).map(aside).collect();
    progress.note(&Noted { aside, ..Noted::beginning(endpoint_id(1), 4) });
    let mut course = Course::bounded(endpoint_id(1), limit(4), &progress, 10);
    course.read((5..=9).map(|n| event(n, n)).collect::<Vec<_>>().iter(), 9);
    assert_eq!(due(&mut course, 155), [1, 2, 5, 6]);
}

#[test]
fn an_event_that_is_given_up_lets_the_later_ones_of_its_lane_go_on() {
    let mut course = begin(16);
    course.read(&[event(1, 1), event(2, 2), event(3, 1)], 3);
    assert_eq!(due(&mut course, 0), [1, 2]);
    set_aside(&mut course, 1);
    course.delivered(2, at(50));
    let week = 7 * 24 * 3_600;
    assert_eq!(course.next(at(week)), Some(Due { sequence: 1, number: 4 }));
    assert_eq!(fail(&mut course, 1, week), Verdict::GivenUp);
    assert_eq!(due(&mut course, week), [3]);
    let noted = course.noted().expect("new");
    assert_eq!((noted.done, noted.last_success_at), (vec![1], Some(at(50))));
}

#[test]
fn an_endpoint_that_is_gone_keeps_the_event() {
    let mut course = begin(16);
    course.read(&[event(1, 1)], 1);
    assert_eq!(due(&mut course, 0), [1]);
    let verdict = course.failed(1, Problem::Status(410), at(0), &Retries::default(), (None, 0.0));
    assert_eq!(verdict, Verdict::Disable(super::super::Disabled::Gone));
    assert_eq!((course.cursor(), course.aside()), (0, 0));
}

#[test]
fn events_of_others_are_passed_over_and_noted_seldom() {
    let mut course = begin(16);
    course.read(&[], FAR - 1);
    assert_eq!((course.read_to(), course.cursor(), course.noted()), (FAR - 1, FAR - 1, None));
    course.read(&[], FAR);
    assert_eq!(course.noted(), Some(Noted::beginning(endpoint_id(1), FAR)));
    course.read(&[], FAR + 1);
    assert_eq!(course.noted(), None);
}

#[test]
fn what_is_held_is_bounded() {
    let mut course = begin(2);
    let events: Vec<_> = (1..=WINDOW as u64).map(|n| event(n, n)).collect();
    assert_eq!(course.room(), WINDOW);
    course.read(&events, WINDOW as u64);
    assert_eq!(course.room(), 0);
    // The first fails; what is delivered after it can be sent again after a crash.
    assert_eq!(due(&mut course, 0), [1, 2]);
    fail(&mut course, 1, 0);
    course.delivered(2, at(0));
    let mut next = WINDOW as u64;
    while course.room() > 0 || due(&mut course, 0).iter().map(|sequence| course.delivered(*sequence, at(0))).count() > 0
    {
        let more: Vec<_> = (next + 1..=next + course.room() as u64).map(|n| event(n, n)).collect();
        next += more.len() as u64;
        course.read(&more, next);
    }
    // All but the one that failed.
    assert_eq!((course.ahead.len(), course.cursor()), (AHEAD - 1, 0));
}

/// What a receiver and a store would see of a history in which deliveries succeed or fail by chance, and the process is
/// killed at any moment.
#[derive(Default)]
struct World {
    /// The lanes of the events.
    log: Vec<u64>,
    saved: Progress,
    flying: Vec<u64>,
    /// What was delivered in the run since the last kill, and in all.
    run: Vec<u64>,
    all: BTreeSet<u64>,
    now: i64,
}

impl World {
    fn lane(&self, sequence: u64) -> u64 {
        self.log[usize::try_from(sequence).expect("small") - 1]
    }

    fn read(&self, course: &mut Course) {
        let (from, end) = (course.read_to(), self.log.len() as u64);
        let events: Vec<_> = (from + 1..=end).map(|n| event(n, self.lane(n))).take(course.room()).collect();
        let end = events.last().map_or(end, |event| event.sequence);
        course.read(&events, end);
    }

    fn save(&mut self, course: &mut Course) {
        if let Some(noted) = course.noted() {
            self.saved.note(&noted);
            assert!(self.saved.aside.len() <= MOST);
        }
        let saved = &self.saved;
        let lost = (1..=saved.cursor).find(|n| !self.all.contains(n) && !saved.aside.contains_key(n));
        assert_eq!(lost, None, "before the cursor everything is delivered or set aside");
    }

    fn send(&mut self, course: &mut Course, at_once: u8) {
        while let Some(Due { sequence, .. }) = course.next(at(self.now)) {
            let earlier = |n: &u64| at_once == 1 || self.lane(*n) == self.lane(sequence);
            let waiting = (1..sequence).filter(earlier).find(|n| !self.all.contains(n));
            assert_eq!(waiting, None, "{sequence} is sent before an earlier one of its lane is delivered");
            assert!(!self.run.contains(&sequence), "{sequence} is sent again without a reason");
            self.flying.push(sequence);
        }
        assert!(self.flying.len() <= usize::from(at_once));
    }
}

proptest! {
    #[test]
    fn everything_is_delivered_in_order_whatever_fails(
        at_once in prop_oneof![Just(1_u8), 2..6_u8],
        steps in vec((0..10_u8, any::<prop::sample::Index>(), 0..4_u64), 1..200),
    ) {
        let mut world = World::default();
        let mut course = begin(at_once);
        for (kind, index, lane) in steps {
            match kind {
                0..=2 => world.log.push(lane),
                3..=6 if !world.flying.is_empty() => {
                    let sequence = world.flying.remove(index.index(world.flying.len()));
                    if kind < 5 {
                        course.delivered(sequence, at(world.now));
                        world.run.push(sequence);
                        world.all.insert(sequence);
                    } else {
                        fail(&mut course, sequence, world.now);
                    }
                }
                7 => world.now += 40,
                8 => world.save(&mut course),
                9 if index.index(4) == 0 => {
                    course = Course::bounded(endpoint_id(1), limit(at_once), &world.saved, MOST);
                    (world.flying, world.run) = (Vec::new(), Vec::new());
                }
                _ => {}
            }
            world.read(&mut course);
            world.send(&mut course, at_once);
        }
        // From here on nothing fails.
        for _ in 0..2 * world.log.len() + 10 {
            world.now += 200;
            world.read(&mut course);
            world.send(&mut course, at_once);
            for sequence in std::mem::take(&mut world.flying) {
                course.delivered(sequence, at(world.now));
                world.run.push(sequence);
                world.all.insert(sequence);
            }
        }
        world.save(&mut course);
        prop_assert_eq!(world.all.len(), world.log.len());
        prop_assert_eq!((world.saved.cursor, world.saved.aside.len()), (world.log.len() as u64, 0));
    }
}
