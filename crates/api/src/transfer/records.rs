//! What the lines hold, and their conversion to and from the domain. No `Debug`: they hold bank details.

use super::hex;
use crate::wire::offer::{Duration, FundingType, OfferType, Status};
use crate::wire::party::Area;
use crate::wire::time::Time;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::offer::{Details, RedirectUrl, Status as OfferStatus, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::record::Record;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Line {
    Export(Header),
    Partner {
        sequence: Option<u64>,
        id: Uuid,
        name: String,
        oauth_client_id: Option<String>,
        created_at: Time,
    },
    Key {
        sequence: Option<u64>,
        id: Uuid,
        partner_id: Uuid,
        hash: String,
        name: String,
        areas: Vec<Area>,
        created_at: Time,
        expires_at: Option<Time>,
        revoked_at: Option<Time>,
    },
    Application {
        sequence: Option<u64>,
        id: Uuid,
        partner_id: Uuid,
    },
    Offer {
        event: EventLine,
        application_id: Uuid,
        offer_id: Uuid,
        terms: TermsLine,
    },
    Terms {
        sequence: Option<u64>,
        application_id: Uuid,
        offer_id: Uuid,
        terms: TermsLine,
    },
    Move {
        event: EventLine,
        application_id: Uuid,
        offer_id: Uuid,
        status: Status,
    },
    Buyer {
        event: EventLine,
        buyer_id: Uuid,
        description: DescriptionLine,
        fingerprint: Option<String>,
    },
    KeyUse {
        hash: String,
        at: Time,
    },
    End(End),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub format: u32,
    pub created_at: Time,
    pub program: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct End {
    pub records: BTreeMap<String, u64>,
    pub sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventLine {
    sequence: u64,
    id: Uuid,
    occurred_at: Time,
    partner_id: Uuid,
    actor: String,
    operation_id: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TermsLine {
    details: String,
    funding_type: FundingType,
    offer_type: OfferType,
    annual_percentage_rate: String,
    interest_rate: Option<String>,
    expiry_at: Option<Time>,
    redirect_url: Option<String>,
    amount: Option<String>,
    duration: Option<Duration>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DescriptionLine {
    name: Option<String>,
    registration_number: Option<String>,
    country_code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<i32>,
    bank_account: Option<AccountLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AccountLine {
    currency_code: Option<String>,
    account_name: Option<String>,
    sort_code: Option<String>,
    account_number: Option<String>,
    bic: Option<String>,
    account_type: Option<String>,
    iban: Option<String>,
}

/// The line is JSON of the right shape, but not a record.
pub(super) struct NotARecord;

impl Line {
    /// The name of its member.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Export(_) => "export",
            Self::Partner { .. } => "partner",
            Self::Key { .. } => "key",
            Self::Application { .. } => "application",
            Self::Offer { .. } => "offer",
            Self::Terms { .. } => "terms",
            Self::Move { .. } => "move",
            Self::Buyer { .. } => "buyer",
            Self::KeyUse { .. } => "keyUse",
            Self::End(_) => "end",
        }
    }
}

impl From<&Record> for Line {
    fn from(record: &Record) -> Self {
        match record {
            Record::Partner { sequence, partner } => {
                let Partner { id, name, oauth_client_id, created_at } = partner;
                Self::Partner {
                    sequence: *sequence,
                    id: id.uuid(),
                    name: name.as_str().to_owned(),
                    oauth_client_id: oauth_client_id.clone(),
                    created_at: Time(*created_at),
                }
            }
            Record::Key { sequence, key } => {
                let KeyRecord { id, partner, hash, name, areas, created_at, expires_at, revoked_at } = key;
                Self::Key {
                    sequence: *sequence,
                    id: id.uuid(),
                    partner_id: partner.uuid(),
                    hash: hex(&hash.to_bytes()),
                    name: name.as_str().to_owned(),
                    areas: areas.iter().map(Area).collect(),
                    created_at: Time(*created_at),
                    expires_at: expires_at.map(Time),
                    revoked_at: revoked_at.map(Time),
                }
            }
            Record::Application { sequence, id, partner } => {
                Self::Application { sequence: *sequence, id: id.uuid(), partner_id: partner.uuid() }
            }
            Record::OfferCreated { event, terms } => {
                let (application_id, offer_id, _) = offer_ids(&event.subject);
                Self::Offer { event: event.into(), application_id, offer_id, terms: terms.into() }
            }
            Record::OfferTerms { sequence, application, offer, terms } => Self::Terms {
                sequence: *sequence,
                application_id: application.uuid(),
                offer_id: offer.uuid(),
                terms: terms.into(),
            },
            Record::OfferMoved { event } => {
                let (application_id, offer_id, status) = offer_ids(&event.subject);
                Self::Move { event: event.into(), application_id, offer_id, status: Status(status) }
            }
            Record::BuyerCreated { event, description, fingerprint } => Self::Buyer {
                event: event.into(),
                buyer_id: buyer_id(&event.subject),
                description: description.into(),
                fingerprint: fingerprint.map(|print| hex(&print.to_bytes())),
            },
            Record::KeyUsed { key, at } => Self::KeyUse { hash: hex(&key.to_bytes()), at: Time(*at) },
        }
    }
}

impl Line {
    /// The record, if the line is one.
    pub(super) fn record(self) -> Result<Record, NotARecord> {
        Ok(match self {
            Self::Export(_) | Self::End(_) => return Err(NotARecord),
            Self::Partner { sequence, id, name, oauth_client_id, created_at } => {
                let (id, name) = (PartnerId::new(id), self::name(&name)?);
                Record::Partner { sequence, partner: Partner { id, name, oauth_client_id, created_at: created_at.0 } }
            }
            Self::Key { sequence, id, partner_id, hash, name, areas, created_at, expires_at, revoked_at } => {
                let key = KeyRecord {
                    id: KeyId::new(id),
                    partner: PartnerId::new(partner_id),
                    hash: KeyHash::from_bytes(bytes(&hash)?),
                    name: self::name(&name)?,
                    areas: areas.into_iter().map(|area| area.0).collect(),
                    created_at: created_at.0,
                    expires_at: expires_at.map(|time| time.0),
                    revoked_at: revoked_at.map(|time| time.0),
                };
                Record::Key { sequence, key }
            }
            Self::Application { sequence, id, partner_id } => {
                Record::Application { sequence, id: ApplicationId::new(id), partner: PartnerId::new(partner_id) }
            }
            Self::Offer { event, application_id, offer_id, terms } => {
                let subject = offer_subject(application_id, offer_id, OfferStatus::Offered);
                Record::OfferCreated { event: event.event(subject)?, terms: terms.terms()? }
            }
            Self::Terms { sequence, application_id, offer_id, terms } => Record::OfferTerms {
                sequence,
                application: ApplicationId::new(application_id),
                offer: OfferId::new(offer_id),
                terms: terms.terms()?,
            },
            Self::Move { event, application_id, offer_id, status } => {
                Record::OfferMoved { event: event.event(offer_subject(application_id, offer_id, status.0))? }
            }
            Self::Buyer { event, buyer_id, description, fingerprint } => Record::BuyerCreated {
                event: event.event(Subject::Buyer(BuyerId::new(buyer_id)))?,
                description: description.into(),
                fingerprint: fingerprint.map(|print| bytes(&print)).transpose()?.map(Fingerprint::from_bytes),
            },
            Self::KeyUse { hash, at } => Record::KeyUsed { key: KeyHash::from_bytes(bytes(&hash)?), at: at.0 },
        })
    }
}

fn offer_subject(application: Uuid, offer: Uuid, status: OfferStatus) -> Subject {
    Subject::Offer { application: ApplicationId::new(application), offer: OfferId::new(offer), status }
}

fn offer_ids(subject: &Subject) -> (Uuid, Uuid, OfferStatus) {
    match subject {
        Subject::Offer { application, offer, status } => (application.uuid(), offer.uuid(), *status),
        // No store makes such a record; what it would read as is refused by every import.
        Subject::Buyer(id) => (Uuid::nil(), id.uuid(), OfferStatus::Offered),
    }
}

fn buyer_id(subject: &Subject) -> Uuid {
    match subject {
        Subject::Buyer(id) => id.uuid(),
        Subject::Offer { offer, .. } => offer.uuid(),
    }
}

fn name(text: &str) -> Result<Name, NotARecord> {
    Name::parse(text).map_err(|_| NotARecord)
}

fn bytes(hex: &str) -> Result<[u8; 32], NotARecord> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(NotARecord);
    }
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).map_err(|_| NotARecord)?;
    }
    Ok(bytes)
}

impl From<&Event> for EventLine {
    fn from(event: &Event) -> Self {
        Self {
            sequence: event.sequence,
            id: event.id.uuid(),
            occurred_at: Time(event.occurred_at),
            partner_id: event.partner.uuid(),
            actor: event.actor.to_string(),
            operation_id: event.operation.to_string(),
        }
    }
}

impl EventLine {
    fn event(self, subject: Subject) -> Result<Event, NotARecord> {
        Ok(Event {
            sequence: self.sequence,
            id: EventId::new(self.id),
            occurred_at: self.occurred_at.0,
            partner: PartnerId::new(self.partner_id),
            subject,
            actor: Actor::parse(&self.actor).ok_or(NotARecord)?,
            operation: OperationId::parse(&self.operation_id).ok_or(NotARecord)?,
        })
    }
}

impl From<&Terms> for TermsLine {
    fn from(terms: &Terms) -> Self {
        Self {
            details: terms.details.as_str().to_owned(),
            funding_type: FundingType(terms.funding_type),
            offer_type: OfferType(terms.offer_type),
            annual_percentage_rate: terms.annual_percentage_rate.decimal().to_string(),
            interest_rate: terms.interest_rate.map(|rate| rate.decimal().to_string()),
            expiry_at: terms.expiry_at.map(Time),
            redirect_url: terms.redirect_url.as_ref().map(|url| url.as_str().to_owned()),
            amount: terms.amount.map(|amount| amount.decimal().to_string()),
            duration: terms.duration.map(Duration),
        }
    }
}

impl TermsLine {
    fn terms(self) -> Result<Terms, NotARecord> {
        let rate = |text: String| Rate::from_digits(&text).map_err(|_| NotARecord);
        Ok(Terms {
            details: Details::parse(&self.details).map_err(|_| NotARecord)?,
            funding_type: self.funding_type.0,
            offer_type: self.offer_type.0,
            annual_percentage_rate: rate(self.annual_percentage_rate)?,
            interest_rate: self.interest_rate.map(rate).transpose()?,
            expiry_at: self.expiry_at.map(|time| time.0),
            redirect_url: self.redirect_url.map(|url| RedirectUrl::parse(&url)).transpose().map_err(|_| NotARecord)?,
            amount: self.amount.map(|text| Amount::from_digits(&text)).transpose().map_err(|_| NotARecord)?,
            duration: self.duration.map(|duration| duration.0),
        })
    }
}

impl From<&Description> for DescriptionLine {
    fn from(description: &Description) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Description { name, registration_number, country_code, kind, bank_account } = description.clone();
        Self { name, registration_number, country_code, kind, bank_account: bank_account.map(AccountLine::from) }
    }
}

impl From<DescriptionLine> for Description {
    fn from(line: DescriptionLine) -> Self {
        let DescriptionLine { name, registration_number, country_code, kind, bank_account } = line;
        Self { name, registration_number, country_code, kind, bank_account: bank_account.map(BankAccount::from) }
    }
}

impl From<BankAccount> for AccountLine {
    fn from(account: BankAccount) -> Self {
        let BankAccount { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = account;
        Self { currency_code, account_name, sort_code, account_number, bic, account_type, iban }
    }
}

impl From<AccountLine> for BankAccount {
    fn from(line: AccountLine) -> Self {
        let AccountLine { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = line;
        Self { currency_code, account_name, sort_code, account_number, bic, account_type, iban }
    }
}
