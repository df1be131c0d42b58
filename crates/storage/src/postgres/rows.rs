//! Rows and what they stand for.

use crate::codec;
use crate::records::ChangeRecord;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::change::{Cause, Change, OfferKey, Record};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Event, EventPage, Subject};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::{Access, Area, Areas, KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::{Details, Duration, FundingType, Offer, OfferType, RedirectUrl, Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::Application;
use lendpay_domain::text::Name;
use lendpay_domain::view::StoredBuyer;
use lendpay_domain::{ApplicationId, BuyerId, EventId, HistoryId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use rust_decimal::Decimal;
use std::borrow::Cow;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

/// A row that is not what was written.
#[derive(Debug)]
pub(super) struct Damaged;

pub(super) type Read<T> = Result<T, Damaged>;

impl From<Damaged> for super::error::DbError {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

/// What a row stands for, and the time of its last change.
#[derive(Clone)]
pub(super) struct Versioned<T> {
    pub(super) value: T,
    pub(super) version: Timestamp,
}

/// PostgreSQL cannot keep a NUL in a text; it is written as this and a digit.
const ESCAPE: char = '\u{1a}';

/// A text as it is kept.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', ESCAPE]) {
        text.replace(ESCAPE, "\u{1a}1").replace('\0', "\u{1a}0").into()
    } else {
        text.into()
    }
}

/// A time to the microsecond.
pub(super) fn micros(at: Timestamp) -> Timestamp {
    at - chrono::TimeDelta::nanoseconds(nanos(at).into())
}

/// What a time has of nanoseconds.
pub(super) fn nanos(at: Timestamp) -> i16 {
    i16::try_from(at.timestamp_subsec_nanos() % 1_000).expect("less than 1,000")
}

/// A row that is read column by column.
pub(super) struct Reader<'a> {
    row: &'a Row,
    column: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(row: &'a Row) -> Self {
        Self { row, column: 0 }
    }

    pub(super) fn get<T: FromSql<'a>>(&mut self) -> Read<T> {
        self.column += 1;
        self.row.try_get(self.column - 1).map_err(|_| Damaged)
    }

    fn text(&mut self) -> Read<Option<String>> {
        let text: Option<String> = self.get()?;
        Ok(text.map(|text| match text.contains(ESCAPE) {
            true => text.replace("\u{1a}0", "\0").replace("\u{1a}1", "\u{1a}"),
            false => text,
        }))
    }

    fn name(&mut self) -> Read<Name> {
        Name::parse(&self.text()?.ok_or(Damaged)?).map_err(|_| Damaged)
    }

    fn time(&mut self) -> Read<Option<Timestamp>> {
        let (at, rest): (Option<Timestamp>, Option<i16>) = (self.get()?, self.get()?);
        Ok(at.map(|at| at + chrono::TimeDelta::nanoseconds(rest.unwrap_or_default().into())))
    }

    fn named<T: Copy>(&mut self, all: &[T], name: fn(T) -> &'static str) -> Read<Option<T>> {
        let text: Option<&str> = self.get()?;
        text.map(|text| all.iter().copied().find(|value| name(*value) == text).ok_or(Damaged)).transpose()
    }

    fn number<T, E>(&mut self, new: fn(Decimal) -> Result<T, E>) -> Read<Option<T>> {
        self.get::<Option<Decimal>>()?.map(new).transpose().map_err(|_| Damaged)
    }

    fn bytes<const N: usize>(&mut self) -> Read<Option<[u8; N]>> {
        self.get::<Option<&[u8]>>()?.map(|bytes| bytes.try_into().map_err(|_| Damaged)).transpose()
    }

    fn partner_id(&mut self) -> Read<PartnerId> {
        self.get().map(PartnerId::new)
    }

    fn versioned<T>(&mut self, value: T) -> Read<Versioned<T>> {
        Ok(Versioned { value, version: self.get()? })
    }
}

/// A row that is a partner's id and no more.
pub(super) fn partner_id(row: &Row) -> Read<PartnerId> {
    Reader::new(row).partner_id()
}

pub(super) fn application(row: &Row) -> Read<Application> {
    let mut row = Reader::new(row);
    Ok(Application { id: ApplicationId::new(row.get()?), partner: row.partner_id()? })
}

/// The partner that a client is.
pub(super) fn client(row: &Row) -> Read<Versioned<PartnerId>> {
    let mut row = Reader::new(row);
    let partner = row.partner_id()?;
    row.versioned(partner)
}

pub(super) fn partner(row: &Row) -> Read<Versioned<Partner>> {
    let mut row = Reader::new(row);
    let partner = Partner {
        id: row.partner_id()?,
        name: row.name()?,
        oauth_client_id: row.text()?,
        created_at: row.time()?.ok_or(Damaged)?,
    };
    row.versioned(partner)
}

/// Reads what `write` has made of areas and access.
fn rights(text: &str) -> Read<(Areas, Access)> {
    let (areas, access) = match text.strip_suffix(Access::Read.name()) {
        Some(areas) => (areas, Access::Read),
        None => (text, Access::Full),
    };
    let area = |name: &str| Area::ALL.into_iter().find(|area| area.name() == name).ok_or(Damaged);
    Ok((areas.split_terminator(',').map(area).collect::<Read<_>>()?, access))
}

pub(super) fn key(row: &Row) -> Read<Versioned<KeyInUse>> {
    let mut row = Reader::new(row);
    let (partner, id) = (row.partner_id()?, KeyId::new(row.get()?));
    let (hash, name) = (KeyHash::from_bytes(row.bytes()?.ok_or(Damaged)?), row.name()?);
    let (areas, access) = rights(row.get()?)?;
    let key = KeyRecord {
        partner,
        id,
        hash,
        name,
        areas,
        access,
        created_at: row.time()?.ok_or(Damaged)?,
        expires_at: row.time()?,
        revoked_at: row.time()?,
    };
    let last_used_at = row.time()?;
    row.versioned(KeyInUse { key, last_used_at })
}

pub(super) fn offer(row: &Row) -> Read<Versioned<Offer>> {
    let mut row = Reader::new(row);
    let (partner, application, id) = (row.partner_id()?, ApplicationId::new(row.get()?), OfferId::new(row.get()?));
    let terms = Terms {
        details: Details::parse(&row.text()?.ok_or(Damaged)?).map_err(|_| Damaged)?,
        funding_type: row.named(FundingType::ALL, FundingType::name)?.ok_or(Damaged)?,
        offer_type: row.named(OfferType::ALL, OfferType::name)?.ok_or(Damaged)?,
        annual_percentage_rate: row.number(Rate::new)?.ok_or(Damaged)?,
        interest_rate: row.number(Rate::new)?,
        expiry_at: row.time()?,
        redirect_url: row.text()?.map(RedirectUrl::restored),
        amount: row.number(Amount::new)?,
        duration: row.named(Duration::ALL, Duration::name)?,
    };
    let status = row.named(Status::ALL, Status::name)?.ok_or(Damaged)?;
    let status_changed_at = row.time()?.ok_or(Damaged)?;
    row.versioned(Offer { id, application, partner, terms, status, status_changed_at })
}

pub(super) fn buyer(row: &Row) -> Read<(BuyerId, StoredBuyer<Description>)> {
    buyer_of(&mut Reader::new(row))
}

fn buyer_of(row: &mut Reader<'_>) -> Read<(BuyerId, StoredBuyer<Description>)> {
    let (partner, id) = (row.partner_id()?, BuyerId::new(row.get()?));
    let (name, registration_number, country_code, kind) = (row.text()?, row.text()?, row.text()?, row.get()?);
    let has_account: bool = row.get()?;
    let account = BankAccount {
        currency_code: row.text()?,
        account_name: row.text()?,
        sort_code: row.text()?,
        account_number: row.text()?,
        bic: row.text()?,
        account_type: row.text()?,
        iban: row.text()?,
    };
    let bank_account = has_account.then_some(account);
    let description = Description { name, registration_number, country_code, kind, bank_account };
    let fingerprint = row.bytes()?.map(Fingerprint::from_bytes);
    let created_at = row.time()?.ok_or(Damaged)?;
    Ok((id, StoredBuyer { partner, fingerprint, created_at, description }))
}

/// What the typed columns say of a change.
struct ChangeRow {
    sequence: i64,
    partner: PartnerId,
    cause: Option<Cause>,
    subject: Option<Subject>,
}

fn change_row(row: &mut Reader<'_>) -> Read<ChangeRow> {
    let (sequence, partner) = (row.get()?, row.partner_id()?);
    let (event, at) = (EventId::new(row.get()?), row.time()?);
    let (actor, operation): (Option<&str>, Option<Uuid>) = (row.get()?, row.get()?);
    let cause = match (at, actor, operation) {
        (Some(at), Some(actor), Some(operation)) => {
            let operation = OperationId::from_bytes(operation.into_bytes());
            Some(Cause { event, at, actor: Actor::parse(actor).ok_or(Damaged)?, operation })
        }
        (None, None, None) => None,
        _ => return Err(Damaged),
    };
    let (application, offer): (Option<Uuid>, Option<Uuid>) = (row.get()?, row.get()?);
    let (status, buyer) = (row.named(Status::ALL, Status::name)?, row.get::<Option<Uuid>>()?);
    let subject = match (application, offer, status, buyer) {
        (Some(application), Some(offer), Some(status), None) => {
            let (application, offer) = (ApplicationId::new(application), OfferId::new(offer));
            Some(Subject::Offer { application, offer, status })
        }
        (None, None, None, Some(buyer)) => Some(Subject::Buyer(BuyerId::new(buyer))),
        (_, _, None, None) => None,
        _ => return Err(Damaged),
    };
    Ok(ChangeRow { sequence, partner, cause, subject })
}

/// Events, each after the history and the last sequence. Where there are no events, these are alone in one row.
pub(super) fn event_page(rows: &[Row]) -> Read<EventPage> {
    let mut first = Reader::new(rows.first().ok_or(Damaged)?);
    let (history, last): (Uuid, i64) = (first.get()?, first.get()?);
    let some = first.get::<Option<i64>>()?.is_some();
    let events = rows.iter().filter(|_| some).map(|row| event(Reader { row, column: 2 })).collect::<Read<_>>()?;
    let last = u64::try_from(last).map_err(|_| Damaged)?;
    Ok(EventPage { history: HistoryId::new(history), last, events, next: None })
}

/// The event that a change is.
fn event(mut row: Reader<'_>) -> Read<Event> {
    let ChangeRow { sequence, partner, cause, subject } = change_row(&mut row)?;
    let Cause { event: id, at: occurred_at, actor, operation } = cause.ok_or(Damaged)?;
    let (sequence, subject) = (u64::try_from(sequence).map_err(|_| Damaged)?, subject.ok_or(Damaged)?);
    Ok(Event { sequence, id, occurred_at, partner, subject, actor, operation })
}

/// A change with its sequence in the table, which is negative if it has none of its own.
pub(super) fn record(row: &Row) -> Read<(i64, Record)> {
    let mut row = Reader::new(row);
    let ChangeRow { sequence, partner, cause, subject } = change_row(&mut row)?;
    let body: Option<&[u8]> = row.get()?;
    let change = match (body, subject, cause) {
        (Some(body), ..) => {
            let record: ChangeRecord<'_> = codec::unseal(body).map_err(|_| Damaged)?;
            record.try_into().map_err(|_| Damaged)?
        }
        (None, Some(Subject::Offer { application, offer, status }), Some(Cause { at, .. })) => {
            Change::OfferMoved { offer: OfferKey { partner, application, offer }, status, at }
        }
        (None, Some(Subject::Buyer(_)), Some(_)) => {
            let (buyer, StoredBuyer { partner, fingerprint, created_at: at, description }) = buyer_of(&mut row)?;
            Change::BuyerCreated { partner, buyer, description: description.into(), fingerprint, at }
        }
        _ => return Err(Damaged),
    };
    Ok((sequence, Record { sequence: u64::try_from(sequence).ok(), cause, change }))
}
