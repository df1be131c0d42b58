//! Readers that wait for events (contract 2.13).
//!
//! They share one look at the store: while somebody waits, one task reads each new event once and wakes those who want
//! it. So a reader costs nothing until there is something for it. It keeps no turn of its partner and no connection to
//! the store while it waits.

use crate::context::Context;
use crate::failure::Failure;
use lendpay_domain::event::EventPage;
use lendpay_domain::query::{EventFilter, FindEvents};
use lendpay_domain::store::Queries;
use lendpay_domain::{HistoryId, PartnerId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// How many readers of a partner may wait.
pub(crate) const READERS: usize = 10;

/// How many readers of the operator's side may wait.
const OPERATOR_READERS: usize = 100;

/// How many events are read at once.
const PAGE: usize = 500;

/// How long is waited after the store has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Whose readers: a partner's, or the operator's.
type Lane = Option<PartnerId>;

/// The readers of a process that wait, those of both sides.
#[derive(Debug, Default)]
pub struct Feed {
    state: Mutex<State>,
    /// Told when the last reader has gone.
    left: Notify,
    stopped: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    readers: HashMap<Lane, Vec<Reader>>,
    /// Up to where events were shown to those who waited then; `None` while nobody reads them.
    shown: Option<u64>,
    /// The number of the next reader.
    next: u64,
}

#[derive(Debug)]
struct Reader {
    number: u64,
    filter: EventFilter,
    /// Up to where it has looked.
    seen: u64,
    until: Instant,
    wake: Arc<Notify>,
}

/// A reader's place, until this is dropped.
struct Place<'a> {
    feed: &'a Feed,
    lane: Lane,
    number: u64,
    wake: Arc<Notify>,
}

impl Feed {
    /// Answers all who wait, and lets nobody wait from now on.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// How many readers of partners, and of the operator, wait.
    pub fn waiting(&self) -> [usize; 2] {
        let state = self.state();
        let all: usize = state.readers.values().map(Vec::len).sum();
        let operators = state.readers.get(&None).map_or(0, Vec::len);
        [all - operators, operators]
    }

    /// Whether a reader that was given this page is to wait until a moment, and not to be answered.
    pub(crate) fn is_to_wait(&self, page: &EventPage, until: Instant) -> bool {
        page.events.is_empty() && page.next.is_none() && Instant::now() < until && !self.stopped.is_cancelled()
    }

    /// Waits for an event that comes after a page and that a reader wants, or until a moment, or until the store fails
    /// or the service ends: then the reader looks again. Notes how long its request has waited.
    ///
    /// # Errors
    /// If too many of the request's partner, or of the operator's side, wait.
    pub(crate) async fn wait<S: Queries>(
        self: &Arc<Self>,
        store: &Arc<S>,
        context: &Context,
        filter: EventFilter,
        page: &EventPage,
        until: Instant,
    ) -> Result<(), Failure> {
        let begin = Instant::now();
        if let Some(place) = self.enter(store, context.partner(), filter, page, until)? {
            tokio::select! {
                () = place.wake.notified() => {}
                () = sleep_until(until) => {}
                () = self.stopped.cancelled() => {}
            }
        }
        context.note_wait(begin.elapsed());
        Ok(())
    }

    /// A place among those who wait; none if events that this reader has not seen were shown already.
    fn enter<S: Queries>(
        self: &Arc<Self>,
        store: &Arc<S>,
        lane: Lane,
        filter: EventFilter,
        &EventPage { seen, history, .. }: &EventPage,
        until: Instant,
    ) -> Result<Option<Place<'_>>, Failure> {
        let mut state = self.state();
        if state.shown.is_some_and(|shown| shown > seen) {
            return Ok(None);
        }
        let number = state.next;
        let readers = state.readers.entry(lane).or_default();
        if readers.len() >= if lane.is_some() { READERS } else { OPERATOR_READERS } {
            let first = readers.iter().map(|reader| reader.until).min().expect("there are many");
            return Err(Failure::TooManyReaders(first.saturating_duration_since(Instant::now()).as_secs() + 1));
        }
        let wake = Arc::<Notify>::default();
        readers.push(Reader { number, filter, seen, until, wake: Arc::clone(&wake) });
        state.next += 1;
        if state.shown.is_none() {
            state.shown = Some(seen);
            tokio::spawn(Arc::clone(self).show(Arc::clone(store), history));
        }
        Ok(Some(Place { feed: self, lane, number, wake }))
    }

    /// Shows events to those who wait, as long as somebody does.
    async fn show<S: Queries>(self: Arc<Self>, store: Arc<S>, mut history: HistoryId) {
        while let Some(shown) = self.go_on() {
            let come = tokio::select! {
                come = store.wait_for_changes(shown) => come,
                () = self.left.notified() => continue,
            };
            let page = match come {
                Ok(()) => store.find_events(FindEvents::all(shown, PAGE)).await,
                Err(error) => Err(error),
            };
            match page {
                Ok(page) => self.wake(&page, &mut history),
                Err(_) => {
                    // They find out what is wrong.
                    self.state().wake_all();
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Up to where events were shown; `None` if nobody waits any more.
    fn go_on(&self) -> Option<u64> {
        let mut state = self.state();
        state.shown = state.shown.filter(|_| !state.readers.is_empty());
        state.shown
    }

    /// Wakes those who want an event of a page, or all if the store has become another one.
    fn wake(&self, page: &EventPage, history: &mut HistoryId) {
        let mut state = self.state();
        state.shown = Some(page.seen);
        if std::mem::replace(history, page.history) != page.history {
            // Its sequences begin again.
            state.shown = Some(0);
            return state.wake_all();
        }
        for event in &page.events {
            for lane in [Some(None), event.partner.map(Some)].into_iter().flatten() {
                let readers = state.readers.get(&lane).into_iter().flatten();
                let wanted = readers.filter(|reader| event.sequence > reader.seen && reader.filter.wants(event));
                wanted.for_each(|reader| reader.wake.notify_one());
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake_all(&self) {
        self.readers.values().flatten().for_each(|reader| reader.wake.notify_one());
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.feed.state();
        let readers = state.readers.get_mut(&self.lane).expect("it has a place there");
        readers.retain(|reader| reader.number != self.number);
        if readers.is_empty() {
            state.readers.remove(&self.lane);
        }
        if state.readers.is_empty() {
            self.feed.left.notify_one();
        }
    }
}
