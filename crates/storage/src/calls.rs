//! Takes calls off the path of requests: a bounded channel, and a thread that hands them on to where they are kept.
//!
//! What comes in an interval is handed on at its end, so that a disk or a database is asked twice a second at the most,
//! whoever calls however often. Of an interval each owner may have its share, as of the space.

use crate::stats::Counters;
use lendpay_domain::calls::{Call, Owner};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long an interval is.
const INTERVAL: Duration = Duration::from_millis(500);

/// The most calls of an interval.
const MOST: u64 = 2_048;

/// The most calls that wait for the thread.
const WAITING: usize = 4_096;

/// Where calls are kept.
pub(crate) trait Keep: Send + 'static {
    /// Keeps calls. The error is for the log, and says that some or all of them are lost.
    fn keep(&mut self, calls: Vec<Call>) -> Result<(), String>;
}

enum Message {
    Call(Box<Call>),
    /// Hand on what came before, and say so.
    HandOn(oneshot::Sender<()>),
}

/// Takes calls.
pub(crate) struct Recorder {
    messages: SyncSender<Message>,
    counters: Arc<Counters>,
    thread: JoinHandle<()>,
}

impl Recorder {
    /// Starts the thread, which ends with the recorder.
    pub(crate) fn start(keep: impl Keep, counters: &Arc<Counters>) -> io::Result<Self> {
        let (messages, receiver) = sync_channel(WAITING);
        let counters = Arc::clone(counters);
        let of_thread = Arc::clone(&counters);
        let thread = std::thread::Builder::new().name("calls".to_owned());
        let thread = thread.spawn(move || run(keep, &receiver, &of_thread))?;
        Ok(Self { messages, counters, thread })
    }

    /// Takes a call; it is lost, and counted, if too many wait.
    pub(crate) fn note(&self, call: Call) {
        if self.messages.try_send(Message::Call(Box::new(call))).is_err() {
            self.counters.calls_lost(1);
        }
    }

    /// Waits until what was noted before is kept or lost. Does not wait while too many calls wait themselves.
    pub(crate) async fn hand_on(&self) {
        let (done, waiting) = oneshot::channel();
        if self.messages.try_send(Message::HandOn(done)).is_ok() {
            // Without an answer the thread has ended.
            let _ = waiting.await;
        }
    }

    /// Keeps what was noted, and ends the thread.
    pub(crate) fn end(self) {
        let (done, _nobody_waits) = oneshot::channel();
        // The thread ends by itself only if it panics.
        let _ = self.messages.send(Message::HandOn(done));
        drop(self.messages);
        drop(self.thread.join());
    }
}

/// The calls of an interval.
#[derive(Default)]
struct Interval {
    calls: Vec<Call>,
    by_owner: HashMap<Owner, u64>,
    /// When it ends; `None` before its first call.
    end: Option<Instant>,
}

impl Interval {
    /// Adds a call unless its owner has had its share.
    fn add(&mut self, call: Call) -> bool {
        self.end.get_or_insert_with(|| Instant::now() + INTERVAL);
        let (owner, total) = (call.owner(), self.calls.len() as u64);
        let count = self.by_owner.entry(owner).or_default();
        let has_room = *count < owner.share(MOST) && total < MOST;
        if has_room {
            *count += 1;
            self.calls.push(call);
        }
        has_room
    }
}

/// What comes next: a message, or the end of the interval.
fn next(messages: &Receiver<Message>, end: Option<Instant>) -> Result<Message, RecvTimeoutError> {
    match end.map(|end| end.saturating_duration_since(Instant::now())) {
        None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(Duration::ZERO) => Err(RecvTimeoutError::Timeout),
        Some(left) => messages.recv_timeout(left),
    }
}

fn run(mut keep: impl Keep, messages: &Receiver<Message>, counters: &Counters) {
    let (mut interval, mut works) = (Interval::default(), true);
    loop {
        let waiting = match next(messages, interval.end) {
            Ok(Message::Call(call)) => {
                if !interval.add(*call) {
                    counters.calls_lost(1);
                }
                continue;
            }
            Ok(Message::HandOn(done)) => Some(done),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let Interval { calls, .. } = std::mem::take(&mut interval);
        let count = calls.len();
        if count > 0 {
            let kept = keep.keep(calls);
            if let Err(reason) = &kept {
                counters.calls_lost(count);
                if works {
                    tracing::warn!(reason, "records of refused calls are lost");
                }
            }
            works = kept.is_ok();
        }
        if let Some(done) = waiting {
            // Whoever asked may have gone away.
            let _ = done.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::testing::samples::{call, partner};

    #[test]
    fn an_interval_has_room_for_everybody() {
        let mut interval = Interval::default();
        let mut added = |call: &Call| (0..MOST).filter(|_| interval.add(call.clone())).count();
        let (a, b) = (call(1, 0), Call { partner: Some(partner(2)), ..call(1, 0) });
        let nobody = Call { partner: None, actor: None, ..call(1, 0) };
        assert_eq!([&nobody, &a, &b, &a].map(&mut added), [204, 512, 512, 0]);
        let operator = Call { partner: None, ..call(1, 0) };
        assert_eq!(added(&operator), 2_048 - 204 - 2 * 512);
        assert_eq!(interval.calls.len(), 2_048);
    }
}
