//! What a connection is doing, as its socket, its requests, its timer and the listener's slots know it together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long the head of a request may take to arrive.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a connection may take for what.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a request. The endpoint ends it; here it only says when to look again.
    pub request: Duration,
    /// For a request's head, from its first byte; for the first byte of a connection; for a TLS handshake.
    pub head: Duration,
    /// Between two requests, and for the client to take anything of an answer.
    pub idle: Duration,
}

impl Timeouts {
    pub fn new(request: Duration, idle: Duration) -> Self {
        Self { request, head: request.min(HEAD_TIME), idle }
    }
}

/// The state of a connection.
#[derive(Debug)]
pub struct Activity {
    state: Mutex<State>,
    /// Cancelled when the connection has to end because others get its place.
    pub displaced: CancellationToken,
}

#[derive(Debug)]
struct State {
    /// How many requests run. Their answers may still be unsent after that.
    running: usize,
    /// Whether a byte has arrived, and a whole request.
    spoken: bool,
    requested: bool,
    /// Since when the head of a request arrives.
    head: Option<Instant>,
    /// When a request ended last, or its client took something of an answer; before that, when it was accepted.
    since: Instant,
    /// Bytes of answers that are held for the client.
    unsent: usize,
    /// Whether it was displaced for the sake of those bytes.
    stalled: bool,
}

/// Which connection makes room first: one that never made a request, then the longest idle. It only grows.
pub type Rank = (bool, Instant);

/// Why a connection is not served any more, though neither side closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The head of a request took too long.
    Slow,
    /// Nothing happened for too long, or others got its place.
    Dropped,
}

/// A request that runs, until this is dropped.
#[derive(Debug)]
pub struct Running(Arc<Activity>);

impl Activity {
    /// A connection that is accepted now.
    pub fn new() -> Arc<Self> {
        let since = Instant::now();
        let state = State { running: 0, spoken: false, requested: false, head: None, since, unsent: 0, stalled: false };
        Arc::new(Self { state: Mutex::new(state), displaced: CancellationToken::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// HTTP/1: whether no request runs and none has begun.
    pub fn rests(&self) -> bool {
        let state = self.state();
        state.running == 0 && state.head.is_none()
    }

    /// HTTP/1: bytes have arrived. If no request runs, they begin one.
    pub fn received(&self) {
        let mut state = self.state();
        state.spoken = true;
        if state.running == 0 && state.head.is_none() {
            state.head = Some(Instant::now());
        }
    }

    /// HTTP/2: bytes have arrived; whether a head ended with them, and whether they leave one incomplete.
    pub fn received_frames(&self, ended: bool, incomplete: bool) {
        let mut state = self.state();
        state.spoken = true;
        let begun = state.head.filter(|_| !ended);
        state.head = incomplete.then(|| begun.unwrap_or_else(Instant::now));
    }

    /// Bytes of an answer went out: a long one that the client takes is not idleness.
    pub fn sent(&self) {
        self.state().since = Instant::now();
    }

    /// HTTP/1: the head is complete. Returns when it began.
    pub fn take_head(&self) -> Instant {
        // It may have come in the same read as the end of the request before.
        self.state().head.take().unwrap_or_else(Instant::now)
    }

    /// A request runs from now on.
    pub fn run(self: &Arc<Self>) -> Running {
        let mut state = self.state();
        state.running += 1;
        state.requested = true;
        drop(state);
        Running(Arc::clone(self))
    }

    /// When to look again, or why the connection has to end.
    pub fn due(&self, timeouts: &Timeouts) -> Result<Instant, End> {
        let (state, now) = (self.state(), Instant::now());
        if let Some(head) = state.head {
            let end = head + timeouts.head;
            return if now >= end { Err(End::Slow) } else { Ok(end) };
        }
        if state.running > 0 {
            return Ok(now + timeouts.request.min(timeouts.head));
        }
        let limit = if state.spoken { timeouts.idle } else { timeouts.idle.min(timeouts.head) };
        let end = state.since + limit;
        // A head may begin any time; its time is up no earlier than this.
        if now >= end { Err(End::Dropped) } else { Ok(end.min(now + timeouts.head)) }
    }

    /// When it makes room for others; never while a request runs.
    pub fn rank(&self) -> Option<Rank> {
        let state = self.state();
        (state.running == 0).then_some((state.requested, state.since))
    }

    /// Since when its client has taken nothing of the bytes that are held for it, if there are any.
    pub fn stalled(&self) -> Option<Instant> {
        let state = self.state();
        (state.unsent > 0).then_some(state.since)
    }

    /// Notes that more bytes are held, or fewer. False if it does not count any more, as it was displaced.
    pub fn change_unsent(&self, by: isize) -> bool {
        let mut state = self.state();
        let counts = !self.displaced.is_cancelled();
        if counts {
            state.unsent = state.unsent.saturating_add_signed(by);
        }
        counts
    }

    /// Ends the connection, so that others get its place. Returns how many bytes were held for it.
    pub fn displace(&self) -> usize {
        let mut state = self.state();
        self.displaced.cancel();
        state.stalled = state.unsent > 0;
        std::mem::take(&mut state.unsent)
    }

    /// Whether a displaced connection ends at once: nothing runs on it, or its client did not take what it asked for.
    pub fn ends_at_once(&self) -> bool {
        let state = self.state();
        state.running == 0 || state.stalled
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts =
        Timeouts { request: Duration::from_secs(30), head: Duration::from_secs(10), idle: Duration::from_secs(75) };

    /// Lets the clock of an activity run on.
    fn pass(activity: &Activity, seconds: u64) {
        let mut state = activity.state();
        let by = Duration::from_secs(seconds);
        state.since -= by;
        state.head = state.head.map(|head| head - by);
    }

    #[test]
    fn the_first_byte_has_the_time_of_a_head_and_later_ones_the_idle_time() {
        let activity = Activity::new();
        pass(&activity, 9);
        assert!(activity.due(&TIMEOUTS).is_ok());
        pass(&activity, 1);
        assert_eq!(activity.due(&TIMEOUTS), Err(End::Dropped));
        activity.received();
        assert!(activity.due(&TIMEOUTS).is_ok());
        pass(&activity, 10);
        assert_eq!(activity.due(&TIMEOUTS), Err(End::Slow));
        activity.take_head();
        drop(activity.run());
        pass(&activity, 74);
        assert!(activity.due(&TIMEOUTS).is_ok());
        activity.sent();
        pass(&activity, 74);
        assert!(activity.due(&TIMEOUTS).is_ok(), "it takes an answer");
        pass(&activity, 1);
        assert_eq!(activity.due(&TIMEOUTS), Err(End::Dropped));
    }

    #[test]
    fn a_head_in_frames_is_timed_beside_requests_that_run_and_each_anew() {
        let activity = Activity::new();
        let _running = activity.run();
        activity.received_frames(false, true);
        pass(&activity, 9);
        activity.received_frames(false, true);
        pass(&activity, 1);
        assert_eq!(activity.due(&TIMEOUTS), Err(End::Slow));
        activity.received_frames(true, true);
        assert!(activity.due(&TIMEOUTS).is_ok());
        assert_eq!(activity.rank(), None);
    }
}
