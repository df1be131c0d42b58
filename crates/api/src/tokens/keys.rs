//! When the authorization server's keys are fetched, and who waits for them.
//!
//! One task fetches: at the start, from time to time, and when a token names a key that is not known. The last of these
//! a stranger can bring about, so that it happens [`MOST`] times a minute at most, which leaves a fetch for a key that
//! is new; requests that arrive meanwhile share the one fetch, and none waits for it longer than [`WAIT`]. The last
//! good keys stay while the server is down.

use super::key_set::KeySet;
use futures_util::future::BoxFuture;
use lendpay_domain::Timestamp;
use std::convert::Infallible;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How old keys may become.
const AGE: Duration = Duration::from_secs(10 * 60);

/// How soon a fetch that failed is retried.
const RETRY: Duration = Duration::from_secs(60);

/// How long a fetch may take.
const FETCH: Duration = Duration::from_secs(10);

/// How long a request waits for a fetch.
const WAIT: Duration = Duration::from_secs(2);

/// How many fetches there are at most for the sake of unknown keys in [`PERIOD`] seconds.
const MOST: usize = 3;
const PERIOD: i64 = 60;

/// Where the keys of an authorization server come from.
pub trait KeySource: Send + Sync + 'static {
    /// Fetches the JWK Set (RFC 7517), or says for the log why that cannot be done.
    fn fetch(&self) -> BoxFuture<'static, Result<Vec<u8>, String>>;
}

pub(super) struct Keys {
    source: Box<dyn KeySource>,
    set: RwLock<Arc<KeySet>>,
    progress: watch::Sender<Progress>,
}

struct Progress {
    /// Keys are being fetched, or will be at once.
    pending: bool,
    /// When an unknown key was the cause, in the last [`PERIOD`].
    asked: Vec<Timestamp>,
}

impl Keys {
    pub fn new(source: Box<dyn KeySource>) -> Self {
        let progress = watch::Sender::new(Progress { pending: true, asked: Vec::new() });
        Self { source, set: RwLock::default(), progress }
    }

    /// The keys that are known now.
    pub fn current(&self) -> Arc<KeySet> {
        Arc::clone(&self.set.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Is ready when keys have been fetched because one is unknown at the moment `now`, or when there is no use in
    /// waiting.
    pub async fn refreshed(&self, now: Timestamp) {
        let mut progress = self.progress.subscribe();
        let mut pending = false;
        self.progress.send_if_modified(|progress| {
            progress.asked.retain(|at| (now - at).num_seconds().abs() < PERIOD);
            let ask = !progress.pending && progress.asked.len() < MOST;
            if ask {
                progress.pending = true;
                progress.asked.push(now);
            }
            pending = progress.pending;
            ask
        });
        if pending {
            // After that time the request goes on with the keys that there are.
            let _ = timeout(WAIT, progress.wait_for(|progress| !progress.pending)).await;
        }
    }

    /// Fetches for as long as the process runs.
    pub async fn keep(&self) -> Infallible {
        let mut progress = self.progress.subscribe();
        loop {
            self.progress.send_modify(|progress| progress.pending = true);
            let fetched = timeout(FETCH, self.source.fetch()).await;
            let fetched = fetched.unwrap_or_else(|_| Err(format!("it took longer than {} s", FETCH.as_secs())));
            let pause = match fetched.and_then(|text| KeySet::read(&text)) {
                Ok(set) => {
                    self.put(set);
                    AGE
                }
                Err(reason) => {
                    let known = self.current().len();
                    tracing::warn!(reason, known, "the issuer's keys cannot be fetched; those that are known stay");
                    RETRY
                }
            };
            self.progress.send_modify(|progress| progress.pending = false);
            // The sender is ours: waiting cannot fail.
            let _ = timeout(pause, progress.wait_for(|progress| progress.pending)).await;
        }
    }

    fn put(&self, mut set: KeySet) {
        let mut current = self.set.write().unwrap_or_else(PoisonError::into_inner);
        // The first set is one more than nothing, even if it is empty.
        if current.generation > 0 && set.has_the_keys_of(&current) {
            return;
        }
        set.generation = current.generation + 1;
        tracing::info!(keys = set.len(), "the issuer has new keys");
        *current = Arc::new(set);
    }
}
