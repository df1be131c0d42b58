//! Requests of each partner: the busiest ones by themselves, the others together.
//!
//! Memory is bounded whatever the number of partners. Counters that are shown never go down: a partner that becomes one
//! of the busiest begins at 0, and one that is no longer among them is not shown any more.

use lendpay_domain::PartnerId;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many partners are shown by themselves.
const SHOWN: usize = 100;

/// How many partners are told apart, so that the busiest of them are found. Who comes when there are so many is counted
/// with the others until the next review, which keeps half of them.
const TOLD_APART: usize = 1_000;

/// How long the same partners are shown.
const REVIEW: Duration = Duration::from_secs(60);

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Those that were answered with a status of 400 or more.
    pub errors: u64,
}

/// The counters of all partners.
#[derive(Debug, Default)]
pub struct PartnerCounts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    partners: HashMap<PartnerId, Partner>,
    /// Of whoever is not shown.
    others: Counts,
    reviewed: Option<Instant>,
}

#[derive(Debug, Default)]
struct Partner {
    /// Requests, each worth half as much after a review.
    recent: u64,
    /// Since it is shown; `None` if it is not.
    shown: Option<Counts>,
}

impl PartnerCounts {
    /// Counts a request.
    pub(crate) fn count(&self, partner: PartnerId, status: u16) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { partners, others, .. } = &mut *state;
        let number = partners.len();
        let known = match partners.entry(partner) {
            Entry::Occupied(known) => Some(known.into_mut()),
            // There is no one to compare the first ones with.
            Entry::Vacant(new) if number < TOLD_APART => {
                Some(new.insert(Partner { recent: 0, shown: (number < SHOWN).then(Counts::default) }))
            }
            Entry::Vacant(_) => None,
        };
        let counts = known.and_then(|partner| {
            partner.recent += 1;
            partner.shown.as_mut()
        });
        let counts = counts.unwrap_or(others);
        counts.requests += 1;
        counts.errors += u64::from(status >= 400);
    }

    /// The partners that are shown by themselves, in the order of their ids, and all others together. Decides again who
    /// is shown if that is long ago.
    pub fn read(&self, now: Instant) -> (Vec<(PartnerId, Counts)>, Counts) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.reviewed.is_none_or(|then| now.saturating_duration_since(then) >= REVIEW) {
            state.reviewed = Some(now);
            state.review();
        }
        let shown = state.partners.iter().filter_map(|(id, partner)| Some((*id, partner.shown?)));
        let mut shown: Vec<_> = shown.collect();
        shown.sort_unstable_by_key(|(id, _)| *id);
        (shown, state.others)
    }
}

impl State {
    fn review(&mut self) {
        // Who is shown stays until another is more than twice as busy, so that they do not change places all the time.
        let rank = |partner: &Partner| (partner.recent << u8::from(partner.shown.is_some()), partner.shown.is_some());
        let mut order: Vec<_> = self.partners.iter().map(|(id, partner)| (Reverse(rank(partner)), *id)).collect();
        order.sort_unstable();
        for (place, (_, id)) in order.into_iter().enumerate() {
            if place >= TOLD_APART / 2 {
                self.partners.remove(&id);
            } else if let Some(partner) = self.partners.get_mut(&id) {
                partner.recent /= 2;
                partner.shown = (place < SHOWN).then(|| partner.shown.unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> PartnerId {
        PartnerId::new(uuid::Uuid::from_u128(n))
    }

    const fn counts(requests: u64, errors: u64) -> Counts {
        Counts { requests, errors }
    }

    #[test]
    fn of_150_partners_100_are_shown_and_the_others_together() {
        let (all, now) = (PartnerCounts::default(), Instant::now());
        for n in 0..150 {
            all.count(id(n), 200);
            all.count(id(n), 404);
        }
        let (shown, others) = all.read(now);
        assert_eq!((shown.len(), others), (100, counts(100, 50)));
        assert!(shown.iter().all(|(_, one)| *one == counts(2, 1)));
    }

    #[test]
    fn who_becomes_busier_is_shown_and_counters_begin_at_0() {
        let (all, now) = (PartnerCounts::default(), Instant::now());
        for n in 0..100 {
            (0..10).for_each(|_| all.count(id(n), 200));
        }
        (0..21).for_each(|_| all.count(id(100), 200));
        (0..19).for_each(|_| all.count(id(101), 500));
        // Both count with the others until the review, which sees that one is more than twice as busy.
        let (shown, others) = all.read(now);
        assert_eq!((shown.len(), shown[99], others), (100, (id(100), counts(0, 0)), counts(40, 19)));
        all.count(id(100), 200);
        let (shown, others) = all.read(now + REVIEW / 2);
        assert_eq!((shown[99], others), ((id(100), counts(1, 0)), counts(40, 19)));
        // Who does nothing gives way.
        (0..5).for_each(|_| all.count(id(101), 200));
        let (shown, others) = all.read(now + REVIEW * 20);
        assert!(shown.iter().any(|(one, _)| *one == id(101)));
        assert_eq!(others, counts(45, 19), "never goes down");
    }

    #[test]
    fn memory_is_bounded_and_a_late_comer_is_found() {
        let (all, now) = (PartnerCounts::default(), Instant::now());
        let known = || all.0.lock().expect("unpoisoned").partners.len();
        (0..5_000).for_each(|n| all.count(id(n), 200));
        assert_eq!(known(), TOLD_APART);
        let (shown, others) = all.read(now);
        assert_eq!((shown.len(), others, known()), (SHOWN, counts(4_900, 0), TOLD_APART / 2));
        (0..10).for_each(|_| all.count(id(9_999), 200));
        let (shown, _) = all.read(now + REVIEW);
        assert!(shown.iter().any(|(one, _)| *one == id(9_999)));
    }
}
