//! What was acknowledged, and whether it is there.

use crate::fill::{self, Pair};
use crate::http::{Connection, Operator};
use crate::lab::Lab;
use crate::server::Server;
use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the clients were told so far.
#[derive(Default)]
pub struct Ledger {
    open: Mutex<Vec<Pair>>,
    accepted: Mutex<Vec<Arc<Accepted>>>,
    buyers: Mutex<Vec<Arc<Created>>>,
    overwritten: Vec<Mutex<Overwritten>>,
    acknowledged: AtomicUsize,
    /// While this is set, no answer counts as an acknowledgement.
    pub closed: AtomicBool,
}

/// An offer that was accepted, and when the answer said so.
pub struct Accepted {
    pub pair: Pair,
    pub at: String,
}

/// A buyer that was created, and the idempotency key of its creation if it had one.
pub struct Created {
    pub key: Option<String>,
    pub id: String,
}

/// An offer that gets new terms, and the last amounts that were acknowledged and sent.
struct Overwritten {
    pair: Pair,
    acknowledged: usize,
    sent: usize,
}

/// How far a ledger has come.
#[derive(Clone, Copy, Default)]
pub struct Page {
    accepted: usize,
    buyers: usize,
}

/// The contents of a mutex, whoever panicked with it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One of them by chance.
fn any<T>(of: &Mutex<Vec<Arc<T>>>) -> Option<Arc<T>> {
    let all = locked(of);
    (!all.is_empty()).then(|| Arc::clone(&all[rand::random_range(0..all.len())]))
}

impl Ledger {
    /// With offers to be accepted, and others to be overwritten, whose amounts begin at a number.
    pub fn new(open: Vec<Pair>, overwritten: Vec<Pair>, amount: usize) -> Self {
        let first = |(pair, amount)| Mutex::new(Overwritten { pair, acknowledged: amount, sent: amount });
        let overwritten = overwritten.into_iter().zip(amount..).map(first).collect();
        Self { open: Mutex::new(open), overwritten, ..Self::default() }
    }

    /// How many writes were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// How far it has come, for a check of what follows.
    pub fn page(&self) -> Page {
        Page { accepted: locked(&self.accepted).len(), buyers: locked(&self.buyers).len() }
    }

    /// There is a new application with an offer to be accepted.
    pub fn offer(&self, pair: Pair) {
        self.acknowledged.fetch_add(2, Ordering::SeqCst);
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
        locked(&self.accepted).push(Arc::new(Accepted { pair, at }));
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    /// An offer that was accepted before.
    pub fn any_accepted(&self) -> Option<Arc<Accepted>> {
        any(&self.accepted)
    }

    /// A buyer was created.
    pub fn created(&self, key: Option<String>, id: String) {
        locked(&self.buyers).push(Arc::new(Created { key, id }));
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    /// A buyer that was created before.
    pub fn any_created(&self) -> Option<Arc<Created>> {
        any(&self.buyers)
    }

    /// How many offers there are to be overwritten.
    pub fn overwritten(&self) -> usize {
        self.overwritten.len()
    }

    /// New terms are sent for one of them; returns the offer.
    pub fn overwrite(&self, n: usize, amount: usize) -> Pair {
        let mut overwritten = locked(&self.overwritten[n]);
        overwritten.sent = amount;
        overwritten.pair.clone()
    }

    /// They were acknowledged.
    pub fn overwrote(&self, n: usize, amount: usize) {
        locked(&self.overwritten[n]).acknowledged = amount;
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    /// Asks the service for everything since a page: repetitions must be answered as the first time, and terms be the
    /// last ones. Returns how much that was.
    pub fn check_answers(&self, server: &Server, key: &str, since: Page) -> anyhow::Result<usize> {
        let (mut partner, mut operator) = (Connection::new(server.partner), Operator::new(server.operator));
        let (accepted, buyers) = (locked(&self.accepted), locked(&self.buyers));
        let mut lost = Vec::new();
        for Accepted { pair, at } in accepted[since.accepted..].iter().map(AsRef::as_ref) {
            let answer = partner.post(key, &pair.accept_path(), &[], b"{}")?;
            if answer.status != 200 || answer.body["statusChangedAt"] != at.as_str() {
                lost.push(format!("accept of {}: {} {}", pair.offer, answer.status, answer.body));
            }
        }
        for Created { key: idempotency, id } in buyers[since.buyers..].iter().map(AsRef::as_ref) {
            let Some(idempotency) = idempotency else { continue };
            let answer = fill::create(&mut partner, key, idempotency)?;
            if answer.status != 201 || answer.body["id"] != id.as_str() {
                lost.push(format!("buyer {id}: {} {}", answer.status, answer.body));
            }
        }
        for overwritten in &self.overwritten {
            let mut overwritten = locked(overwritten);
            let offer = operator.call("GET", &overwritten.pair.operator_path(), "", &[200])?;
            let (amount, acknowledged, sent) = (fill::amount(&offer), overwritten.acknowledged, overwritten.sent);
            if amount != Some(acknowledged) && amount != Some(sent) {
                lost.push(format!("terms of {}: {acknowledged} or {sent}, but {offer}", overwritten.pair.offer));
            } else if amount == Some(sent) {
                // Whether or not it was acknowledged: it was seen after the restart, so it has to stay.
                overwritten.acknowledged = sent;
            }
        }
        let count = accepted.len() - since.accepted + buyers.len() - since.buyers + self.overwritten.len();
        ensure!(lost.is_empty(), "{} of {count} lost: {:?}", lost.len(), &lost[..lost.len().min(3)]);
        Ok(count)
    }

    /// Looks for everything in an export of the stopped store: each accepted offer was accepted once, at the time that
    /// was said, and each buyer was created once.
    pub fn check_export(&self, lab: &Lab, store: &str) -> anyhow::Result<String> {
        let file = lab.path("export.ndjson");
        lab.lendpay(&["export", &file.display().to_string(), "--store", store])?;
        let (mut moved, mut created) = (HashMap::new(), HashSet::new());
        let text = |value: &Value| value.as_str().map(str::to_owned).context("a text");
        for line in BufReader::new(File::open(file)?).lines() {
            let line = line?;
            let record: Value = serde_json::from_str(&line).context("an export of JSON")?;
            if let Some(move_) = record.get("move") {
                ensure!(move_["status"] == "CustomerAccepted", "nobody asked for {line}");
                let twice = moved.insert(text(&move_["offerId"])?, text(&move_["at"])?);
                ensure!(twice.is_none(), "accepted twice: {line}");
            } else if let Some(buyer) = record.get("buyer") {
                ensure!(created.insert(text(&buyer["buyerId"])?), "created twice: {line}");
            }
        }
        let (accepted, buyers) = (locked(&self.accepted), locked(&self.buyers));
        for Accepted { pair, at } in accepted.iter().map(AsRef::as_ref) {
            let told = moved.get(&pair.offer).with_context(|| format!("{} was accepted, and is not", pair.offer))?;
            ensure!(same_time(told, at), "{} was accepted at {at}, and not at {told}", pair.offer);
        }
        let lost = buyers.iter().find(|buyer| !created.contains(&buyer.id));
        ensure!(lost.is_none(), "buyer {} was created, and is not there", lost.map_or("", |buyer| &buyer.id));
        Ok(format!("all {} acknowledged accepts and {} buyers are there, each once", accepted.len(), buyers.len()))
    }
}

/// Whether two date-times in UTC are the same: an answer has as many digits as it needs, an export nine.
fn same_time(one: &str, other: &str) -> bool {
    let whole = |text: &str| {
        let (seconds, fraction) =
            text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
        format!("{seconds}.{fraction:0<9}")
    };
    whole(one) == whole(other)
}

#[cfg(test)]
mod tests {
    use super::same_time;

    #[test]
    fn times_are_compared_whatever_their_digits() {
        assert!(same_time("2026-06-03T12:15:44.050334200Z", "2026-06-03T12:15:44.0503342Z"));
        assert!(same_time("2026-06-03T12:15:40.000000000Z", "2026-06-03T12:15:40Z"));
        assert!(!same_time("2026-06-03T12:15:44.050334201Z", "2026-06-03T12:15:44.0503342Z"));
    }
}
