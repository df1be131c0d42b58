//! Grouping: what comes while the database is busy goes to it together.
//!
//! Two tasks take commands from one queue. Each takes the first and whatever else is there, decides all of it in one transaction
//! and answers. There is no timer: a lone command goes at once, and under load one group forms while the others commit.

use super::health::Health;
use super::order::Order;
use super::pool::{Backoff, Session};
use super::stage::Stage;
use super::trouble::Trouble;
use super::work::{Job, Work};
use deadpool_postgres::Pool;
use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// The most commands of a group.
const GROUP: usize = 256;

/// How many groups are under way at once.
const GROUPS: usize = 2;

struct Queued {
    work: Work,
    since: Instant,
}

/// The callers' end.
pub(super) struct Queue {
    /// `None` once the store is closed.
    sender: Mutex<Option<mpsc::Sender<Queued>>>,
    health: Arc<Health>,
}

/// What carries groups out.
struct Groups {
    pool: Pool,
    receiver: tokio::sync::Mutex<mpsc::Receiver<Queued>>,
    health: Arc<Health>,
    patience: Duration,
    order: Order,
}

/// Starts the tasks; they end when the queue is closed and empty.
pub(super) fn start(pool: &Pool, capacity: usize, patience: Duration, health: &Arc<Health>) -> (Queue, JoinSet<()>) {
    let (sender, receiver) = mpsc::channel(capacity);
    let receiver = tokio::sync::Mutex::new(receiver);
    let groups = Arc::new(Groups {
        pool: pool.clone(),
        receiver,
        health: Arc::clone(health),
        patience,
        order: Order::default(),
    });
    let mut tasks = JoinSet::new();
    for _ in 0..GROUPS {
        let groups = Arc::clone(&groups);
        tasks.spawn(async move { groups.run().await });
    }
    (Queue { sender: Mutex::new(Some(sender)), health: Arc::clone(health) }, tasks)
}

impl Queue {
    /// Hands a command over and waits for its answer.
    pub(super) async fn run<C, T>(&self, work: fn(Box<Job<C, T>>) -> Work, command: C) -> Answer<T> {
        let (reply, answer) = oneshot::channel();
        self.send(work(Box::new(Job::new(command, reply))))?;
        // Without an answer its group has ended in the middle, by a panic.
        answer.await.unwrap_or(Err(StoreError::OutcomeUnknown))
    }

    fn send(&self, work: Work) -> Answer<()> {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = sender.as_ref() else { return Err(StoreError::Unavailable) };
        // Counted before it is sent, so that nobody counts down first.
        self.health.queued.fetch_add(1, Ordering::Relaxed);
        sender.try_send(Queued { work, since: Instant::now() }).map_err(|error| {
            self.health.queued.fetch_sub(1, Ordering::Relaxed);
            match error {
                mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => StoreError::Unavailable,
            }
        })
    }

    /// Takes no more commands.
    pub(super) fn close(&self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Groups {
    async fn run(&self) {
        let mut group = Vec::with_capacity(GROUP);
        loop {
            let taken = self.receiver.lock().await.recv_many(&mut group, GROUP).await;
            if taken == 0 {
                return;
            }
            self.health.queued.fetch_sub(taken, Ordering::Relaxed);
            self.carry_out(&mut group).await;
        }
    }

    /// Tries until it works, or a command has waited for too long.
    async fn carry_out(&self, group: &mut Vec<Queued>) {
        let mut backoff = Backoff::new();
        // What a command that waited for too long is told: that there is too much to do, or why it did not work.
        let mut why = StoreError::Overloaded;
        loop {
            for late in group.extract_if(.., |queued| queued.since.elapsed() > self.patience) {
                late.work.tell(Some(why));
            }
            if group.is_empty() {
                return;
            }
            match self.attempt(group, backoff.is_new()).await {
                Ok(()) => return group.drain(..).for_each(|done| done.work.tell(None)),
                Err(trouble) if trouble.passes() => {
                    self.health.note(&trouble);
                    why = StoreError::Unavailable;
                    backoff.wait().await;
                }
                // Only one of them is at fault.
                Err(Trouble::Refused(_) | Trouble::Damaged) if group.len() > 1 => return self.one_by_one(group).await,
                Err(trouble) => {
                    self.health.note(&trouble);
                    return group.drain(..).for_each(|failed| failed.work.tell(Some(trouble.answer())));
                }
            }
        }
    }

    async fn one_by_one(&self, group: &mut Vec<Queued>) {
        for queued in std::mem::take(group) {
            Box::pin(self.carry_out(&mut vec![queued])).await;
        }
    }

    async fn attempt(&self, group: &mut [Queued], first_try: bool) -> Result<(), Trouble> {
        let mut offers: Vec<_> = group.iter().filter_map(|queued| queued.work.offer()).collect();
        let mut buyers: Vec<_> = group.iter().filter_map(|queued| queued.work.buyer(first_try)).collect();
        offers.sort_unstable();
        offers.dedup();
        buyers.sort_unstable();
        buyers.dedup();
        let session = Session::get(&self.pool).await?;
        // Sent together.
        let load = Stage::load(&session, &self.order, &offers, &buyers);
        let ((), mut stage) = tokio::try_join!(biased; session.begin(), load)?;
        for queued in group.iter_mut() {
            queued.work.decide(&mut stage)?;
        }
        let begin = Instant::now();
        if stage.is_unchanged() {
            session.roll_back().await?;
        } else {
            stage.write(&session).await?;
            session.commit().await?;
        }
        self.health.works();
        self.health.done(group.len(), begin.elapsed(), &stage.events());
        Ok(())
    }
}
