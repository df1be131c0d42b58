//! Grouping: commands that come while the database is busy go to it together.
//!
//! Two tasks take commands from one queue. Each takes what is there, lets the domain decide all of it in one transaction, and
//! answers. There is no timer: a lone command goes at once, and under load one group forms while another commits.

use super::PostgresOptions;
use super::cache::{Clients, Keys};
use super::error::DbError;
use super::health::Health;
use super::order::Order;
use super::pool::Pool;
use super::session::{Backoff, Session};
use super::view::Rows;
use super::write::{Pending, write};
use crate::job::BoxedWork;
use crate::queue::{Queue, Queued};
use lendpay_domain::buyer::Description;
use lendpay_domain::change::Change;
use lendpay_domain::command::Reads;
use lendpay_domain::offer::Terms;
use lendpay_domain::store::{Answer, StoreError};
use lendpay_domain::view::Overlay;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The most commands of a group.
const GROUP: usize = 256;

/// How many groups are under way at once.
const GROUPS: usize = 2;

/// How often a group may lose a race before its commands go one by one.
const RACES: u32 = 3;

/// A command of a group.
type Work = BoxedWork<Overlay<Rows>>;

/// What carries out commands, and what it shares with those who read.
pub(super) struct Groups {
    pub(super) pool: Pool,
    pub(super) health: Arc<Health>,
    pub(super) patience: Duration,
    pub(super) order: Order,
    pub(super) keys: Keys,
    pub(super) clients: Clients,
    queue: Queue<Work>,
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
        let tasks = std::mem::take(&mut *self.tasks());
        tasks.join_all().await;
        self.pool.close();
    }

    async fn run(&self) {
        let mut group = Vec::with_capacity(GROUP);
        loop {
            self.queue.take(&mut group, GROUP).await;
            if group.is_empty() {
                return;
            }
            self.carry_out(&mut group).await;
        }
    }

    /// Tries until it works, cannot work, or a command has waited for too long.
    async fn carry_out(&self, group: &mut Vec<Queued<Work>>) {
        let mut backoff = Backoff::new();
        // What a command that waited for too long is told: that there is too much to do, or why it did not work.
        let mut why = StoreError::Overloaded;
        loop {
            let late: Vec<_> = group.extract_if(.., |queued| queued.since.elapsed() > self.patience).collect();
            fail(late, why);
            if group.is_empty() {
                return;
            }
            let Err(error) = self.attempt(group, backoff.waits() == 0).await else {
                return group.drain(..).for_each(|done| done.item.answer());
            };
            let split = match error {
                DbError::Raced => backoff.waits() >= RACES,
                DbError::Unavailable(_) => false,
                DbError::Locked | DbError::Failed(_) | DbError::Refused(_) | DbError::Damaged => true,
                DbError::Unknown(_) => false,
            };
            if split && group.len() > 1 {
                // Only one of them may be at fault.
                for queued in std::mem::take(group) {
                    Box::pin(self.carry_out(&mut vec![queued])).await;
                }
                return;
            }
            self.health.note(&error);
            if !error.may_pass() {
                return fail(std::mem::take(group), error.answer());
            }
            why = StoreError::Unavailable;
            backoff.wait().await;
        }
    }

    async fn attempt(&self, group: &mut [Queued<Work>], first_try: bool) -> Result<(), DbError> {
        let mut reads = Reads::default();
        group.iter().for_each(|queued| queued.item.reads(&mut reads));
        let session = Session::get(&self.pool).await?;
        // Sent together.
        let load = Rows::load(&session, &self.order, reads, first_try);
        let ((), rows) = tokio::try_join!(biased; session.begin("BEGIN"), load)?;
        let mut view = Overlay::new(rows);
        let mut changes = Vec::new();
        for queued in group.iter_mut() {
            for record in queued.item.decide(&view).map_err(|_| DbError::Damaged)? {
                view.apply(&record.change, Terms::clone, Description::clone).expect("a decision fits its view");
                changes.push(Pending { sequence: None, record });
            }
        }
        if !changes.is_empty() {
            write(&session, &self.order, &view, &changes).await?;
            let begin = Instant::now();
            let committed = session.commit().await;
            self.forget(&changes);
            committed?;
            self.health.counters.durable(begin.elapsed(), events(&changes));
        }
        self.health.works();
        self.health.counters.decided(group.len());
        Ok(())
    }

    /// Empties the caches of what has changed, or may have.
    fn forget(&self, changes: &[Pending]) {
        let any = |wanted: fn(&Change) -> bool| changes.iter().any(|change| wanted(&change.record.change));
        if any(|change| matches!(change, Change::KeyRevoked { .. })) {
            self.keys.forget();
        }
        if any(|change| matches!(change, Change::PartnerPut(_))) {
            self.clients.forget();
        }
    }
}

fn fail(group: Vec<Queued<Work>>, error: StoreError) {
    for mut queued in group {
        queued.item.fail(error);
        queued.item.answer();
    }
}

/// How many events of each type the changes are.
fn events(changes: &[Pending]) -> [u64; 7] {
    let mut counts = [0; 7];
    for (_, subject) in changes.iter().filter_map(|change| change.record.change.subject()) {
        counts[subject.type_index()] += 1;
    }
    counts
}
