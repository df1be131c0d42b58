//! The way to the committer: bounded, and closed when the store is.

use super::health::Health;
use super::work::{Reply, Work};
use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tokio::sync::oneshot;

/// A command that waits.
pub(super) struct Queued {
    pub(super) work: Work,
    pub(super) since: Instant,
}

/// The callers' end.
pub(super) struct Queue {
    /// `None` once the store is closed.
    sender: RwLock<Option<SyncSender<Queued>>>,
    health: Arc<Health>,
}

impl Queue {
    pub(super) fn new(capacity: usize, health: Arc<Health>) -> (Self, Receiver<Queued>) {
        let (sender, receiver) = sync_channel(capacity);
        (Self { sender: RwLock::new(Some(sender)), health }, receiver)
    }

    /// Hands a command over and waits for its answer.
    pub(super) async fn run<C, T>(&self, work: fn(C, Reply<T>) -> Work, command: C) -> Answer<T> {
        let (reply, answer) = oneshot::channel();
        self.send(work(command, reply))?;
        tokio::select! {
            biased;
            // Without an answer the committer ended before it took the command.
            answer = answer => answer.unwrap_or(Err(StoreError::Unavailable)),
            // A committer that waits for ever gives no answer.
            _ = self.health.failure() => Err(StoreError::OutcomeUnknown),
        }
    }

    /// Hands a command over.
    pub(super) fn send(&self, work: Work) -> Answer<()> {
        let sender = self.sender.read().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = sender.as_ref() else { return Err(StoreError::Unavailable) };
        // Counted before it is sent, so that the committer never counts down first.
        self.health.enqueued();
        sender.try_send(Queued { work, since: Instant::now() }).map_err(|error| {
            self.health.dequeued(1);
            match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Unavailable,
            }
        })
    }

    /// Takes no more commands. The committer ends when it has done those that wait.
    pub(super) fn close(&self) {
        self.sender.write().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sled::work::Revoke;
    use lendpay_domain::Timestamp;
    use lendpay_domain::key::KeyHash;

    fn command() -> Revoke {
        Revoke { hash: KeyHash::of("x"), at: Timestamp::UNIX_EPOCH }
    }

    fn send(queue: &Queue) -> (Answer<()>, oneshot::Receiver<Answer<lendpay_domain::store::RevokeKeyOutcome>>) {
        let (reply, answer) = oneshot::channel();
        (queue.send(Work::Revoke(command(), reply)), answer)
    }

    #[test]
    fn a_full_queue_refuses_and_a_place_that_frees_up_is_used() {
        let health = Arc::new(Health::new());
        let (queue, receiver) = Queue::new(2, Arc::clone(&health));
        assert_eq!((send(&queue).0, send(&queue).0), (Ok(()), Ok(())));
        assert_eq!(send(&queue).0, Err(StoreError::Overloaded));
        assert_eq!(health.stats().queued, 2);
        drop(receiver.try_recv());
        assert_eq!(send(&queue).0, Ok(()));
    }

    #[tokio::test]
    async fn a_closed_queue_and_a_lost_committer_are_told() {
        let (queue, receiver) = Queue::new(2, Arc::new(Health::new()));
        let (sent, answer) = send(&queue);
        assert_eq!(sent, Ok(()));
        drop(receiver);
        assert!(answer.await.is_err());
        assert_eq!(queue.run(Work::Revoke, command()).await, Err(StoreError::Unavailable));
        queue.close();
        assert_eq!(queue.run(Work::Revoke, command()).await, Err(StoreError::Unavailable));
    }
}
