//! Fails a store whose committer or checkpoint blocks for ever.
//!
//! A thread of sled that panics in the middle of a write never wakes the threads that wait for it: the checkpoint,
//! which flushes, and then the committer, when there is no buffer left. A disk that hangs looks the same. No other
//! thread could tell the callers that the store has failed.

use crate::embedded::health::Health;
use crate::embedded::panics;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// How many looks a group or a checkpoint may take once a thread of sled has panicked: a second.
const AFTER_A_PANIC: u32 = 4;

/// How many looks a group may take in any case: 30 seconds, as long as a request may take.
const AT_ALL: u32 = 120;

/// How often one round was seen. Looks are counted and not time, since time also passes while the process is stopped.
#[derive(Default)]
struct Seen {
    round: Option<u64>,
    looks: u32,
}

impl Seen {
    /// Looks at the present round; how often it was seen before.
    fn look(&mut self, present: Option<u64>) -> u32 {
        let same = present.is_some() && present == self.round;
        *self = Self { round: present, looks: if same { self.looks + 1 } else { 0 } };
        self.looks
    }
}

/// What the watchdog has seen.
#[derive(Default)]
struct Watch {
    group: Seen,
    checkpoint: Seen,
}

impl Watch {
    /// Looks once; why the store has failed, if it has.
    fn look(&mut self, group: Option<u64>, checkpoint: Option<u64>, panicked: bool) -> Option<&'static str> {
        let (group, checkpoint) = (self.group.look(group), self.checkpoint.look(checkpoint));
        if panicked && group.max(checkpoint) > AFTER_A_PANIC {
            return Some("a thread of the database panicked in the middle of a write");
        }
        (group > AT_ALL).then_some("the disk has not taken a write for 30 seconds")
    }
}

/// Starts watching; ends with the store.
pub(crate) fn start(health: &Arc<Health>) -> std::io::Result<JoinHandle<()>> {
    let (health, before) = (Arc::downgrade(health), panics::panics());
    std::thread::Builder::new().name("store watchdog".to_owned()).spawn(move || {
        let mut watch = Watch::default();
        while let Some(health) = health.upgrade() {
            if health.has_ended() {
                return;
            }
            let panicked = panics::panics() > before;
            if let Some(reason) = watch.look(health.group.present(), health.checkpoint.present(), panicked) {
                return health.fail(reason);
            }
            drop(health);
            std::thread::sleep(LOOK);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_outlives_a_panic_of_the_database_fails_the_store() {
        for stopwatch in [|health: &Health| health.group.start(), |health: &Health| health.checkpoint.start()] {
            let health = Arc::new(Health::new());
            let watchdog = start(&health).expect("a thread");
            stopwatch(&health);
            let threads = std::thread::Builder::new().name("sled-io-test".to_owned()).spawn(|| {
                drop(panics::caught(|| Ok(())));
                panic!("as sled does");
            });
            assert!(threads.expect("a thread").join().is_err());
            let reason = health.failure().await;
            assert_eq!(reason, "a thread of the database panicked in the middle of a write");
            watchdog.join().expect("no panic");
        }
    }

    #[test]
    fn a_group_that_is_seen_for_30_seconds_fails_the_store() {
        let mut watch = Watch::default();
        assert!((0..=AT_ALL).all(|_| watch.look(Some(7), None, false).is_none()));
        assert_eq!(watch.look(Some(7), None, false), Some("the disk has not taken a write for 30 seconds"));
    }

    /// Of a stop of any length the watchdog sees one look.
    #[test]
    fn time_in_which_the_process_is_stopped_does_not_count() {
        let health = Health::new();
        let mut watch = Watch::default();
        let mut look = || watch.look(health.group.present(), health.checkpoint.present(), false);
        health.group.start();
        health.checkpoint.start();
        assert!((0..AT_ALL).all(|_| look().is_none()), "120 looks at the group, whatever the clock says");
        health.group.stop();
        health.group.start();
        assert!((0..AT_ALL).all(|_| look().is_none()), "the next group begins at 0; nobody waits for a checkpoint");
        health.group.stop();
        assert!((0..1_000).all(|_| look().is_none()));
    }

    #[test]
    fn it_ends_with_the_store() {
        let health = Arc::new(Health::new());
        let watchdog = start(&health).expect("a thread");
        health.close();
        watchdog.join().expect("no panic");
    }
}
