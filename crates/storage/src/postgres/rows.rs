//! Rows and what they stand for.

use super::error::DbError;
use crate::codec::{self, CodecError};
use crate::records::{
    CallRecord, ChangeRecord, EndpointRecord, KeyRow, PartnerRecord, ProgressRecord, TermsRecord, Time,
};
use lendpay_domain::buyer::Description;
use lendpay_domain::calls::Call;
use lendpay_domain::change::{Cause, Change, OfferKey, Record};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::key::KeyInUse;
use lendpay_domain::offer::{Offer, Status};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{Application, DueCursor, OfferCursor};
use lendpay_domain::view::StoredBuyer;
use lendpay_domain::webhook::{Endpoint, Step, Webhook};
use lendpay_domain::{
    ApplicationId, BuyerId, EndpointId, EventId, HistoryId, KeyId, OfferId, OperationId, PartnerId, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

/// A row that is not what was written.
#[derive(Debug)]
pub(super) struct Damaged;

pub(super) type Read<T> = Result<T, Damaged>;

impl From<Damaged> for DbError {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

impl From<CodecError> for Damaged {
    fn from(_: CodecError) -> Self {
        Self
    }
}

/// What a row stands for, and the time of its last change.
pub(super) struct Versioned<T> {
    pub(super) value: T,
    pub(super) version: Timestamp,
}

/// PostgreSQL cannot keep a NUL in a text; it is written as this and a digit.
const ESCAPE: char = '\u{1a}';

/// A text as a column has it. Such columns are compared with texts that are written alike, and not read.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', ESCAPE]) {
        text.replace(ESCAPE, "\u{1a}1").replace('\0', "\u{1a}0").into()
    } else {
        text.into()
    }
}

/// The body of a key's row.
#[derive(Serialize, Deserialize)]
pub(super) struct KeyBody<'a> {
    #[serde(borrow)]
    pub(super) key: KeyRow<'a>,
    pub(super) last_used_at: Option<Time>,
}

/// A record as the `body` of a row.
pub(super) fn sealed<T: Serialize>(record: &T) -> Result<Vec<u8>, DbError> {
    let mut body = Vec::new();
    codec::seal(record, &mut body).map_err(|error| DbError::Refused(error.to_string()))?;
    Ok(body)
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
struct Reader<'a> {
    row: &'a Row,
    column: usize,
}

impl<'a> Reader<'a> {
    const fn new(row: &'a Row) -> Self {
        Self { row, column: 0 }
    }

    fn get<T: FromSql<'a>>(&mut self) -> Read<T> {
        self.column += 1;
        self.row.try_get(self.column - 1).map_err(|_| Damaged)
    }

    fn body<T: Deserialize<'a>>(&mut self) -> Read<T> {
        Ok(codec::unseal(self.get()?)?)
    }

    fn time(&mut self) -> Read<Option<Timestamp>> {
        let (at, rest): (Option<Timestamp>, Option<i16>) = (self.get()?, self.get()?);
        Ok(at.map(|at| at + chrono::TimeDelta::nanoseconds(rest.unwrap_or_default().into())))
    }

    fn status(&mut self) -> Read<Option<Status>> {
        let text: Option<&str> = self.get()?;
        text.map(|text| Status::ALL.iter().copied().find(|status| status.name() == text).ok_or(Damaged)).transpose()
    }

    fn versioned<T>(&mut self, value: T) -> Read<Versioned<T>> {
        Ok(Versioned { value, version: self.get()? })
    }
}

/// The partner that a client is.
pub(super) fn client(row: &Row) -> Read<Versioned<PartnerId>> {
    let mut row = Reader::new(row);
    let partner = PartnerId::new(row.get()?);
    row.versioned(partner)
}

pub(super) fn application(row: &Row) -> Read<Application> {
    let mut row = Reader::new(row);
    Ok(Application { id: ApplicationId::new(row.get()?), partner: PartnerId::new(row.get()?) })
}

pub(super) fn partner(row: &Row) -> Read<Versioned<Partner>> {
    let mut row = Reader::new(row);
    let partner = row.body::<PartnerRecord<'_>>()?.try_into()?;
    row.versioned(partner)
}

pub(super) fn key(row: &Row) -> Read<Versioned<KeyInUse>> {
    let mut row = Reader::new(row);
    let KeyBody { key, last_used_at } = row.body()?;
    let last_used_at = last_used_at.map(Timestamp::try_from).transpose()?;
    row.versioned(KeyInUse { key: key.try_into()?, last_used_at })
}

pub(super) fn offer(row: &Row) -> Read<Versioned<Offer>> {
    let mut row = Reader::new(row);
    let offer = Offer {
        partner: PartnerId::new(row.get()?),
        application: ApplicationId::new(row.get()?),
        id: OfferId::new(row.get()?),
        terms: row.body::<TermsRecord<'_>>()?.try_into()?,
        status: row.status()?.ok_or(Damaged)?,
        status_changed_at: row.time()?.ok_or(Damaged)?,
    };
    row.versioned(offer)
}

pub(super) fn buyer(row: &Row) -> Read<(BuyerId, StoredBuyer<Description>)> {
    match Reader::new(row).body::<ChangeRecord<'_>>()?.try_into()? {
        Change::BuyerCreated { partner, buyer, description, fingerprint, at: created_at } => {
            let description = Arc::unwrap_or_clone(description);
            Ok((buyer, StoredBuyer { partner, fingerprint, created_at, description }))
        }
        _ => Err(Damaged),
    }
}

pub(super) fn webhook(row: &Row) -> Read<Versioned<Webhook>> {
    let mut row = Reader::new(row);
    let endpoint = row.body::<EndpointRecord<'_>>()?.try_into()?;
    let progress = row.get::<Option<&[u8]>>()?.map(|body| codec::unseal::<ProgressRecord>(body)?.try_into());
    let progress = progress.transpose()?;
    row.versioned(Webhook { endpoint, progress })
}

pub(super) fn endpoint(row: &Row) -> Read<Endpoint> {
    Ok(Reader::new(row).body::<EndpointRecord<'_>>()?.try_into()?)
}

pub(super) fn call(row: &Row) -> Read<Call> {
    Ok(Reader::new(row).body::<CallRecord<'_>>()?.try_into()?)
}

/// What the typed columns say of a change.
struct ChangeRow {
    sequence: i64,
    cause: Option<Cause>,
    event: Option<(Option<PartnerId>, Subject)>,
}

fn change_row(row: &mut Reader<'_>) -> Read<ChangeRow> {
    let (sequence, event, at) = (row.get()?, EventId::new(row.get()?), row.time()?);
    let (actor, operation): (Option<&str>, Option<Uuid>) = (row.get()?, row.get()?);
    let cause = match (at, actor, operation) {
        (Some(at), Some(actor), Some(operation)) => {
            let operation = OperationId::from_bytes(operation.into_bytes());
            Some(Cause { event, at, actor: Actor::parse(actor).ok_or(Damaged)?, operation })
        }
        (None, None, None) => None,
        _ => return Err(Damaged),
    };
    let partner = row.get::<Option<Uuid>>()?.map(PartnerId::new);
    let (application, offer): (Option<Uuid>, Option<Uuid>) = (row.get()?, row.get()?);
    let (application, offer) = (application.map(ApplicationId::new), offer.map(OfferId::new));
    let (status, buyer) = (row.status()?, row.get::<Option<Uuid>>()?.map(BuyerId::new));
    let (event_type, key): (Option<&str>, Option<Uuid>) = (row.get()?, row.get()?);
    let endpoint = row.get::<Option<Uuid>>()?.map(EndpointId::new);
    if let (Some(endpoint), Some(event_type), None, None, None, None) =
        (endpoint, event_type, application, buyer, status, key)
    {
        let event = Some((partner, Subject::Webhook(endpoint, Step::named(event_type).ok_or(Damaged)?)));
        return Ok(ChangeRow { sequence, cause, event });
    }
    let subject = match (event_type, application, offer, status, buyer, key.map(KeyId::new)) {
        (None, Some(application), Some(offer), Some(status), None, None) => {
            Some(Subject::Offer { application, offer, status })
        }
        (None, Some(application), Some(offer), None, None, None) => Some(Subject::Terms { application, offer }),
        (None, None, None, None, Some(buyer), None) => Some(Subject::Buyer(buyer)),
        (Some("partner.created"), None, None, None, None, None) => Some(Subject::PartnerCreated),
        (Some("partner.updated"), None, None, None, None, None) => Some(Subject::PartnerUpdated),
        (Some("key.created"), None, None, None, None, Some(key)) => Some(Subject::KeyCreated(key)),
        (Some("key.expiry_set"), None, None, None, None, Some(key)) => Some(Subject::KeyExpirySet(key)),
        (Some("key.revoked"), None, None, None, None, Some(key)) => Some(Subject::KeyRevoked(key)),
        (Some("application.created"), Some(application), None, None, None, None) => {
            Some(Subject::ApplicationCreated(application))
        }
        (Some("buyer.read_in_full"), None, None, None, Some(buyer), None) => Some(Subject::BuyerRead(buyer)),
        (None, None, None, None, None, None) => None,
        _ => return Err(Damaged),
    };
    if endpoint.is_some() || partner.is_some() != subject.is_some() {
        return Err(Damaged);
    }
    Ok(ChangeRow { sequence, cause, event: subject.map(|subject| (partner, subject)) })
}

/// A row of offers that are due: an offer and its expiry, to the microsecond.
pub(super) struct Due {
    pub(super) cursor: DueCursor,
    /// Where the row is stored.
    pub(super) place: String,
}

pub(super) fn due(row: &Row) -> Read<Due> {
    let mut row = Reader::new(row);
    let (expiry_at, application, offer, place) = (row.get()?, row.get()?, row.get()?, row.get()?);
    let offer = OfferCursor { application: ApplicationId::new(application), offer: OfferId::new(offer) };
    Ok(Due { cursor: DueCursor { expiry_at, offer }, place })
}

/// Whether changes wait for a sequence, and the last one that was given.
pub(super) fn waiting(row: &Row) -> Read<(bool, i64)> {
    let mut row = Reader::new(row);
    Ok((row.get()?, row.get()?))
}

/// What a page of events was made of, each row after the history and the last sequence: sequences, and events if the
/// changes are any. Where nothing comes after, history and last sequence are alone in one row.
pub(super) struct EventRows {
    pub(super) history: HistoryId,
    pub(super) last: u64,
    pub(super) rows: Vec<(u64, Option<Event>)>,
    /// The number of the last row: see [`number`].
    pub(super) number: Option<i64>,
}

pub(super) fn events(rows: &[Row]) -> Read<EventRows> {
    let mut first = Reader::new(rows.first().ok_or(Damaged)?);
    let (history, last): (Uuid, i64) = (first.get()?, first.get()?);
    let some = first.get::<Option<i64>>()?.is_some();
    let last_number = rows.last().filter(|_| some).map(number).transpose()?;
    let rows = rows.iter().filter(|_| some).map(|row| event(Reader { row, column: 2 })).collect::<Read<_>>()?;
    let last = u64::try_from(last).map_err(|_| Damaged)?;
    Ok(EventRows { history: HistoryId::new(history), last, rows, number: last_number })
}

/// The sequence of a change, and the event that it is, if it is one.
fn event(mut row: Reader<'_>) -> Read<(u64, Option<Event>)> {
    let ChangeRow { sequence, cause, event } = change_row(&mut row)?;
    let sequence = u64::try_from(sequence).map_err(|_| Damaged)?;
    let Some((partner, subject)) = event else { return Ok((sequence, None)) };
    let Cause { event: id, at: occurred_at, actor, operation } = cause.ok_or(Damaged)?;
    // Of replaced terms, and of a move with a reason.
    let change = row.get::<Option<&[u8]>>()?.map(codec::unseal::<ChangeRecord<'_>>).transpose()?;
    let change = change.map(Change::try_from).transpose()?;
    if matches!(subject, Subject::Terms { .. }) && change.is_none() {
        return Err(Damaged);
    }
    let (replaced, reason) = change.map_or((None, None), |change| (change.replaced(), change.reason()));
    Ok((sequence, Some(Event { sequence, id, occurred_at, partner, subject, actor, operation, replaced, reason })))
}

/// The number that a list has given a row: its last column.
pub(super) fn number(row: &Row) -> Read<i64> {
    Reader { row, column: row.len().saturating_sub(1) }.get()
}

/// A change with its sequence in the table, which is negative if it has none of its own.
pub(super) fn record(row: &Row) -> Read<(i64, Record)> {
    let mut row = Reader::new(row);
    let ChangeRow { sequence, cause, event } = change_row(&mut row)?;
    let change = match (row.get::<Option<&[u8]>>()?, event, cause) {
        (Some(body), ..) => codec::unseal::<ChangeRecord<'_>>(body)?.try_into()?,
        (None, Some((Some(partner), Subject::Offer { application, offer, status })), Some(Cause { at, .. })) => {
            Change::OfferMoved { offer: OfferKey { partner, application, offer }, status, at, reason: None }
        }
        _ => return Err(Damaged),
    };
    Ok((sequence, Record { sequence: u64::try_from(sequence).ok(), cause, change }))
}
