//! What comes from the log, what goes to endpoints, and what becomes of it.

use super::{Done, MOST, Worker};
use crate::webhooks::deliverer::{Deliverer, Message};
use crate::webhooks::store::EVENTS;
use lendpay_api::{WebhookPayload, event_id, jitter, uuid};
use lendpay_domain::command::{ChangeEndpoint, EndpointChange, Stamp};
use lendpay_domain::event::{Actor, Event, EventPage};
use lendpay_domain::query::FindEvents;
use lendpay_domain::webhook::course::Due;
use lendpay_domain::webhook::{Attempt, Disabled, Endpoint, Verdict};
use lendpay_domain::{EndpointId, OperationId, Store, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl<S: Store> Worker<S> {
    /// Reads on, if an endpoint is at the end of what was read.
    pub(super) fn read_log(&mut self) {
        let Some(after) = self.head.filter(|_| !self.reading) else { return };
        self.reading = true;
        let (store, more, wanted) = (self.store.clone(), self.more, self.wanted());
        self.work.spawn(async move {
            if !more {
                store.wait(after).await;
            }
            let page = store.events_for(after, wanted.clone()).await;
            Done::Log { after, wanted, page }
        });
    }

    /// Gives events to the endpoints that are at the end and want them. The others pay nothing.
    pub(super) fn distribute(&mut self, after: u64, page: EventPage) {
        let end = page.next.unwrap_or(page.seen);
        (self.head, self.more, self.last) = (Some(end), page.next.is_some(), self.last.max(page.last));
        let mut parts: HashMap<EndpointId, Vec<Arc<Event>>> = HashMap::new();
        for event in page.events {
            if let Some(endpoint) = event.subject.endpoint() {
                self.look_at(endpoint);
            }
            let lenders = self.owners.get(&None);
            let partners = event.partner.and_then(|partner| self.owners.get(&Some(partner)));
            let wants = |endpoint: &&EndpointId| {
                let served = &self.served[*endpoint];
                served.at_end && served.filter.wants(&event)
            };
            let wanting: Vec<_> = lenders.into_iter().chain(partners).flatten().filter(wants).copied().collect();
            if !wanting.is_empty() {
                let event = Arc::new(event);
                for endpoint in wanting {
                    parts.entry(endpoint).or_default().push(Arc::clone(&event));
                }
            }
        }
        for (endpoint, events) in parts {
            let served = self.served.get_mut(&endpoint).expect("it was among those that are served");
            if served.course.room() < events.len() {
                // It is too slow for now, and reads for itself once it has room.
                served.course.read(None, after);
                served.at_end = false;
            } else {
                served.read(events, end);
            }
            self.enqueue(endpoint);
        }
    }

    /// What one endpoint has read for itself.
    pub(super) fn read_past(&mut self, endpoint: EndpointId, run: u64, page: EventPage) {
        let Some(served) = self.served.get_mut(&endpoint).filter(|served| served.run == run) else { return };
        served.reading = false;
        let end = page.next.unwrap_or(page.seen);
        self.last = self.last.max(page.last);
        served.read(page.events.into_iter().map(Arc::new).collect(), end);
        if page.next.is_none() && self.head.is_none_or(|head| end >= head) {
            served.at_end = true;
            self.head.get_or_insert(end);
        }
        self.enqueue(endpoint);
    }

    pub(super) fn enqueue(&mut self, endpoint: EndpointId) {
        if let Some(served) = self.served.get_mut(&endpoint)
            && !std::mem::replace(&mut served.queued, true)
        {
            self.queue.push_back(endpoint);
        }
    }

    /// Sends what may be sent now.
    pub(super) fn send(&mut self, now: Timestamp) {
        while let Some((_, endpoint)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            self.enqueue(endpoint);
        }
        for _ in 0..self.queue.len() {
            let Some(endpoint) = self.queue.pop_front() else { return };
            self.send_to(endpoint, now);
        }
    }

    fn send_to(&mut self, id: EndpointId, now: Timestamp) {
        if self.held.get(&id).is_none_or(|until| *until <= Instant::now()) {
            return self.leave(id);
        }
        let Some(served) = self.served.get_mut(&id) else { return };
        served.queued = false;
        let most = if served.failing { MOST / 2 } else { MOST };
        while self.in_flight < most {
            let Some(due) = served.course.next(now) else { break };
            self.in_flight += 1;
            let (event, endpoint, run) = (served.event(due.sequence), Arc::clone(&served.endpoint), served.run);
            let (store, deliverer) = (self.store.clone(), self.deliverer.clone());
            self.work.spawn(async move {
                let event = match event {
                    Some(event) => event,
                    None => store.event(due.sequence).await,
                };
                let (attempt, retry_after) = attempt(&deliverer, &endpoint, &event, due).await;
                Done::Sent { endpoint: id, run, due, attempt, retry_after }
            });
        }
        let timer = served.course.next_at();
        if served.timer != timer {
            served.timer.map(|at| self.timers.remove(&(at, id)));
            self.timers.extend(timer.map(|at| (at, id)));
            served.timer = timer;
        }
        let room = served.course.room();
        // A read costs about the same for one event as for many.
        if !served.at_end && !served.reading && room >= EVENTS {
            served.reading = true;
            let query = FindEvents { after: served.course.read_to(), limit: EVENTS, filter: served.filter };
            let (store, run) = (self.store.clone(), served.run);
            self.work.spawn(async move { Done::Past { endpoint: id, run, page: store.events(query).await } });
        }
        if self.in_flight >= most {
            self.enqueue(id);
        }
    }

    /// What became of an attempt.
    pub(super) fn sent(
        &mut self,
        id: EndpointId,
        run: u64,
        due: Due,
        mut attempt: Attempt,
        retry_after: Option<Duration>,
    ) {
        let now = self.clock.now();
        if let Some(served) = self.served.get_mut(&id).filter(|served| served.run == run) {
            served.failing = attempt.result.is_err();
            match attempt.result {
                Ok(_) => served.delivered(due.sequence, now),
                Err(problem) => {
                    let hints = (retry_after, jitter());
                    match served.course.failed(due.sequence, problem, now, &self.retries, hints) {
                        Verdict::Again(at) | Verdict::Aside(at) => attempt.next_at = Some(at),
                        Verdict::GivenUp => {
                            self.deliverer.counts().count_given_up();
                            let (endpoint, event, sequence) = (id, attempt.event, due.sequence);
                            tracing::warn!(%endpoint, %event, sequence, "an event was given up: an endpoint of webhooks never took it");
                        }
                        Verdict::Disable(why) => self.disable(id, why, now),
                    }
                }
            }
            self.enqueue(id);
        }
        self.deliverer.remember(id, attempt);
    }

    /// Sends nothing more to an endpoint, and lets everybody know.
    fn disable(&mut self, id: EndpointId, why: Disabled, at: Timestamp) {
        tracing::warn!(endpoint = %id, ?why, "an endpoint of webhooks is disabled");
        self.leave(id);
        self.disabling.insert(id);
        let (store, noted) = (self.store.clone(), self.noted());
        let stamp = Stamp {
            at,
            event: event_id(),
            actor: Actor::Clock,
            operation: OperationId::from_bytes(uuid().into_bytes()),
        };
        self.work.spawn(async move {
            store.save(noted).await;
            store.change(ChangeEndpoint { id, to: EndpointChange::Disable(why), stamp }).await;
            Done::Disabled(id)
        });
    }
}

/// Sends an event to an endpoint once.
async fn attempt(deliverer: &Deliverer, endpoint: &Endpoint, event: &Event, due: Due) -> (Attempt, Option<Duration>) {
    let payload = WebhookPayload::of(event, endpoint.filter().scope).expect("an endpoint gets what its owner sees");
    let Due { sequence, number } = due;
    let (event, kind, within) = (event.id, event.subject.event_type(), Duration::MAX);
    let message = Message { payload, event, kind, sequence: Some(sequence), number, within };
    deliverer.attempt(endpoint, message).await
}
