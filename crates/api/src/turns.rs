//! How many requests of one partner are worked on at once.
//!
//! Threads take tasks in the order in which they became ready. Thousands of a partner's requests that are ready at once would
//! delay everybody else's by all of them. So most of them wait here, where they are not ready.

use crate::failure::Failure;
use lendpay_domain::{PartnerId, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How many requests of a partner are worked on at once that is alone: as many as a store takes together.
const ALONE: usize = 256;

/// How many while another partner calls too: the other waits for little.
const BESIDE: usize = 64;

/// For how long a partner's request counts as a call.
const RECENT: Duration = Duration::from_secs(1);

/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the turn of a request takes that is refused.
const REFUSAL: Duration = Duration::from_millis(50);

/// The turns of each partner.
#[derive(Default)]
pub(crate) struct Turns {
    partners: RwLock<HashMap<PartnerId, Arc<Semaphore>>>,
    last: Mutex<Last>,
}

/// Who called last, and when somebody else's request last came before or after it.
#[derive(Default)]
struct Last {
    partner: Option<PartnerId>,
    changed: Option<Instant>,
}

/// A request is worked on until this is dropped.
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Turns {
    /// Waits for the turn of a partner's request: those of one partner come in their order, and wait for no other's.
    pub async fn take(&self, partner: PartnerId) -> Result<Turn, Failure> {
        let permits = if self.is_alone(partner) { 1 } else { ALONE / BESIDE };
        let permits = u32::try_from(permits).expect("a few");
        match tokio::time::timeout(PATIENCE, self.of(partner).acquire_many_owned(permits)).await {
            Ok(permit) => Ok(Turn { _permit: permit.expect("no semaphore is closed") }),
            Err(_elapsed) => Err(StoreError::Overloaded.into()),
        }
    }

    /// Holds back the answer to a request that is refused, in its turn: a partner that calls again at once is refused some
    /// thousand times in a second, not tens of thousands of times.
    pub async fn refuse(&self, partner: PartnerId) {
        if let Ok(_turn) = self.take(partner).await {
            tokio::time::sleep(REFUSAL).await;
        }
    }

    /// Whether no other partner has called recently. Notes that this one calls.
    fn is_alone(&self, partner: PartnerId) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.partner.replace(partner).is_some_and(|before| before != partner) {
            last.changed = Some(Instant::now());
        }
        last.changed.is_none_or(|changed| changed.elapsed() > RECENT)
    }

    fn of(&self, partner: PartnerId) -> Arc<Semaphore> {
        let known = self.partners.read().unwrap_or_else(PoisonError::into_inner).get(&partner).map(Arc::clone);
        known.unwrap_or_else(|| {
            let mut all = self.partners.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(partner).or_insert_with(|| Arc::new(Semaphore::new(ALONE))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinSet;

    const BUSY: PartnerId = PartnerId::from_bytes([1; 16]);
    const OTHER: PartnerId = PartnerId::from_bytes([2; 16]);

    /// How many of 2,000 requests of a partner have their turn at once.
    async fn at_once(turns: &Arc<Turns>) -> usize {
        let (taken, mut requests) = (Arc::new(Semaphore::new(0)), JoinSet::new());
        for _ in 0..2_000 {
            let (turns, taken) = (Arc::clone(turns), Arc::clone(&taken));
            requests.spawn(async move {
                let _turn = turns.take(BUSY).await.expect("comes in time");
                taken.add_permits(1);
                std::future::pending::<()>().await;
            });
        }
        // The clock of the test goes on when nobody can.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let begin = Instant::now();
        drop(turns.take(OTHER).await.expect("is free"));
        assert_eq!(begin.elapsed(), Duration::ZERO, "another partner waits for none of them");
        requests.shutdown().await;
        taken.available_permits()
    }

    #[tokio::test(start_paused = true)]
    async fn a_partner_with_2000_requests_has_few_worked_on_and_keeps_nobody_else_waiting() {
        let turns = Arc::new(Turns::default());
        assert_eq!(at_once(&turns).await, ALONE);
        assert_eq!(at_once(&turns).await, BESIDE, "another partner has just called");
        tokio::time::sleep(2 * RECENT).await;
        // The first request after the other's counts as one beside it.
        drop(turns.take(BUSY).await);
        tokio::time::sleep(2 * RECENT).await;
        assert_eq!(at_once(&turns).await, ALONE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_come_is_too_much_to_do() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for _ in 0..ALONE {
            held.push(turns.take(BUSY).await.expect("is free"));
        }
        assert_eq!(turns.take(BUSY).await.err(), Some(StoreError::Overloaded.into()));
        held.pop();
        assert!(turns.take(BUSY).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_come_at_a_bounded_rate() {
        let turns = Arc::new(Turns::default());
        let begin = Instant::now();
        let mut refusals = JoinSet::new();
        for _ in 0..10 * ALONE {
            let turns = Arc::clone(&turns);
            refusals.spawn(async move { turns.refuse(BUSY).await });
        }
        while refusals.join_next().await.is_some() {}
        assert!(begin.elapsed() >= 10 * REFUSAL, "{:?}", begin.elapsed());
    }
}
