//! Changes with their causes: the entries of the embedded store's log, and what the database keeps of a change beside
//! its typed columns.

use super::codes::{ActorCode, status_code, status_of};
use super::webhook::{EndpointRecord, NotedRecord, StepCode};
use super::{DescriptionRecord, KeyRow, PartnerRecord, TermsRecord, Time};
use crate::codec::CodecError;
use lendpay_domain::change::{Cause, Change, OfferKey, Record};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::KeyHash;
use lendpay_domain::text::Reason;
use lendpay_domain::webhook::Noted;
use lendpay_domain::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A change with its cause. The sequence is kept beside it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry<'a> {
    #[serde(borrow)]
    cause: Option<CauseRecord<'a>>,
    #[serde(borrow)]
    pub(crate) change: ChangeRecord<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CauseRecord<'a> {
    event: [u8; 16],
    at: Time,
    #[serde(borrow)]
    actor: ActorCode<'a>,
    operation: [u8; 16],
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferIds {
    partner: [u8; 16],
    application: [u8; 16],
    offer: [u8; 16],
}

/// The order of the variants and of their fields is the format.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChangeRecord<'a> {
    PartnerPut(#[serde(borrow)] PartnerRecord<'a>),
    KeyAdded(#[serde(borrow)] KeyRow<'a>),
    KeyRevoked {
        partner: [u8; 16],
        key: [u8; 16],
        at: Time,
    },
    KeyUsed {
        key: [u8; 32],
        at: Time,
    },
    ApplicationPut {
        application: [u8; 16],
        partner: [u8; 16],
    },
    OfferCreated {
        offer: OfferIds,
        at: Time,
        #[serde(borrow)]
        terms: TermsRecord<'a>,
    },
    TermsReplaced {
        offer: OfferIds,
        #[serde(borrow)]
        terms: TermsRecord<'a>,
        #[serde(borrow)]
        before: Option<TermsRecord<'a>>,
    },
    OfferMoved {
        offer: OfferIds,
        status: u8,
        at: Time,
    },
    BuyerCreated {
        partner: [u8; 16],
        buyer: [u8; 16],
        at: Time,
        fingerprint: Option<[u8; 32]>,
        #[serde(borrow)]
        description: DescriptionRecord<'a>,
    },
    KeyExpirySet {
        partner: [u8; 16],
        key: [u8; 16],
        at: Time,
    },
    /// A move with a reason.
    OfferMovedFor {
        offer: OfferIds,
        status: u8,
        at: Time,
        reason: &'a str,
    },
    BuyerRead {
        partner: [u8; 16],
        buyer: [u8; 16],
    },
    EndpointPut {
        #[serde(borrow)]
        endpoint: EndpointRecord<'a>,
        step: StepCode,
    },
    DeliveriesNoted(Vec<NotedRecord>),
}

impl<'a> From<&'a Record> for Entry<'a> {
    fn from(record: &'a Record) -> Self {
        Self { cause: record.cause.as_ref().map(CauseRecord::from), change: (&record.change).into() }
    }
}

impl Entry<'_> {
    /// The record that the entry is.
    pub(crate) fn record(self, sequence: u64) -> Result<Record, CodecError> {
        let cause = self.cause.map(Cause::try_from).transpose()?;
        Ok(Record { sequence: Some(sequence), cause, change: self.change.try_into()? })
    }
}

impl<'a> From<&'a Cause> for CauseRecord<'a> {
    fn from(Cause { event, at, actor, operation }: &'a Cause) -> Self {
        Self { event: event.to_bytes(), at: (*at).into(), actor: actor.into(), operation: operation.to_bytes() }
    }
}

impl TryFrom<CauseRecord<'_>> for Cause {
    type Error = CodecError;

    fn try_from(record: CauseRecord<'_>) -> Result<Self, CodecError> {
        let CauseRecord { event, at, actor, operation } = record;
        Ok(Self {
            event: EventId::from_bytes(event),
            at: at.try_into()?,
            actor: actor.try_into()?,
            operation: OperationId::from_bytes(operation),
        })
    }
}

impl From<OfferKey> for OfferIds {
    fn from(OfferKey { partner, application, offer }: OfferKey) -> Self {
        Self { partner: partner.to_bytes(), application: application.to_bytes(), offer: offer.to_bytes() }
    }
}

impl From<OfferIds> for OfferKey {
    fn from(OfferIds { partner, application, offer }: OfferIds) -> Self {
        Self {
            partner: PartnerId::from_bytes(partner),
            application: ApplicationId::from_bytes(application),
            offer: OfferId::from_bytes(offer),
        }
    }
}

impl ChangeRecord<'_> {
    /// The partner whose offer or buyer it changes, or reads.
    pub(crate) fn partner(&self) -> Option<PartnerId> {
        match self {
            Self::OfferCreated { offer, .. }
            | Self::TermsReplaced { offer, .. }
            | Self::OfferMoved { offer, .. }
            | Self::OfferMovedFor { offer, .. } => Some(offer.partner),
            Self::BuyerCreated { partner, .. } | Self::BuyerRead { partner, .. } => Some(*partner),
            _ => None,
        }
        .map(PartnerId::from_bytes)
    }
}

impl<'a> From<&'a Change> for ChangeRecord<'a> {
    fn from(change: &'a Change) -> Self {
        match change {
            Change::PartnerPut(partner) => Self::PartnerPut(partner.into()),
            Change::KeyAdded(key) => Self::KeyAdded(key.into()),
            Change::KeyRevoked { partner, key, at } => {
                Self::KeyRevoked { partner: partner.to_bytes(), key: key.to_bytes(), at: (*at).into() }
            }
            Change::KeyExpirySet { partner, key, at } => {
                Self::KeyExpirySet { partner: partner.to_bytes(), key: key.to_bytes(), at: (*at).into() }
            }
            Change::KeyUsed { key, at } => Self::KeyUsed { key: key.to_bytes(), at: (*at).into() },
            Change::ApplicationPut { application, partner } => {
                Self::ApplicationPut { application: application.to_bytes(), partner: partner.to_bytes() }
            }
            Change::OfferCreated { offer, terms, at } => {
                Self::OfferCreated { offer: (*offer).into(), at: (*at).into(), terms: terms.into() }
            }
            Change::TermsReplaced { offer, terms, before } => Self::TermsReplaced {
                offer: (*offer).into(),
                terms: terms.into(),
                before: before.as_deref().map(TermsRecord::from),
            },
            Change::OfferMoved { offer, status, at, reason } => {
                let (offer, status, at) = ((*offer).into(), status_code(*status), (*at).into());
                match reason {
                    None => Self::OfferMoved { offer, status, at },
                    Some(reason) => Self::OfferMovedFor { offer, status, at, reason: reason.as_str() },
                }
            }
            Change::BuyerRead { partner, buyer } => {
                Self::BuyerRead { partner: partner.to_bytes(), buyer: buyer.to_bytes() }
            }
            Change::BuyerCreated { partner, buyer, description, fingerprint, at } => Self::BuyerCreated {
                partner: partner.to_bytes(),
                buyer: buyer.to_bytes(),
                at: (*at).into(),
                fingerprint: fingerprint.map(Fingerprint::to_bytes),
                description: description.as_ref().into(),
            },
            Change::EndpointPut { endpoint, step } => {
                Self::EndpointPut { endpoint: endpoint.as_ref().into(), step: (*step).into() }
            }
            Change::DeliveriesNoted(all) => Self::DeliveriesNoted(all.iter().map(NotedRecord::from).collect()),
        }
    }
}

impl TryFrom<ChangeRecord<'_>> for Change {
    type Error = CodecError;

    fn try_from(record: ChangeRecord<'_>) -> Result<Self, CodecError> {
        Ok(match record {
            ChangeRecord::PartnerPut(partner) => Self::PartnerPut(partner.try_into()?),
            ChangeRecord::KeyAdded(key) => Self::KeyAdded(key.try_into()?),
            ChangeRecord::KeyRevoked { partner, key, at } => Self::KeyRevoked {
                partner: PartnerId::from_bytes(partner),
                key: KeyId::from_bytes(key),
                at: at.try_into()?,
            },
            ChangeRecord::KeyExpirySet { partner, key, at } => Self::KeyExpirySet {
                partner: PartnerId::from_bytes(partner),
                key: KeyId::from_bytes(key),
                at: at.try_into()?,
            },
            ChangeRecord::KeyUsed { key, at } => Self::KeyUsed { key: KeyHash::from_bytes(key), at: at.try_into()? },
            ChangeRecord::ApplicationPut { application, partner } => Self::ApplicationPut {
                application: ApplicationId::from_bytes(application),
                partner: PartnerId::from_bytes(partner),
            },
            ChangeRecord::OfferCreated { offer, at, terms } => {
                Self::OfferCreated { offer: offer.into(), terms: terms.try_into()?, at: at.try_into()? }
            }
            ChangeRecord::TermsReplaced { offer, terms, before } => Self::TermsReplaced {
                offer: offer.into(),
                terms: terms.try_into()?,
                before: before.map(|before| before.try_into().map(Box::new)).transpose()?,
            },
            ChangeRecord::OfferMoved { offer, status, at } => {
                Self::OfferMoved { offer: offer.into(), status: status_of(status)?, at: at.try_into()?, reason: None }
            }
            ChangeRecord::OfferMovedFor { offer, status, at, reason } => {
                let reason = Some(Reason::parse(reason).map_err(|_| CodecError::Damaged)?);
                Self::OfferMoved { offer: offer.into(), status: status_of(status)?, at: at.try_into()?, reason }
            }
            ChangeRecord::BuyerRead { partner, buyer } => {
                Self::BuyerRead { partner: PartnerId::from_bytes(partner), buyer: BuyerId::from_bytes(buyer) }
            }
            ChangeRecord::BuyerCreated { partner, buyer, at, fingerprint, description } => Self::BuyerCreated {
                partner: PartnerId::from_bytes(partner),
                buyer: BuyerId::from_bytes(buyer),
                description: Arc::new(description.into()),
                fingerprint: fingerprint.map(Fingerprint::from_bytes),
                at: at.try_into()?,
            },
            ChangeRecord::EndpointPut { endpoint, step } => {
                Self::EndpointPut { endpoint: Box::new(endpoint.try_into()?), step: step.into() }
            }
            ChangeRecord::DeliveriesNoted(all) => {
                Self::DeliveriesNoted(all.into_iter().map(Noted::try_from).collect::<Result<_, _>>()?)
            }
        })
    }
}
