//! The committer on a disk whose syncs wait for the test: who is answered when, and with what.

use super::super::base::{Base, Overlay};
use super::super::health::Health;
use super::super::log::disk::Disk as _;
use super::super::log::frame::Kind;
use super::super::recovery;
use super::super::writer::Writer;
use super::super::writer::checkpoint::Checkpoints;
use super::super::writer::committer::{Committer, Job};
use super::HEAD;
use super::disk::{Go, SimDisk};
use super::index::MemoryIndex;
use crate::job::{Failed, Work};
use crate::queue::Queue;
use crate::stats::Counters;
use lendpay_domain::PartnerId;
use lendpay_domain::change::Record;
use lendpay_domain::command::{Command as _, Reads};
use lendpay_domain::store::{Answer, StoreError};
use lendpay_domain::testing::samples::{partner, put_partner};
use lendpay_domain::view::View as _;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

type Above = Overlay<MemoryIndex, SimDisk>;

/// A command that puts the partner with its number, and tells the test its answer.
struct Put {
    n: u64,
    answer: Answer<()>,
    answers: Sender<(u64, Answer<()>)>,
}

impl Work<Above> for Put {
    fn partner(&self) -> Option<PartnerId> {
        None
    }

    fn reads(&self, _: &mut Reads) {}

    fn decide(&mut self, view: &Above) -> Result<Vec<Record>, Failed> {
        let decision = put_partner(self.n, "a partner", None, 0).decide(view).map_err(|_| Failed)?;
        Ok(decision.changes)
    }

    fn fail(&mut self, error: StoreError) {
        self.answer = Err(error);
    }

    fn answer(self: Box<Self>) {
        // The test may have ended.
        let _ = self.answers.send((self.n, self.answer));
    }
}

/// No command waits for so long, unless the test says that it has.
const PATIENCE: Duration = Duration::from_secs(600);

/// A committer at work.
struct Store {
    disk: SimDisk,
    base: Arc<Base<MemoryIndex, SimDisk>>,
    health: Arc<Health>,
    queue: Arc<Queue<Job<MemoryIndex, SimDisk>>>,
    syncs: Receiver<Go>,
    to_answers: Sender<(u64, Answer<()>)>,
    answers: Receiver<(u64, Answer<()>)>,
    committer: Option<JoinHandle<()>>,
}

impl Store {
    fn open() -> Self {
        let disk = SimDisk::new(1, None);
        let opened = recovery::open(&disk, &MemoryIndex::default(), HEAD, false).expect("opens");
        let syncs = disk.hold();
        let (base, health, queue) = (opened.base, Arc::new(Health::new()), Arc::new(Queue::new(4_096)));
        let committer = Committer {
            writer: Writer::new(Arc::clone(&base), Kind::Commands, opened.position).expect("works"),
            checkpoints: Checkpoints::start(Arc::clone(&base), disk.clone(), None, &health).expect("a thread"),
            queue: Arc::clone(&queue),
            patience: PATIENCE,
            health: Arc::clone(&health),
            counters: Arc::new(Counters::default()),
        };
        let committer = Some(std::thread::spawn(|| committer.run()));
        let (to_answers, answers) = channel();
        Self { disk, base, health, queue, syncs, to_answers, answers, committer }
    }

    /// Gives a command that has waited for so long already.
    fn push(&self, lane: u64, n: u64, waited: Duration) -> Answer<()> {
        let put = Put { n, answer: Ok(()), answers: self.to_answers.clone() };
        self.queue.push_since(Some(partner(lane)), Box::new(put), Instant::now() - waited)
    }

    /// Gives a command.
    fn put(&self, lane: u64, n: u64) {
        self.push(lane, n, Duration::ZERO).expect("there is room");
    }

    /// Waits until the committer syncs, or removes the mark.
    fn sync(&self) -> Go {
        self.syncs.recv().expect("the committer works")
    }

    /// The next answer.
    fn answer(&self) -> (u64, Answer<()>) {
        self.answers.recv().expect("the store has a sender")
    }

    /// Waits until the committer has ended.
    fn ended(&mut self) {
        self.committer.take().expect("once").join().expect("no panic");
    }

    /// Whether readers find the partner.
    fn has(&self, n: u64) -> bool {
        self.base.partner(partner(n)).expect("works").is_some()
    }
}

/// Lets a sync return without an error.
fn done(sync: &Go) {
    sync.send(Ok(())).expect("the committer waits");
}

#[test]
fn nothing_is_answered_or_read_before_it_is_durable() {
    let mut store = Store::open();
    store.put(1, 1);
    let sync = store.sync();
    assert_eq!(store.answers.try_recv(), Err(TryRecvError::Empty));
    assert!(!store.has(1));
    done(&sync);
    assert_eq!(store.answer(), (1, Ok(())));
    assert!(store.has(1));
    store.queue.close();
    store.ended();
    assert!(store.disk.mark().expect("works").is_some(), "it was closed");
}

#[test]
fn what_comes_during_a_sync_shares_the_next_one() {
    let store = Store::open();
    store.put(1, 0);
    let sync = store.sync();
    (1..100).for_each(|n| store.put(n % 3, n));
    done(&sync);
    assert_eq!(store.answer(), (0, Ok(())));
    let sync = store.sync();
    assert_eq!(store.queue.len(), 0);
    assert_eq!(store.answers.try_recv(), Err(TryRecvError::Empty));
    done(&sync);
    let mut answered: Vec<_> = (1..100).map(|_| store.answer()).collect();
    answered.sort_unstable_by_key(|(n, _)| *n);
    assert!(answered.into_iter().eq((1..100).map(|n| (n, Ok(())))));
}

#[test]
fn what_has_waited_too_long_when_a_sync_returns_is_refused_and_not_done() {
    let store = Store::open();
    store.put(1, 1);
    let sync = store.sync();
    store.push(1, 2, PATIENCE + Duration::from_secs(1)).expect("there is room");
    store.put(1, 3);
    done(&sync);
    assert_eq!(store.answer(), (1, Ok(())));
    assert_eq!(store.answer(), (2, Err(StoreError::Overloaded)), "at once, not after the next sync");
    done(&store.sync());
    assert_eq!(store.answer(), (3, Ok(())));
    assert_eq!([1, 2, 3].map(|n| store.has(n)), [true, false, true]);
    assert_eq!(store.health.failure_reason(), None);
}

#[test]
fn a_failed_sync_ends_the_store_and_nobody_is_told_more_than_is_known() {
    let mut store = Store::open();
    store.put(1, 1);
    let sync = store.sync();
    store.put(1, 2);
    sync.send(Err(io::Error::other("a bad sector"))).expect("the committer waits");
    let removal = store.sync();
    assert_eq!(store.push(1, 3, Duration::ZERO), Err(StoreError::Unavailable));
    assert_eq!(store.health.failure_reason(), None, "the process ends when it is told, and the mark is still there");
    done(&removal);
    assert_eq!(store.answer(), (1, Err(StoreError::OutcomeUnknown)));
    store.ended();
    assert_eq!(store.queue.len(), 0);
    assert_eq!(store.answers.try_recv(), Err(TryRecvError::Empty), "the second was dropped: it was not done");
    assert_eq!([1, 2].map(|n| store.has(n)), [false, false]);
    assert!(store.health.failure_reason().is_some());
    assert_eq!(store.disk.mark().expect("works"), None, "the index is not trusted at the next opening");
}

/// A partner that keeps thousands of commands waiting delays another's command by the group under way, and the
/// one that the command is in.
#[test]
fn a_partner_with_2000_waiting_commands_delays_another_by_one_group() {
    let store = Store::open();
    let mut busy = 1_000..;
    busy.by_ref().take(2_000).for_each(|n| store.put(1, n));
    let mut sync = store.sync();
    for n in 0..10 {
        busy.by_ref().take(2_000 - store.queue.len()).for_each(|n| store.put(1, n));
        store.put(2, n);
        done(&sync);
        sync = store.sync();
        done(&sync);
        // The answers of both groups were sent when the third syncs.
        sync = store.sync();
        assert!(store.answers.try_iter().any(|answer| answer == (n, Ok(()))), "{n}");
    }
}
