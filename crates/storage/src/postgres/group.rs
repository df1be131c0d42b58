//! Grouping: commands that come while the database is busy go to it together.
//!
//! Two tasks take commands from one queue. Each takes what is there, lets the domain decide all of it in one
//! transaction, and answers. There is no timer: a lone command goes at once, and under load one group forms while
//! another commits.

use super::PostgresOptions;
use super::cache::{Clients, Keys};
use super::error::DbError;
use super::health::Health;
use super::order::Order;
use super::pool::Pool;
use super::session::{Backoff, Session};
use super::view::{Loading, Rows, Stored};
use super::write::{Pending, write};
use crate::job::BoxedWork;
use crate::queue::{Queue, Queued};
use lendpay_domain::buyer::Description;
use lendpay_domain::change::Change;
use lendpay_domain::command::Reads;
use lendpay_domain::event::EventCounts;
use lendpay_domain::offer::Terms;
use lendpay_domain::store::{Answer, StoreError};
use lendpay_domain::view::Overlay;
use lendpay_domain::{ApplicationId, OfferId};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The most commands of a group.
const GROUP: usize = 256;

/// How many groups are under way at once.
const GROUPS: usize = 2;

/// How often a group may lose a race before its commands go one by one.
const RACES: u32 = 3;

/// A command of a group.
type Work = BoxedWork<Overlay<Stored>>;

/// Offers that another session holds.
type Held = HashSet<(ApplicationId, OfferId)>;

/// What carries out commands, and what it shares with those who read.
pub(super) struct Groups {
    pub(super) pool: Pool,
    pub(super) health: Arc<Health>,
    pub(super) patience: Duration,
    pub(super) order: Order,
    pub(super) keys: Keys,
    pub(super) clients: Clients,
    queue: Queue<Work>,
    /// Commands that wait for a row or retry apart from the others.
    apart: AtomicUsize,
    /// How many of those try at once.
    apart_limit: Semaphore,
    tasks: Mutex<JoinSet<()>>,
}

impl Groups {
    /// Starts the tasks; they end when the queue is closed and empty.
    pub(super) fn start(pool: Pool, options: PostgresOptions, health: Arc<Health>) -> Arc<Self> {
        let groups = Arc::new(Self {
            pool,
            health,
            patience: options.patience,
            order: Order::default(),
            keys: Keys::default(),
            clients: Clients::default(),
            queue: Queue::new(options.queue),
            apart: AtomicUsize::new(0),
            apart_limit: Semaphore::new(GROUPS),
            tasks: Mutex::default(),
        });
        for _ in 0..GROUPS {
            let task = Arc::clone(&groups);
            groups.tasks().spawn(async move { task.run().await });
        }
        groups
    }

    fn tasks(&self) -> std::sync::MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, work: Work) -> Answer<()> {
        self.queue.push(work.partner(), work)
    }

    /// How many commands wait.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Takes no more commands, does those that wait, and closes every connection.
    pub(super) async fn close(&self) {
        self.queue.close();
        loop {
            let tasks = std::mem::take(&mut *self.tasks());
            if tasks.is_empty() {
                break;
            }
            // They may start others.
            tasks.join_all().await;
        }
        self.pool.close();
    }

    /// Ends without doing what waits.
    pub(super) fn abandon(&self) {
        self.queue.clear();
        self.tasks().abort_all();
    }

    async fn run(self: &Arc<Self>) {
        let mut group = Vec::with_capacity(GROUP);
        loop {
            self.queue.take(&mut group, GROUP).await;
            if group.is_empty() {
                return;
            }
            self.carry_out(&mut group, false).await;
        }
    }

    /// Lets a command wait and retry apart from the others, so that it delays none of them.
    fn spawn_apart(self: &Arc<Self>, queued: Queued<Work>) {
        self.apart.fetch_add(1, Ordering::Relaxed);
        let groups = Arc::clone(self);
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            groups.carry_out(&mut vec![queued], true).await;
            groups.apart.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Tries until it works, cannot work, or a command has waited for too long. What holds up only some commands of a
    /// group sends them `apart`.
    async fn carry_out(self: &Arc<Self>, group: &mut Vec<Queued<Work>>, apart: bool) {
        let (mut backoff, mut how) = (Backoff::new(), Loading::First);
        // What a command that waited for too long is told: that there is too much to do, or why it did not work.
        let mut why = StoreError::Overloaded;
        loop {
            let late: Vec<_> = group.extract_if(.., |queued| queued.since.elapsed() > self.patience).collect();
            fail(late, why);
            if group.is_empty() {
                return;
            }
            if self.apart.load(Ordering::Relaxed) > 0 {
                how = Loading::Free;
            }
            let permit = if apart { self.apart_limit.acquire().await.ok() } else { None };
            let attempt = self.attempt(group, how).await;
            drop(permit);
            let error = match attempt {
                Ok(held) if held.is_empty() => return group.drain(..).for_each(|done| done.item.answer()),
                Ok(held) if !apart => {
                    let held: Vec<_> = group.extract_if(.., |queued| names(&queued.item, &held)).collect();
                    held.into_iter().for_each(|queued| self.spawn_apart(queued));
                    continue;
                }
                Ok(_) => DbError::Locked,
                Err(error) => error,
            };
            self.health.note(&error);
            let waited = std::mem::replace(&mut how, Loading::Again) != Loading::Free;
            match error {
                // It concerns all of them.
                DbError::Unavailable(_) | DbError::Unknown(_) => {}
                DbError::Raced if backoff.waits() < RACES => {}
                // The next attempt finds the offers that are held.
                DbError::Locked if waited && !apart => {
                    how = Loading::Free;
                    continue;
                }
                // Only one of them may be at fault.
                _ if group.len() > 1 => {
                    for queued in std::mem::take(group) {
                        Box::pin(self.carry_out(&mut vec![queued], false)).await;
                    }
                    return;
                }
                DbError::Raced | DbError::Locked | DbError::Failed(_) if !apart => {
                    return group.drain(..).for_each(|queued| self.spawn_apart(queued));
                }
                _ => {}
            }
            if !error.may_pass() {
                return fail(std::mem::take(group), error.answer());
            }
            why = StoreError::Unavailable;
            backoff.wait().await;
        }
    }

    /// Does a group in one transaction, unless another session holds offers of it: then nothing is done, and these are
    /// returned.
    async fn attempt(&self, group: &mut [Queued<Work>], how: Loading) -> Result<Held, DbError> {
        let mut reads = Reads::default();
        group.iter().for_each(|queued| queued.item.reads(&mut reads));
        let session = Session::get(&self.pool).await?;
        // Sent together.
        let load = Rows::load(&session, &self.order, reads, how);
        let ((), rows) = tokio::try_join!(biased; session.begin(), load)?;
        if !rows.held.is_empty() {
            return Ok(rows.held);
        }
        let changes = self.decide(&session, rows, group.iter_mut().map(|queued| &mut queued.item)).await?;
        if !changes.is_empty() {
            self.commit(session, &changes).await?;
        }
        self.health.works();
        self.health.counters.decided(group.len());
        Ok(Held::new())
    }

    /// Decides commands about rows that are loaded, and writes what they change.
    pub(super) async fn decide(
        &self,
        session: &Session,
        rows: Rows,
        group: impl Iterator<Item = &mut Work>,
    ) -> Result<Vec<Pending>, DbError> {
        let mut view = Overlay::new(rows.stored);
        let mut changes = Vec::new();
        for work in group {
            for record in work.decide(&view).map_err(|_| DbError::Damaged)? {
                view.apply(&record.change, Terms::clone, Description::clone).expect("a decision fits its view");
                changes.push(Pending { sequence: None, record });
            }
        }
        write(session, &self.order, &view, &rows.versions, &changes).await?;
        Ok(changes)
    }

    /// Commits a transaction that has written these changes.
    pub(super) async fn commit(&self, session: Session, changes: &[Pending]) -> Result<(), DbError> {
        let begin = Instant::now();
        let committed = session.commit().await;
        self.forget(changes);
        committed?;
        self.health.counters.durable(begin.elapsed(), events(changes));
        Ok(())
    }

    /// Empties the caches of what has changed, or may have.
    fn forget(&self, changes: &[Pending]) {
        let any = |wanted: fn(&Change) -> bool| changes.iter().any(|change| wanted(&change.record.change));
        if any(|change| matches!(change, Change::KeyRevoked { .. } | Change::KeyExpirySet { .. })) {
            self.keys.forget();
        }
        if any(|change| matches!(change, Change::PartnerPut(_))) {
            self.clients.forget();
        }
    }
}

/// Whether a command names one of these offers.
fn names(work: &Work, held: &Held) -> bool {
    let mut reads = Reads::default();
    work.reads(&mut reads);
    let offers = reads.offers.iter().map(|key| (key.application, key.offer));
    offers.chain(reads.owned_offers.iter().copied()).any(|offer| held.contains(&offer))
}

fn fail(group: Vec<Queued<Work>>, error: StoreError) {
    for mut queued in group {
        queued.item.fail(error);
        queued.item.answer();
    }
}

/// How many events of each type the changes are.
fn events(changes: &[Pending]) -> EventCounts {
    let mut counts = EventCounts::default();
    for (_, subject) in changes.iter().filter_map(|change| change.record.subject()) {
        counts[subject.type_index()] += 1;
    }
    counts
}
