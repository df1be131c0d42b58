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

/// The time between two checks.
const LOOK: Duration = Duration::from_millis(250);

/// How long a group or a checkpoint may take once a thread of sled has panicked.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);

/// How long a group may take in any case: as long as a request may take.
const AT_ALL: Duration = Duration::from_secs(30);

/// Starts watching; ends with the store.
pub(crate) fn start(health: &Arc<Health>) -> std::io::Result<JoinHandle<()>> {
    let (health, before) = (Arc::downgrade(health), panics::panics());
    std::thread::Builder::new().name("store watchdog".to_owned()).spawn(move || {
        while let Some(health) = health.upgrade() {
            if health.has_ended() {
                return;
            }
            let panicked = panics::panics() > before;
            let (group, checkpoint) = (health.group.time(), health.checkpoint.time());
            if panicked && group.max(checkpoint).is_some_and(|time| time > AFTER_A_PANIC) {
                return health.fail("a thread of the database panicked in the middle of a write");
            }
            if group.is_some_and(|time| time > AT_ALL) {
                return health.fail("the disk has not taken a write for 30 seconds");
            }
            drop(health);
            std::thread::park_timeout(LOOK);
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
                drop(panics::caught(|| Ok::<_, String>(())));
                panic!("as sled does");
            });
            assert!(threads.expect("a thread").join().is_err());
            let reason = health.failure().await;
            assert_eq!(reason, "a thread of the database panicked in the middle of a write");
            watchdog.join().expect("no panic");
        }
    }

    #[test]
    fn it_ends_with_the_store() {
        let health = Arc::new(Health::new());
        let watchdog = start(&health).expect("a thread");
        health.close();
        watchdog.join().expect("no panic");
    }
}
