//! How many requests of one partner are worked on at once.
//!
//! Threads take tasks in the order in which they became ready. Thousands of a partner's requests that are ready at once
//! would delay everybody else's by all of them. So most of them wait here, where they are not ready; and those of a
//! connection that comes back at once wait before they are read, so that they have cost nothing yet.

use crate::failure::Failure;
use lendpay_domain::{PartnerId, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{self, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::PollSemaphore;

/// How many requests of a partner are worked on at once that is alone: as many as a store takes together.
const ALONE: usize = 256;

/// How many while another partner calls too: the other waits for little.
const BESIDE: usize = 16;

/// For how long a partner's request counts as a call, and for how long its requests come in crowds once some had to
/// wait.
const RECENT: Duration = Duration::from_secs(1);

/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the turn of a request takes that is refused.
const REFUSAL: Duration = Duration::from_millis(50);

/// The turns of each partner.
#[derive(Default)]
pub(crate) struct Turns {
    partners: RwLock<HashMap<PartnerId, Arc<Partner>>>,
    last: Mutex<Last>,
}

struct Partner {
    permits: Arc<Semaphore>,
    /// When one of its requests last had to wait.
    crowded: Mutex<Option<Instant>>,
}

impl Partner {
    /// Whether its requests come in crowds: one waits now, or has waited recently. A client that sends a thousand
    /// requests and reads a thousand answers leaves pauses in which none waits.
    fn is_crowded(&self, permits: u32) -> bool {
        let mut crowded = self.crowded.lock().unwrap_or_else(PoisonError::into_inner);
        if self.permits.available_permits() < permits as usize {
            *crowded = Some(Instant::now());
        }
        crowded.is_some_and(|last| last.elapsed() <= RECENT)
    }
}

/// Who called last, and when somebody else's request last came before or after it.
#[derive(Default)]
struct Last {
    partner: Option<PartnerId>,
    changed: Option<Instant>,
}

/// A request is worked on until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    partner: PartnerId,
    _permit: OwnedSemaphorePermit,
}

/// The partner of a connection's last request, if its requests come in crowds. A listener that reads one request
/// after the other puts one for each connection into its requests, and asks it before it reads the next.
#[derive(Debug, Default)]
pub struct Crowd(Mutex<Place>);

#[derive(Debug, Default)]
struct Place {
    queue: Option<Queue>,
    /// That of the request that comes next.
    turn: Option<Turn>,
}

#[derive(Debug)]
struct Queue {
    partner: PartnerId,
    permits: u32,
    semaphore: PollSemaphore,
}

impl Crowd {
    fn place(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the next request may be read. It keeps its turn until it ends, or until [`Crowd::leave`].
    pub fn poll_enter(&self, cx: &mut task::Context<'_>) -> Poll<()> {
        let mut place = self.place();
        let Place { queue: Some(Queue { partner, permits, semaphore }), turn: turn @ None } = &mut *place else {
            return Poll::Ready(());
        };
        let permit = ready!(semaphore.poll_acquire_many(cx, *permits));
        *turn = Some(Turn { partner: *partner, _permit: permit.expect("no semaphore is closed") });
        Poll::Ready(())
    }

    /// There is nothing to read yet: others come first.
    pub fn leave(&self) {
        self.place().turn = None;
    }

    /// The turn that a request of a partner has already.
    fn turn(&self, partner: PartnerId) -> Option<Turn> {
        self.place().turn.take().filter(|turn| turn.partner == partner)
    }

    /// Whether the connection's next request waits.
    fn set(&self, queue: Option<Queue>) {
        self.place().queue = queue;
    }
}

impl Turns {
    /// Waits for the turn of a partner's request: those of one partner come in their order, and wait for no other's.
    /// `crowd` is that of the request's connection.
    pub async fn take(&self, partner: PartnerId, crowd: Option<&Crowd>) -> Result<Turn, Failure> {
        let permits = if self.is_alone(partner) { 1 } else { ALONE / BESIDE };
        let permits = u32::try_from(permits).expect("a few");
        let all = self.of(partner);
        let semaphore = Arc::clone(&all.permits);
        let turn = match crowd.and_then(|crowd| crowd.turn(partner)) {
            Some(turn) => turn,
            None => {
                // Nobody is overtaken: what is free while others wait is theirs already.
                let permit = match Arc::clone(&semaphore).try_acquire_many_owned(permits) {
                    Ok(permit) => permit,
                    Err(_) => {
                        let permit = Arc::clone(&semaphore).acquire_many_owned(permits);
                        let permit = tokio::time::timeout(PATIENCE, permit).await;
                        permit.map_err(|_elapsed| StoreError::Overloaded)?.expect("no semaphore is closed")
                    }
                };
                Turn { partner, _permit: permit }
            }
        };
        if let Some(crowd) = crowd {
            let queue = || Queue { partner, permits, semaphore: PollSemaphore::new(semaphore) };
            crowd.set(all.is_crowded(permits).then(queue));
        }
        Ok(turn)
    }

    /// Holds back the answer to a request that is refused, in its turn: a partner that calls again at once is refused
    /// some thousand times in a second, not tens of thousands of times.
    pub async fn refuse(&self, partner: PartnerId, crowd: Option<&Crowd>) {
        if let Ok(_turn) = self.take(partner, crowd).await {
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

    fn of(&self, partner: PartnerId) -> Arc<Partner> {
        let known = self.partners.read().unwrap_or_else(PoisonError::into_inner).get(&partner).map(Arc::clone);
        known.unwrap_or_else(|| {
            let mut all = self.partners.write().unwrap_or_else(PoisonError::into_inner);
            let new = || Partner { permits: Arc::new(Semaphore::new(ALONE)), crowded: Mutex::default() };
            Arc::clone(all.entry(partner).or_insert_with(|| Arc::new(new())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::future::poll_fn;
    use tokio::task::JoinSet;

    const BUSY: PartnerId = PartnerId::from_bytes([1; 16]);
    const OTHER: PartnerId = PartnerId::from_bytes([2; 16]);

    /// How many of 2,000 requests of a partner have their turn at once.
    async fn at_once(turns: &Arc<Turns>) -> usize {
        let (taken, mut requests) = (Arc::new(Semaphore::new(0)), JoinSet::new());
        for _ in 0..2_000 {
            let (turns, taken) = (Arc::clone(turns), Arc::clone(&taken));
            requests.spawn(async move {
                let _turn = turns.take(BUSY, None).await.expect("comes in time");
                taken.add_permits(1);
                std::future::pending::<()>().await;
            });
        }
        // The clock of the test goes on when nobody can.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let begin = Instant::now();
        drop(turns.take(OTHER, None).await.expect("is free"));
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
        drop(turns.take(BUSY, None).await);
        tokio::time::sleep(2 * RECENT).await;
        assert_eq!(at_once(&turns).await, ALONE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_of_a_busy_partner_waits_before_it_reads() {
        let (turns, crowd) = (Turns::default(), Crowd::default());
        let enter = || poll_fn(|cx| crowd.poll_enter(cx));
        drop(turns.take(BUSY, Some(&crowd)).await.expect("is free"));
        assert_eq!(enter().now_or_never(), Some(()), "nobody else waits");
        let mut held = Vec::new();
        for _ in 1..ALONE {
            held.push(turns.take(BUSY, None).await.expect("is free"));
        }
        drop(turns.take(BUSY, Some(&crowd)).await.expect("the last"));
        tokio::time::sleep(RECENT / 2).await;
        held.push(turns.take(BUSY, None).await.expect("is free"));
        assert_eq!(enter().now_or_never(), None, "all turns are taken");
        held.pop();
        assert_eq!(enter().now_or_never(), Some(()));
        // The turn is the request's: nobody else gets it, and it does not take another.
        assert_eq!(turns.take(BUSY, None).now_or_never().map(|turn| turn.is_ok()), None);
        let turn = turns.take(BUSY, Some(&crowd)).now_or_never().expect("has its turn").expect("comes in time");
        // A request of another partner gives it back, and so does one that does not come.
        drop(turn);
        for give_back in [|crowd: &Crowd| drop(crowd.turn(OTHER)), Crowd::leave] {
            enter().await;
            give_back(&crowd);
            drop(turns.take(BUSY, None).now_or_never().expect("is free"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_come_is_too_much_to_do() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for _ in 0..ALONE {
            held.push(turns.take(BUSY, None).await.expect("is free"));
        }
        assert_eq!(turns.take(BUSY, None).await.err(), Some(StoreError::Overloaded.into()));
        held.pop();
        assert!(turns.take(BUSY, None).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_come_at_a_bounded_rate() {
        let turns = Arc::new(Turns::default());
        let begin = Instant::now();
        let mut refusals = JoinSet::new();
        for _ in 0..10 * ALONE {
            let turns = Arc::clone(&turns);
            refusals.spawn(async move { turns.refuse(BUSY, None).await });
        }
        while refusals.join_next().await.is_some() {}
        assert!(begin.elapsed() >= 10 * REFUSAL, "{:?}", begin.elapsed());
    }
}
