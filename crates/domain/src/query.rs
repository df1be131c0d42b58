//! Lists and their filters. What is wanted is decided here; a store only finds it, and looks at a bounded number of
//! records for a page.

use crate::buyer::Description;
use crate::event::{Event, Subject};
use crate::life_cycle::Standing;
use crate::offer::Status;
use crate::page::Window;
use crate::partner::Partner;
use crate::{ApplicationId, BuyerId, OfferId, OperationId, PartnerId, Timestamp};
use std::fmt;

/// Whose records are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everybody's. Only the operator asks for them.
    #[default]
    All,
    /// One partner's.
    Partner(PartnerId),
}

impl Scope {
    /// Whether the records of a partner, or of nobody, are wanted.
    pub fn holds(self, partner: impl Into<Option<PartnerId>>) -> bool {
        match self {
            Self::All => true,
            Self::Partner(wanted) => partner.into() == Some(wanted),
        }
    }
}

/// Which partners are wanted, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindPartners {
    /// Only those whose name contains this, in upper or lower case.
    pub name: Option<String>,
    /// Only the one with this client id at the authorization server.
    pub oauth_client_id: Option<String>,
    /// Which part of the list.
    pub window: Window<PartnerId>,
}

impl FindPartners {
    /// Whether a partner is wanted.
    pub fn wants(&self, partner: &Partner) -> bool {
        let name = |wanted: &String| partner.name.as_str().to_lowercase().contains(&wanted.to_lowercase());
        self.name.as_ref().is_none_or(name)
            && (self.oauth_client_id.is_none() || self.oauth_client_id == partner.oauth_client_id)
    }
}

/// An application of a partner's customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Application {
    /// The application.
    pub id: ApplicationId,
    /// Its owner.
    pub partner: PartnerId,
}

/// Which applications are wanted, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindApplications {
    /// Whose.
    pub scope: Scope,
    /// Which part of the list.
    pub window: Window<ApplicationId>,
}

/// Where offers are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffersOf {
    /// Everywhere.
    All,
    /// In a partner's applications.
    Partner(PartnerId),
    /// In one application.
    Application(ApplicationId),
}

/// A place in a list of offers. As text, the two ids with a colon between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OfferCursor {
    /// The application.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
}

impl OfferCursor {
    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (application, offer) = text.split_once(':')?;
        Some(Self { application: ApplicationId::parse(application)?, offer: OfferId::parse(offer)? })
    }
}

impl fmt::Display for OfferCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.application, self.offer)
    }
}

/// A place in the order in which offers expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueCursor {
    /// When it expires.
    pub expiry_at: Timestamp,
    /// The offer.
    pub offer: OfferCursor,
}

/// Which offers are wanted, in the order of their applications, then of their own ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindOffers {
    /// Where.
    pub of: OffersOf,
    /// Only those with this status at the moment `now`.
    pub status: Option<Status>,
    /// Only those whose expiry is before this moment.
    pub expires_before: Option<Timestamp>,
    /// The moment of the question.
    pub now: Timestamp,
    /// Which part of the list.
    pub window: Window<OfferCursor>,
}

impl FindOffers {
    /// Whether an offer is wanted.
    pub fn wants(&self, standing: &Standing) -> bool {
        self.status.is_none_or(|status| standing.seen_at(self.now).status == status)
            && self.expires_before.is_none_or(|end| standing.expiry_at.is_some_and(|expiry| expiry < end))
    }

    /// Whether an offer that is stored with this status can be wanted: one that has expired may be stored as Offered.
    pub fn may_be_stored_as(&self, stored: Status) -> bool {
        self.status.is_none_or(|wanted| stored == wanted || (stored, wanted) == (Status::Offered, Status::Expired))
    }
}

/// A place in a list of buyers. As text, the two ids with a colon between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuyerCursor {
    /// The partner that registered it.
    pub partner: PartnerId,
    /// The buyer.
    pub buyer: BuyerId,
}

impl BuyerCursor {
    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (partner, buyer) = text.split_once(':')?;
        Some(Self { partner: PartnerId::parse(partner)?, buyer: BuyerId::parse(buyer)? })
    }
}

impl fmt::Display for BuyerCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.partner, self.buyer)
    }
}

/// Which buyers are wanted, in the order of their partners, then of their own ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindBuyers {
    /// Whose.
    pub scope: Scope,
    /// Only those with exactly this number.
    pub registration_number: Option<String>,
    /// Which part of the list.
    pub window: Window<BuyerCursor>,
}

impl FindBuyers {
    /// Whether a buyer is wanted.
    pub fn wants(&self, partner: PartnerId, description: &Description) -> bool {
        self.scope.holds(partner)
            && (self.registration_number.is_none() || self.registration_number == description.registration_number)
    }
}

/// A set of types of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTypes(u32);

impl EventTypes {
    /// Every type.
    pub const ALL: Self = Self((1 << Subject::TYPES.len()) - 1);

    /// The type with this name.
    pub fn named(name: &str) -> Option<Self> {
        Subject::TYPES.iter().position(|known| *known == name).map(|index| Self(1 << index))
    }

    /// The types with these names; `None` if there is no such type.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        names.into_iter().try_fold(Self(0), |all, name| Some(Self(all.0 | Self::named(name)?.0)))
    }

    /// The names of the types.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Subject::TYPES.into_iter().enumerate().filter(move |(index, _)| self.0 & 1 << index != 0).map(|(_, name)| name)
    }

    /// The types whose names `wanted` picks.
    pub fn those(wanted: impl Fn(&str) -> bool) -> Self {
        let names = Subject::TYPES.iter().enumerate().filter(|(_, name)| wanted(name));
        Self(names.fold(0, |bits, (index, _)| bits | 1 << index))
    }

    /// Whether the type of an event is in the set.
    pub const fn contains(self, subject: &Subject) -> bool {
        self.0 & (1 << subject.type_index()) != 0
    }

    /// Whether the type of the event that an offer reaches a status is in the set.
    pub const fn contains_status(self, status: Status) -> bool {
        let (application, offer) = (ApplicationId::from_bytes([0; 16]), OfferId::from_bytes([0; 16]));
        self.contains(&Subject::Offer { application, offer, status })
    }

    /// What is in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// A bit for each type, in the order of [`Subject::TYPES`].
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// Which events are wanted. What is `None` does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFilter {
    /// Whose.
    pub scope: Scope,
    /// Of which types.
    pub types: EventTypes,
    /// About this application, or an offer of it.
    pub application: Option<ApplicationId>,
    /// About this offer.
    pub offer: Option<OfferId>,
    /// About this buyer.
    pub buyer: Option<BuyerId>,
    /// Caused by this request.
    pub operation: Option<OperationId>,
    /// That happened at this moment or later.
    pub from: Option<Timestamp>,
    /// That happened before this moment.
    pub until: Option<Timestamp>,
}

impl Default for EventFilter {
    fn default() -> Self {
        let (application, offer, buyer, operation) = (None, None, None, None);
        Self {
            scope: Scope::All,
            types: EventTypes::ALL,
            application,
            offer,
            buyer,
            operation,
            from: None,
            until: None,
        }
    }
}

impl EventFilter {
    /// Whether an event is wanted.
    pub fn wants(&self, event: &Event) -> bool {
        let (application, offer, buyer) = event.subject.ids();
        self.scope.holds(event.partner)
            && self.types.contains(&event.subject)
            && (self.application.is_none() || self.application == application)
            && (self.offer.is_none() || self.offer == offer)
            && (self.buyer.is_none() || self.buyer == buyer)
            && self.operation.is_none_or(|operation| operation == event.operation)
            && self.from.is_none_or(|from| event.occurred_at >= from)
            && self.until.is_none_or(|until| event.occurred_at < until)
    }

    /// The ids that every wanted event has: see [`ids`](crate::event::ids).
    pub fn ids(&self) -> impl Iterator<Item = [u8; 16]> {
        let partner = match self.scope {
            Scope::All => None,
            Scope::Partner(partner) => Some(partner.to_bytes()),
        };
        let Self { application, offer, buyer, operation, .. } = *self;
        [
            partner,
            application.map(ApplicationId::to_bytes),
            offer.map(OfferId::to_bytes),
            buyer.map(BuyerId::to_bytes),
            operation.map(OperationId::to_bytes),
        ]
        .into_iter()
        .flatten()
    }
}

/// Which events are wanted, in the order of their sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindEvents {
    /// Only those with a greater sequence.
    pub after: u64,
    /// The most that are wanted.
    pub limit: usize,
    /// Which of them.
    pub filter: EventFilter,
}

impl FindEvents {
    /// Events of every kind.
    pub fn all(after: u64, limit: usize) -> Self {
        Self { after, limit, filter: EventFilter::default() }
    }
}

#[cfg(test)]
mod tests;
