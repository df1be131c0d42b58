//! Endpoints of webhooks: the operator's commands, and those of delivery.

use super::{Command, DecideError, Decided, Decision, Reads, Stamp, plain_outcome};
use crate::EndpointId;
use crate::change::{Change, Record};
use crate::query::EventTypes;
use crate::view::View;
use crate::webhook::progress::ASIDE;
use crate::webhook::{Disabled, Endpoint, EndpointUrl, InFlight, Noted, Sealed, Secrets, State, Step, Webhook};

/// Adds an endpoint.
#[derive(Clone, Debug)]
pub struct AddEndpoint {
    /// The endpoint, its owner and its secret included.
    pub endpoint: Endpoint,
    /// It gets the events after this sequence.
    pub after: u64,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddEndpointOutcome {
    /// The endpoint was added, now or already.
    Added,
    /// There is no such partner.
    NoPartner,
}

impl Command for AddEndpoint {
    plain_outcome!(AddEndpointOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.partners.extend(self.endpoint.owner.partner());
        reads.endpoints.push(self.endpoint.id);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<AddEndpointOutcome> {
        let Self { endpoint, after, stamp } = self;
        if let Some(partner) = endpoint.owner.partner()
            && view.partner(partner)?.is_none()
        {
            return Ok(Decision::unchanged(AddEndpointOutcome::NoPartner));
        }
        match view.webhook(endpoint.id)? {
            Some(old) if old.endpoint == *endpoint => Ok(Decision::unchanged(AddEndpointOutcome::Added)),
            Some(_) => Err(DecideError::Contradiction("the id of a new endpoint is taken")),
            None => {
                let put = Change::EndpointPut { endpoint: endpoint.clone().into(), step: Step::Created };
                let begins = noted(vec![Noted::beginning(endpoint.id, *after)]);
                Ok(Decision { outcome: AddEndpointOutcome::Added, changes: vec![stamp.record(put), begins] })
            }
        }
    }
}

/// Changes an endpoint.
#[derive(Clone, Debug)]
pub struct ChangeEndpoint {
    /// The endpoint.
    pub id: EndpointId,
    /// What is done to it.
    pub to: EndpointChange,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// What is done to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointChange {
    /// It gets other values.
    Update {
        /// Where events are sent to.
        url: EndpointUrl,
        /// Which are wanted; `None` for all.
        types: Option<EventTypes>,
        /// How many may be under way at once.
        in_flight: InFlight,
    },
    /// No events are sent any more.
    Pause,
    /// Events are sent again, and what is set aside at once.
    Resume {
        /// The last sequence of the store: an endpoint that has no cursor begins after it.
        last: u64,
    },
    /// It gets a secret. The one before stays valid for a day.
    Rotate(Sealed),
    /// Delivery finds that it does not take events.
    Disable(Disabled),
    /// All events after a sequence are sent, those that it has taken too.
    Redeliver {
        /// The sequence.
        after: u64,
    },
}

/// The outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEndpointOutcome {
    /// The endpoint is like this now.
    Changed(Box<Webhook>),
    /// There is no such endpoint.
    NotFound,
    /// It cannot be resumed before it has a secret: an import has brought none.
    NoSecret,
}

impl Command for ChangeEndpoint {
    plain_outcome!(ChangeEndpointOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.endpoints.push(self.id);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<ChangeEndpointOutcome> {
        let Self { id, ref to, stamp } = *self;
        let Some(mut webhook) = view.webhook(id)?.and_then(Webhook::there) else {
            return Ok(Decision::unchanged(ChangeEndpointOutcome::NotFound));
        };
        let before = webhook.endpoint.clone();
        let endpoint = &mut webhook.endpoint;
        let mut progress = None;
        let step = match to.clone() {
            EndpointChange::Update { url, types, in_flight } => {
                (endpoint.url, endpoint.types, endpoint.in_flight) = (url, types, in_flight);
                Step::Updated
            }
            EndpointChange::Pause => {
                endpoint.set = State::Paused;
                Step::Paused
            }
            EndpointChange::Resume { .. } if endpoint.secrets.current.is_none() => {
                return Ok(Decision::unchanged(ChangeEndpointOutcome::NoSecret));
            }
            EndpointChange::Resume { last } => {
                if endpoint.set != State::Active {
                    let again = webhook.progress.as_ref().map(|progress| progress.again(id, None, stamp.at));
                    progress = Some(again.unwrap_or(Noted::beginning(id, last)));
                }
                endpoint.set = State::Active;
                Step::Resumed
            }
            EndpointChange::Rotate(secret) => {
                // What an import has brought begins only when it is resumed.
                endpoint.set = if endpoint.state() == State::Paused { State::Paused } else { endpoint.set };
                endpoint.secrets = endpoint.secrets.rotated(secret, stamp.at);
                Step::SecretRotated
            }
            EndpointChange::Disable(why) => {
                endpoint.set = if endpoint.set == State::Active { State::Disabled(why) } else { endpoint.set };
                Step::Disabled
            }
            EndpointChange::Redeliver { after } => {
                let of = webhook.progress.clone().unwrap_or_default();
                progress = Some(of.again(id, Some(after), stamp.at));
                Step::Updated
            }
        };
        let mut changes = Vec::new();
        if webhook.endpoint != before || progress.is_some() {
            changes.push(stamp.record(Change::EndpointPut { endpoint: webhook.endpoint.clone().into(), step }));
        }
        if let Some(progress) = progress {
            webhook.progress.get_or_insert_default().note(&progress);
            changes.push(noted(vec![progress]));
        }
        Ok(Decision { outcome: ChangeEndpointOutcome::Changed(webhook.into()), changes })
    }
}

/// Deletes an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct DeleteEndpoint {
    /// The endpoint.
    pub id: EndpointId,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteEndpointOutcome {
    /// It was deleted.
    Deleted,
    /// There is no such endpoint.
    NotFound,
}

impl Command for DeleteEndpoint {
    plain_outcome!(DeleteEndpointOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.endpoints.push(self.id);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<DeleteEndpointOutcome> {
        let Some(Webhook { endpoint, .. }) = view.webhook(self.id)?.and_then(Webhook::there) else {
            return Ok(Decision::unchanged(DeleteEndpointOutcome::NotFound));
        };
        let endpoint = Box::new(Endpoint { set: State::Deleted, secrets: Secrets::default(), ..endpoint });
        let deleted = self.stamp.record(Change::EndpointPut { endpoint, step: Step::Deleted });
        Ok(Decision::with(DeleteEndpointOutcome::Deleted, deleted))
    }
}

/// Notes how far deliveries have come: at most once a second, of all endpoints that a process serves, in the
/// [parts](Noted::parts) that it has.
#[derive(Clone, Debug)]
pub struct NoteDeliveries(pub Vec<Noted>);

impl Command for NoteDeliveries {
    // The endpoints of which nothing was noted: whoever serves one reads again what is stored.
    plain_outcome!(Vec<EndpointId>);

    fn reads(&self, reads: &mut Reads) {
        reads.endpoints.extend(self.0.iter().map(|noted| noted.endpoint));
    }

    fn decide<V: View>(&self, view: &V) -> Decided<Vec<EndpointId>> {
        let (mut current, mut outdated) = (Vec::new(), Vec::new());
        for noted in &self.0 {
            let webhook = view.webhook(noted.endpoint)?.and_then(Webhook::there);
            let progress = webhook.and_then(|webhook| webhook.progress);
            // Of another generation: it was resumed or redelivered since. Too many: two processes have served it.
            let fits = progress.filter(|it| it.generation == noted.generation).is_some_and(|mut progress| {
                progress.note(noted);
                progress.aside.len() <= ASIDE
            });
            if fits { current.push(noted.clone()) } else { outdated.push(noted.endpoint) }
        }
        let changes = if current.is_empty() { Vec::new() } else { vec![noted(current)] };
        Ok(Decision { outcome: outdated, changes })
    }
}

fn noted(all: Vec<Noted>) -> Record {
    Record { sequence: None, cause: None, change: Change::DeliveriesNoted(all) }
}
