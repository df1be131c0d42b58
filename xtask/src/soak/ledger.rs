//! What was acknowledged, and whether it is there.

use crate::fill::Pair;
use crate::server::Server;
use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the clients were told so far.
#[derive(Default)]
pub struct Ledger {
    open: Mutex<Vec<Pair>>,
    accepted: Mutex<Vec<Arc<Accepted>>>,
    /// Idempotency keys, and the buyers that they made.
    buyers: Mutex<Vec<(String, String)>>,
    records: AtomicUsize,
}

/// An offer that was accepted, and when the answer said so.
pub struct Accepted {
    pub pair: Pair,
    pub at: String,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// There is an offer to be accepted.
    pub fn offer(&self, pair: Pair) {
        self.records.fetch_add(2, Ordering::Relaxed);
        locked(&self.open).push(pair);
    }

    pub fn open_offers(&self) -> usize {
        locked(&self.open).len()
    }

    /// An offer that nobody else accepts.
    pub fn take_offer(&self) -> Option<Pair> {
        locked(&self.open).pop()
    }

    /// An offer was accepted.
    pub fn accepted(&self, pair: Pair, at: String) {
        self.records.fetch_add(1, Ordering::Relaxed);
        locked(&self.accepted).push(Arc::new(Accepted { pair, at }));
    }

    /// An offer that was accepted before.
    pub fn any_accepted(&self) -> Option<Arc<Accepted>> {
        let accepted = locked(&self.accepted);
        (!accepted.is_empty()).then(|| Arc::clone(&accepted[rand::random_range(0..accepted.len())]))
    }

    /// A buyer was created; the key is empty if there was none.
    pub fn created(&self, key: String, buyer: String) {
        self.records.fetch_add(1, Ordering::Relaxed);
        locked(&self.buyers).push((key, buyer));
    }

    /// A key and the buyer that it made before.
    pub fn any_created(&self) -> Option<(String, String)> {
        let buyers = locked(&self.buyers);
        let one = (!buyers.is_empty()).then(|| buyers[rand::random_range(0..buyers.len())].clone());
        one.filter(|(key, _)| !key.is_empty())
    }

    /// About how many records the service has made.
    pub fn records(&self) -> usize {
        self.records.load(Ordering::Relaxed)
    }

    /// Looks for everything in an export of the service: each accepted offer was accepted once, at the time that was said,
    /// and each buyer was created once.
    pub fn check(&self, server: &Server) -> anyhow::Result<String> {
        let (accepted, buyers) = (locked(&self.accepted), locked(&self.buyers));
        let (mut moved, mut created) = (HashMap::new(), HashSet::new());
        server.operate_lines("/operator/export", |line| {
            let record: Value = serde_json::from_str(line).context("an export of JSON")?;
            let text = |value: &Value| value.as_str().map(str::to_owned).context("a text");
            if let Some(move_) = record.get("move") {
                ensure!(move_["status"] == "CustomerAccepted", "nobody asked for {line}");
                let twice = moved.insert(text(&move_["offerId"])?, text(&move_["at"])?);
                ensure!(twice.is_none(), "accepted twice: {line}");
            } else if let Some(buyer) = record.get("buyer") {
                ensure!(created.insert(text(&buyer["buyerId"])?), "created twice: {line}");
            }
            Ok(())
        })?;
        for Accepted { pair, at } in accepted.iter().map(AsRef::as_ref) {
            let Some(told) = moved.get(&pair.offer) else { bail!("{} was accepted, and is not", pair.offer) };
            // An answer has a time to the microsecond or finer, an export to the nanosecond.
            ensure!(same_time(told, at), "{} was accepted at {at}, and not at {told}", pair.offer);
        }
        if let Some((_, id)) = buyers.iter().find(|(_, id)| !created.contains(id)) {
            bail!("buyer {id} was created, and is not there");
        }
        Ok(format!("all {} acknowledged accepts and {} buyers are there, each once", accepted.len(), buyers.len()))
    }
}

/// Whether two date-times in UTC are the same but for zeros at their ends.
fn same_time(one: &str, other: &str) -> bool {
    let digits = |text: &str| text.trim_end_matches("+00:00").trim_end_matches('Z').trim_end_matches('0').to_owned();
    digits(one) == digits(other)
}

#[cfg(test)]
mod tests {
    use super::same_time;

    #[test]
    fn times_are_compared_whatever_their_form() {
        assert!(same_time("2026-06-03T12:15:44.050334200Z", "2026-06-03T12:15:44.0503342+00:00"));
        assert!(!same_time("2026-06-03T12:15:44.050334201Z", "2026-06-03T12:15:44.0503342+00:00"));
    }
}
