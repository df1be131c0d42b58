//! When a delivery that failed is tried again, and when no more.

use super::{Disabled, Failed, Problem};
use crate::Timestamp;
use std::time::Duration;

/// After so many failures an event is set aside.
pub const TRIES: u32 = 3;

/// When deliveries are tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How long to wait after the first failure, the second and so on; after the last of these always the same. Never
    /// empty.
    delays: Vec<Duration>,
    /// For how long an event is tried.
    pub lasting: Duration,
}

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The event is sent again at this moment. It is not set aside yet.
    Again(Timestamp),
    /// The same, and the event is set aside.
    Aside(Timestamp),
    /// The event was tried for 7 days, in which the endpoint took others. It is not sent again.
    GivenUp,
    /// The endpoint is to be disabled. The event stays where it is.
    Disable(Disabled),
}

impl Default for Retries {
    /// Contract 2.15: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 6 h, then each 12 h, for 7 days.
    fn default() -> Self {
        let (seconds, minutes, hours) = (Duration::from_secs, Duration::from_mins, Duration::from_hours);
        let delays = vec![seconds(5), seconds(30), minutes(2), minutes(10), minutes(30), hours(2), hours(6), hours(12)];
        Self { delays, lasting: hours(7 * 24) }
    }
}

impl Retries {
    /// A schedule; `None` if there is no delay.
    pub fn new(delays: Vec<Duration>, lasting: Duration) -> Option<Self> {
        (!delays.is_empty()).then_some(Self { delays, lasting })
    }

    /// What follows from a failure, and how the event has failed now, if it is sent again. `before` is how it had
    /// failed before; `success` is when the endpoint last took an event; `retry_after` is what the endpoint asked for,
    /// which is heeded up to the longest delay; `jitter`, from 0 to 1, makes a delay up to a fifth longer.
    pub fn after(
        &self,
        before: Option<Failed>,
        problem: Problem,
        success: Option<Timestamp>,
        now: Timestamp,
        (retry_after, jitter): (Option<Duration>, f64),
    ) -> (Verdict, Failed) {
        let attempts = before.map_or(0, |before| before.attempts).saturating_add(1);
        let first_at = before.map_or(now, |before| before.first_at);
        let index = usize::try_from(attempts - 1).map_or(usize::MAX, |index| index.min(self.delays.len() - 1));
        let delay = self.delays[index].mul_f64(1.0 + jitter.clamp(0.0, 1.0) / 5.0);
        let longest = self.delays.iter().max().expect("never empty");
        let delay = retry_after.map_or(delay, |asked| delay.max(asked.min(*longest)));
        let next_at = now + delay;
        let failed = Failed { attempts, first_at, next_at, problem };
        let is_over = now - first_at >= chrono::Duration::from_std(self.lasting).unwrap_or(chrono::Duration::MAX);
        let verdict = match problem {
            Problem::Status(410) => Verdict::Disable(Disabled::Gone),
            _ if is_over && success.is_some_and(|success| success > first_at) => Verdict::GivenUp,
            _ if is_over => Verdict::Disable(Disabled::Failing),
            _ if attempts >= TRIES => Verdict::Aside(next_at),
            _ => Verdict::Again(next_at),
        };
        (verdict, failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::samples::at;

    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;

    /// How long each wait of an event that always fails is, and what ends it.
    fn waits(retries: &Retries, success: Option<Timestamp>) -> (Vec<i64>, Verdict) {
        let (mut before, mut now, mut all) = (None, at(0), Vec::new());
        loop {
            let (verdict, failed) = retries.after(before, Problem::Timeout, success, now, (None, 0.0));
            match verdict {
                Verdict::Again(next) | Verdict::Aside(next) => {
                    assert_eq!(next, failed.next_at);
                    assert_eq!(matches!(verdict, Verdict::Aside(_)), failed.attempts >= 3);
                    all.push((next - now).num_seconds());
                    (before, now) = (Some(failed), next);
                }
                end => return (all, end),
            }
        }
    }

    #[test]
    fn an_event_is_tried_again_by_the_schedule_for_seven_days() {
        let (waits_, end) = waits(&Retries::default(), None);
        assert_eq!(waits_[..7], [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR]);
        assert!(waits_[7..].iter().all(|wait| *wait == 12 * HOUR), "{waits_:?}");
        let all: i64 = waits_.iter().sum();
        assert!((7 * DAY..7 * DAY + 12 * HOUR).contains(&all), "{all}");
        assert_eq!(end, Verdict::Disable(Disabled::Failing));
    }

    #[test]
    fn after_seven_days_the_event_is_given_up_if_the_endpoint_took_others_since() {
        let retries = Retries::default();
        assert_eq!(waits(&retries, Some(at(1))).1, Verdict::GivenUp);
        assert_eq!(waits(&retries, Some(at(-1))).1, Verdict::Disable(Disabled::Failing));
    }

    #[test]
    fn gone_disables_at_once() {
        let retries = Retries::default();
        for success in [None, Some(at(0))] {
            let (verdict, _) = retries.after(None, Problem::Status(410), success, at(1), (None, 0.5));
            assert_eq!(verdict, Verdict::Disable(Disabled::Gone));
        }
        for other in [400, 404, 429, 500, 503, 301] {
            let (verdict, _) = retries.after(None, Problem::Status(other), None, at(1), (None, 0.0));
            assert_eq!(verdict, Verdict::Again(at(6)), "{other}");
        }
    }

    #[test]
    fn jitter_makes_a_delay_longer_and_what_the_endpoint_asks_for_is_heeded() {
        let retries = Retries::default();
        let next = |asked: Option<u64>, jitter| {
            let asked = asked.map(Duration::from_secs);
            retries.after(None, Problem::Status(429), None, at(0), (asked, jitter)).1.next_at - at(0)
        };
        assert_eq!(next(None, 0.5), chrono::Duration::milliseconds(5_500));
        assert_eq!(next(None, 1.0), chrono::Duration::seconds(6));
        assert_eq!(next(Some(1), 0.0), chrono::Duration::seconds(5));
        assert_eq!(next(Some(90), 1.0), chrono::Duration::seconds(90));
        assert_eq!(next(Some(u64::MAX), 0.0), chrono::Duration::hours(12));
    }

    #[test]
    fn a_schedule_has_a_delay() {
        assert_eq!(Retries::new(Vec::new(), Duration::MAX), None);
        let retries = Retries::new(vec![Duration::from_secs(1)], Duration::from_secs(3)).expect("it has one");
        assert_eq!(waits(&retries, None), (vec![1, 1, 1], Verdict::Disable(Disabled::Failing)));
    }
}
