//! What the lines hold, and their conversion to and from the domain. No `Debug`: they hold bank details.

use super::Counts;
use super::values::{DescriptionLine, TermsLine, bytes};
use super::webhooks::{EndpointLine, NotedLine};
use crate::hex;
use crate::wire::offer::Status;
use crate::wire::party::{Access, Area};
use crate::wire::time::Time;
use lendpay_domain::change::{Cause, Change, OfferKey, Record};
use lendpay_domain::event::Actor;
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::partner::Partner;
use lendpay_domain::text::Reason;
use lendpay_domain::webhook::Step;
use lendpay_domain::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// A line. What format 1 has too is a struct of its own.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Line {
    Export(Header),
    Partner(PartnerLine),
    Key(KeyLine),
    KeyRevoked {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        key_id: Uuid,
        at: Time,
    },
    KeyExpiry {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        key_id: Uuid,
        at: Time,
    },
    KeyUsed {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        hash: String,
        at: Time,
    },
    Application(ApplicationLine),
    Offer {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        application_id: Uuid,
        offer_id: Uuid,
        terms: TermsLine,
        at: Time,
    },
    Terms {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        application_id: Uuid,
        offer_id: Uuid,
        terms: TermsLine,
        /// Absent in files that were written before they were kept.
        #[serde(default)]
        before: Option<TermsLine>,
    },
    Move {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        application_id: Uuid,
        offer_id: Uuid,
        status: Status,
        at: Time,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Buyer {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        buyer_id: Uuid,
        description: DescriptionLine,
        fingerprint: Option<String>,
        at: Time,
    },
    BuyerRead {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        partner_id: Uuid,
        buyer_id: Uuid,
    },
    Webhook {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        step: String,
        endpoint: EndpointLine,
    },
    Deliveries {
        sequence: Option<u64>,
        cause: Option<CauseLine>,
        endpoints: Vec<NotedLine>,
    },
    End(End),
    Error {
        reason: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub format: u32,
    pub created_at: Time,
    pub program: String,
    pub history: Option<Uuid>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct End {
    pub records: Counts,
    pub sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CauseLine {
    pub id: Uuid,
    pub occurred_at: Time,
    pub actor: String,
    pub operation_id: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartnerLine {
    sequence: Option<u64>,
    cause: Option<CauseLine>,
    id: Uuid,
    name: String,
    oauth_client_id: Option<String>,
    created_at: Time,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeyLine {
    sequence: Option<u64>,
    cause: Option<CauseLine>,
    id: Uuid,
    partner_id: Uuid,
    hash: String,
    name: String,
    areas: Vec<Area>,
    /// Absent in files that were written before keys could be narrowed.
    #[serde(default)]
    access: Access,
    created_at: Time,
    expires_at: Option<Time>,
    revoked_at: Option<Time>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplicationLine {
    sequence: Option<u64>,
    cause: Option<CauseLine>,
    pub id: Uuid,
    pub partner_id: Uuid,
}

/// The line is JSON of the right shape, but not a record.
pub(super) struct NotARecord;

impl Line {
    /// The kinds of records: the names of the members.
    pub(super) const KINDS: [&str; 13] = [
        "partner",
        "key",
        "keyRevoked",
        "keyExpiry",
        "keyUsed",
        "application",
        "offer",
        "terms",
        "move",
        "buyer",
        "buyerRead",
        "webhook",
        "deliveries",
    ];

    /// Counts the line, which is a record's.
    pub(super) fn count(&self, counts: &mut Counts) {
        let kind = match self {
            Self::Export(_) | Self::End(_) | Self::Error { .. } => return,
            Self::Partner(_) => "partner",
            Self::Key(_) => "key",
            Self::KeyRevoked { .. } => "keyRevoked",
            Self::KeyExpiry { .. } => "keyExpiry",
            Self::KeyUsed { .. } => "keyUsed",
            Self::Application(_) => "application",
            Self::Offer { .. } => "offer",
            Self::Terms { .. } => "terms",
            Self::Move { .. } => "move",
            Self::Buyer { .. } => "buyer",
            Self::BuyerRead { .. } => "buyerRead",
            Self::Webhook { .. } => "webhook",
            Self::Deliveries { .. } => "deliveries",
        };
        *counts.get_mut(kind).expect("every kind is in KINDS") += 1;
    }
}

impl From<&Record> for Line {
    fn from(record: &Record) -> Self {
        let (sequence, cause) = (record.sequence, record.cause.map(CauseLine::from));
        match &record.change {
            Change::PartnerPut(partner) => {
                let Partner { id, name, oauth_client_id, created_at } = partner.clone();
                let (id, name, created_at) = (id.uuid(), name.as_str().to_owned(), Time(created_at));
                Self::Partner(PartnerLine { sequence, cause, id, name, oauth_client_id, created_at })
            }
            Change::KeyAdded(key) => {
                let KeyRecord { id, partner, hash, name, areas, access, created_at, expires_at, revoked_at } = key;
                Self::Key(KeyLine {
                    sequence,
                    cause,
                    id: id.uuid(),
                    partner_id: partner.uuid(),
                    hash: hex::write(&hash.to_bytes()),
                    name: name.as_str().to_owned(),
                    areas: areas.iter().map(Area).collect(),
                    access: Access(*access),
                    created_at: Time(*created_at),
                    expires_at: expires_at.map(Time),
                    revoked_at: revoked_at.map(Time),
                })
            }
            Change::KeyRevoked { partner, key, at } => {
                Self::KeyRevoked { sequence, cause, partner_id: partner.uuid(), key_id: key.uuid(), at: Time(*at) }
            }
            Change::KeyExpirySet { partner, key, at } => {
                Self::KeyExpiry { sequence, cause, partner_id: partner.uuid(), key_id: key.uuid(), at: Time(*at) }
            }
            Change::KeyUsed { key, at } => {
                Self::KeyUsed { sequence, cause, hash: hex::write(&key.to_bytes()), at: Time(*at) }
            }
            Change::ApplicationPut { application, partner } => {
                let (id, partner_id) = (application.uuid(), partner.uuid());
                Self::Application(ApplicationLine { sequence, cause, id, partner_id })
            }
            Change::OfferCreated { offer, terms, at } => {
                let (partner_id, application_id, offer_id) = uuids(offer);
                let (terms, at) = (terms.into(), Time(*at));
                Self::Offer { sequence, cause, partner_id, application_id, offer_id, terms, at }
            }
            Change::TermsReplaced { offer, terms, before } => {
                let (partner_id, application_id, offer_id) = uuids(offer);
                let (terms, before) = (terms.into(), before.as_deref().map(TermsLine::from));
                Self::Terms { sequence, cause, partner_id, application_id, offer_id, terms, before }
            }
            Change::OfferMoved { offer, status, at, reason } => {
                let (partner_id, application_id, offer_id) = uuids(offer);
                let (status, at) = (Status(*status), Time(*at));
                let reason = reason.as_ref().map(|reason| reason.as_str().to_owned());
                Self::Move { sequence, cause, partner_id, application_id, offer_id, status, at, reason }
            }
            Change::BuyerRead { partner, buyer } => {
                Self::BuyerRead { sequence, cause, partner_id: partner.uuid(), buyer_id: buyer.uuid() }
            }
            Change::BuyerCreated { partner, buyer, description, fingerprint, at } => Self::Buyer {
                sequence,
                cause,
                partner_id: partner.uuid(),
                buyer_id: buyer.uuid(),
                description: description.as_ref().into(),
                fingerprint: fingerprint.map(|print| hex::write(&print.to_bytes())),
                at: Time(*at),
            },
            Change::EndpointPut { endpoint, step } => {
                let (step, endpoint) = (step.event_type().to_owned(), endpoint.as_ref().into());
                Self::Webhook { sequence, cause, step, endpoint }
            }
            Change::DeliveriesNoted(all) => {
                Self::Deliveries { sequence, cause, endpoints: all.iter().map(NotedLine::from).collect() }
            }
        }
    }
}

impl Line {
    /// The record, if the line is one.
    pub(super) fn record(self) -> Result<Record, NotARecord> {
        let (sequence, cause, change) = match self {
            Self::Export(_) | Self::End(_) | Self::Error { .. } => return Err(NotARecord),
            Self::Partner(PartnerLine { sequence, cause, id, name, oauth_client_id, created_at }) => {
                let (id, name, created_at) = (PartnerId::new(id), super::values::name(&name)?, created_at.0);
                (sequence, cause, Change::PartnerPut(Partner { id, name, oauth_client_id, created_at }))
            }
            Self::Key(line) => {
                let KeyLine { sequence, cause, id, partner_id, hash, name, areas, access, .. } = line;
                let key = KeyRecord {
                    id: KeyId::new(id),
                    partner: PartnerId::new(partner_id),
                    hash: KeyHash::from_bytes(bytes(&hash)?),
                    name: super::values::name(&name)?,
                    areas: areas.into_iter().map(|area| area.0).collect(),
                    access: access.0,
                    created_at: line.created_at.0,
                    expires_at: line.expires_at.map(|time| time.0),
                    revoked_at: line.revoked_at.map(|time| time.0),
                };
                (sequence, cause, Change::KeyAdded(key))
            }
            Self::KeyRevoked { sequence, cause, partner_id, key_id, at } => {
                let (partner, key) = (PartnerId::new(partner_id), KeyId::new(key_id));
                (sequence, cause, Change::KeyRevoked { partner, key, at: at.0 })
            }
            Self::KeyExpiry { sequence, cause, partner_id, key_id, at } => {
                let (partner, key) = (PartnerId::new(partner_id), KeyId::new(key_id));
                (sequence, cause, Change::KeyExpirySet { partner, key, at: at.0 })
            }
            Self::KeyUsed { sequence, cause, hash, at } => {
                (sequence, cause, Change::KeyUsed { key: KeyHash::from_bytes(bytes(&hash)?), at: at.0 })
            }
            Self::Application(ApplicationLine { sequence, cause, id, partner_id }) => {
                let (application, partner) = (ApplicationId::new(id), PartnerId::new(partner_id));
                (sequence, cause, Change::ApplicationPut { application, partner })
            }
            Self::Offer { sequence, cause, partner_id, application_id, offer_id, terms, at } => {
                let offer = offer_key(partner_id, application_id, offer_id);
                (sequence, cause, Change::OfferCreated { offer, terms: terms.terms()?, at: at.0 })
            }
            Self::Terms { sequence, cause, partner_id, application_id, offer_id, terms, before } => {
                let offer = offer_key(partner_id, application_id, offer_id);
                let before = before.map(TermsLine::terms).transpose()?.map(Box::new);
                (sequence, cause, Change::TermsReplaced { offer, terms: terms.terms()?, before })
            }
            Self::Move { sequence, cause, partner_id, application_id, offer_id, status, at, reason } => {
                let offer = offer_key(partner_id, application_id, offer_id);
                let reason = reason.map(|text| Reason::parse(&text)).transpose().map_err(|_| NotARecord)?;
                (sequence, cause, Change::OfferMoved { offer, status: status.0, at: at.0, reason })
            }
            Self::BuyerRead { sequence, cause, partner_id, buyer_id } => {
                let (partner, buyer) = (PartnerId::new(partner_id), BuyerId::new(buyer_id));
                (sequence, cause, Change::BuyerRead { partner, buyer })
            }
            Self::Buyer { sequence, cause, partner_id, buyer_id, description, fingerprint, at } => {
                let (partner, buyer) = (PartnerId::new(partner_id), BuyerId::new(buyer_id));
                let fingerprint = fingerprint.map(|print| bytes(&print)).transpose()?.map(Fingerprint::from_bytes);
                let description = Arc::new(description.into());
                (sequence, cause, Change::BuyerCreated { partner, buyer, description, fingerprint, at: at.0 })
            }
            Self::Webhook { sequence, cause, step, endpoint } => {
                let step = Step::named(&step).ok_or(NotARecord)?;
                (sequence, cause, Change::EndpointPut { endpoint: endpoint.endpoint()?.into(), step })
            }
            Self::Deliveries { sequence, cause, endpoints } => {
                let all = endpoints.into_iter().map(NotedLine::noted).collect::<Result<_, _>>()?;
                (sequence, cause, Change::DeliveriesNoted(all))
            }
        };
        Ok(Record { sequence, cause: cause.map(CauseLine::cause).transpose()?, change })
    }
}

fn uuids(offer: &OfferKey) -> (Uuid, Uuid, Uuid) {
    (offer.partner.uuid(), offer.application.uuid(), offer.offer.uuid())
}

const fn offer_key(partner: Uuid, application: Uuid, offer: Uuid) -> OfferKey {
    OfferKey {
        partner: PartnerId::new(partner),
        application: ApplicationId::new(application),
        offer: OfferId::new(offer),
    }
}

impl From<Cause> for CauseLine {
    fn from(Cause { event, at, actor, operation }: Cause) -> Self {
        Self { id: event.uuid(), occurred_at: Time(at), actor: actor.to_string(), operation_id: operation.to_string() }
    }
}

impl CauseLine {
    fn cause(self) -> Result<Cause, NotARecord> {
        Ok(Cause {
            event: EventId::new(self.id),
            at: self.occurred_at.0,
            actor: Actor::parse(&self.actor).ok_or(NotARecord)?,
            operation: OperationId::parse(&self.operation_id).ok_or(NotARecord)?,
        })
    }
}
