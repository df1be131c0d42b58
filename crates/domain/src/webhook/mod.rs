//! Webhooks (contract 2.15): events are sent to endpoints, at least once and in order for each offer and buyer.
//!
//! | module | subject |
//! |---|---|
//! | `mod` | what an endpoint is, and which events it gets |
//! | [`url`] | which addresses an endpoint may have |
//! | [`progress`] | how far its delivery has come, as it is stored |
//! | [`retries`] | when a delivery that failed is tried again, and when no more |
//! | [`course`] | which events may be sent now |
//! | [`attempt`] | one attempt to send an event, and what delivery tells about itself |

pub mod attempt;
pub mod course;
pub mod progress;
pub mod retries;
pub mod url;

pub use attempt::{Attempt, Deliveries, Problem};
pub use course::{Course, Due};
pub use progress::{Aside, Failed, Noted, Progress};
pub use retries::{Retries, Verdict};
pub use url::{BadUrl, EndpointUrl};

use crate::event::{Event, Subject};
use crate::key::Area;
use crate::page::Window;
use crate::query::{EventFilter, EventTypes, Scope};
use crate::{ApplicationId, BuyerId, EndpointId, OfferId, PartnerId, Timestamp};
use std::fmt;
use std::time::Duration;

/// For how long the secret before the last rotation stays valid.
pub const FORMER_SECRET: Duration = Duration::from_hours(24);

/// For how long a process holds an endpoint without renewing.
pub const HELD: Duration = Duration::from_secs(8);

/// Who gets the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The lender: it may get all events.
    Lender,
    /// A partner: it may get its own, of the types that partners see.
    Partner(PartnerId),
}

impl Owner {
    /// The partner.
    pub const fn partner(self) -> Option<PartnerId> {
        match self {
            Self::Lender => None,
            Self::Partner(partner) => Some(partner),
        }
    }

    /// Every type of event that the owner may get.
    pub fn types(self) -> EventTypes {
        match self {
            Self::Lender => EventTypes::ALL,
            Self::Partner(_) => EventTypes::those(|name| Area::of_event(name).is_some()),
        }
    }
}

/// Whether events are sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// They are.
    Active,
    /// Not until an operator resumes it.
    Paused,
    /// Not, since the endpoint does not take them, until an operator resumes it.
    Disabled(Disabled),
    /// Never again: an operator deleted it. Only its id is of use, which is never given again.
    Deleted,
}

/// Why an endpoint was disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disabled {
    /// It answered 410: it wants no more events.
    Gone,
    /// It took no event for 7 days ([`Retries::lasting`]).
    Failing,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Active, Self::Paused, Self::Disabled(Disabled::Gone), Self::Disabled(Disabled::Failing), Self::Deleted];

    /// The name in documents and exports, and why it is disabled.
    pub const fn names(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Active => ("active", None),
            Self::Paused => ("paused", None),
            Self::Disabled(Disabled::Gone) => ("disabled", Some("gone")),
            Self::Disabled(Disabled::Failing) => ("disabled", Some("failing")),
            Self::Deleted => ("deleted", None),
        }
    }

    /// Reads what [`Self::names`] gives.
    pub fn named(name: &str, why: Option<&str>) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.names() == (name, why))
    }
}

/// How many events may be under way to an endpoint at once: 1 to 16. With 1 all events are in order, not only those of
/// each offer and buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight(u8);

impl InFlight {
    /// The most, which is also the default.
    pub const MOST: Self = Self(16);

    /// Checks a number.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= Self::MOST.0 { Some(Self(number)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// A secret as it is stored: encrypted, with a key that no store has.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Vec<u8>);

impl Sealed {
    /// The most bytes.
    pub const LONGEST: usize = 128;

    /// Wraps an encrypted secret of at most [`Self::LONGEST`] bytes.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() <= Self::LONGEST).then_some(Self(bytes))
    }

    /// The encrypted secret.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(…)")
    }
}

/// The secrets that deliveries are signed with. An export holds none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The newest; `None` after an import, until it is rotated.
    pub current: Option<Sealed>,
    /// The one before, and from when on it is not used.
    pub former: Option<(Sealed, Timestamp)>,
}

impl Secrets {
    /// The secrets that are valid at a moment, the newest first.
    pub fn valid(&self, now: Timestamp) -> impl Iterator<Item = &Sealed> {
        let former = self.former.as_ref().filter(|(_, end)| now < *end);
        self.current.iter().chain(former.map(|(secret, _)| secret))
    }

    /// With a new secret in place of the newest, which stays valid for a while.
    #[must_use]
    pub fn rotated(&self, secret: Sealed, now: Timestamp) -> Self {
        let former = self.current.clone().map(|current| (current, now + FORMER_SECRET));
        Self { current: Some(secret), former }
    }
}

/// An endpoint: where events are sent to, which, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Who gets the events. Never changes.
    pub owner: Owner,
    /// Where they are sent to.
    pub url: EndpointUrl,
    /// The types that are wanted; `None` for all that the owner may get, later ones included.
    pub types: Option<EventTypes>,
    /// How many may be under way at once.
    pub in_flight: InFlight,
    /// Whether they are sent, as operators and delivery have set it. See [`Self::state`].
    pub set: State,
    /// When it was added.
    pub created_at: Timestamp,
    /// What deliveries are signed with.
    pub secrets: Secrets,
}

impl Endpoint {
    /// Whether events are sent. An endpoint without a secret, as an import leaves it, is paused.
    pub const fn state(&self) -> State {
        match self.set {
            State::Active if self.secrets.current.is_none() => State::Paused,
            set => set,
        }
    }

    /// Which events it gets.
    pub fn filter(&self) -> EventFilter {
        let allowed = self.owner.types();
        let types = self.types.map_or(allowed, |wanted| wanted.and(allowed));
        EventFilter { scope: self.owner.partner().map_or(Scope::All, Scope::Partner), types, ..EventFilter::default() }
    }
}

/// An endpoint, and how far its delivery has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// `None` if a merging import has added it and nobody has resumed it since: sequences of another store mean nothing.
    pub progress: Option<Progress>,
}

impl Webhook {
    /// The endpoint, unless it was deleted.
    pub fn there(self) -> Option<Self> {
        Some(self).filter(|webhook| webhook.endpoint.set != State::Deleted)
    }

    /// The progress to go on from, if events are sent to the endpoint.
    pub fn served(&self) -> Option<&Progress> {
        self.progress.as_ref().filter(|_| self.endpoint.state() == State::Active)
    }
}

/// Which endpoints are wanted, in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindEndpoints {
    /// Only those of this owner.
    pub owner: Option<Owner>,
    /// Which part of the list.
    pub window: Window<EndpointId>,
}

impl FindEndpoints {
    /// Whether an endpoint is wanted.
    pub fn wants(&self, endpoint: &Endpoint) -> bool {
        endpoint.set != State::Deleted && self.owner.is_none_or(|owner| owner == endpoint.owner)
    }
}

/// What was done to an endpoint: each is a type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was added.
    Created,
    /// It has another address, other types or another limit, or begins at another place of the log.
    Updated,
    /// An operator paused it.
    Paused,
    /// An operator resumed it.
    Resumed,
    /// It has a new secret.
    SecretRotated,
    /// It does not take events any more.
    Disabled,
    /// It was deleted.
    Deleted,
}

impl Step {
    /// Every step.
    pub const ALL: [Self; 7] =
        [Self::Created, Self::Updated, Self::Paused, Self::Resumed, Self::SecretRotated, Self::Disabled, Self::Deleted];

    /// The type of its event.
    pub const fn event_type(self) -> &'static str {
        Subject::Webhook(EndpointId::from_bytes([0; 16]), self).event_type()
    }

    /// The step with this type of event.
    pub fn named(event_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.event_type() == event_type)
    }
}

/// What events are in order for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// An offer.
    Offer(ApplicationId, OfferId),
    /// A buyer.
    Buyer(BuyerId),
    /// A partner, with its keys and applications.
    Partner(PartnerId),
    /// An endpoint.
    Endpoint(EndpointId),
}

impl Lane {
    /// The lane of an event.
    pub fn of(event: &Event) -> Self {
        match event.subject {
            Subject::Offer { application, offer, .. } | Subject::Terms { application, offer } => {
                Self::Offer(application, offer)
            }
            Subject::Buyer(buyer) => Self::Buyer(buyer),
            Subject::Webhook(endpoint, _) => Self::Endpoint(endpoint),
            Subject::PartnerCreated
            | Subject::PartnerUpdated
            | Subject::KeyCreated(_)
            | Subject::KeyExpirySet(_)
            | Subject::KeyRevoked(_)
            | Subject::ApplicationCreated(_) => {
                Self::Partner(event.partner.expect("only events of the lender's endpoints have no partner"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
