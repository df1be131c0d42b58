//! Rows and what they stand for.

use lendpay_domain::buyer::{BankAccount, Buyer, Description};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::{Area, KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::{Details, Duration, FundingType, Offer, OfferType, RedirectUrl, Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use rust_decimal::Decimal;
use std::borrow::Cow;
use tokio_postgres::Row;
use uuid::Uuid;

/// A row that is not what was written.
#[derive(Debug)]
pub(super) struct Damaged;

type Read<T> = Result<T, Damaged>;

fn get<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: usize) -> Read<T> {
    row.try_get(column).map_err(|_| Damaged)
}

/// What PostgreSQL cannot keep in a text is written in another way: it has no NUL.
const ESCAPE: char = '\u{1a}';

/// A text as it is kept.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', ESCAPE]) {
        text.replace(ESCAPE, "\u{1a}1").replace('\0', "\u{1a}0").into()
    } else {
        text.into()
    }
}

/// The same read back.
fn text(row: &Row, column: usize) -> Read<Option<String>> {
    let text: Option<String> = get(row, column)?;
    Ok(text.map(|text| match text.contains(ESCAPE) {
        true => text.replace("\u{1a}0", "\0").replace("\u{1a}1", "\u{1a}"),
        false => text,
    }))
}

/// A time to the microsecond, and what it has of nanoseconds.
pub(super) fn split(at: Timestamp) -> (Timestamp, i16) {
    let rest = at.timestamp_subsec_nanos() % 1_000;
    (at - chrono::TimeDelta::nanoseconds(rest.into()), i16::try_from(rest).unwrap_or_default())
}

/// The same for a time that may be absent.
pub(super) fn split_some(at: Option<Timestamp>) -> (Option<Timestamp>, i16) {
    at.map(split).map_or((None, 0), |(at, rest)| (Some(at), rest))
}

fn time(row: &Row, column: usize) -> Read<Option<Timestamp>> {
    let (at, rest): (Option<Timestamp>, Option<i16>) = (get(row, column)?, get(row, column + 1)?);
    Ok(at.map(|at| at + chrono::TimeDelta::nanoseconds(rest.unwrap_or_default().into())))
}

fn named<T: Copy>(row: &Row, column: usize, all: &[T], name: fn(T) -> &'static str) -> Read<Option<T>> {
    let text: Option<&str> = get(row, column)?;
    let find = |text| all.iter().copied().find(|value| name(*value) == text).ok_or(Damaged);
    text.map(find).transpose()
}

/// An offer, and the time that orders its last event.
pub(super) fn offer(row: &Row, first: usize) -> Read<(Offer, Timestamp)> {
    let rate = |column| -> Read<Option<Rate>> {
        get::<Option<Decimal>>(row, column)?.map(Rate::new).transpose().map_err(|_| Damaged)
    };
    let terms = Terms {
        details: Details::parse(&text(row, first + 3)?.ok_or(Damaged)?).map_err(|_| Damaged)?,
        funding_type: named(row, first + 4, FundingType::ALL, FundingType::name)?.ok_or(Damaged)?,
        offer_type: named(row, first + 5, OfferType::ALL, OfferType::name)?.ok_or(Damaged)?,
        annual_percentage_rate: rate(first + 6)?.ok_or(Damaged)?,
        interest_rate: rate(first + 7)?,
        expiry_at: time(row, first + 8)?,
        redirect_url: text(row, first + 10)?.map(RedirectUrl::restored),
        amount: get::<Option<Decimal>>(row, first + 11)?.map(Amount::new).transpose().map_err(|_| Damaged)?,
        duration: named(row, first + 12, Duration::ALL, Duration::name)?,
    };
    let offer = Offer {
        partner: PartnerId::new(get(row, first)?),
        application: ApplicationId::new(get(row, first + 1)?),
        id: OfferId::new(get(row, first + 2)?),
        terms,
        status: named(row, first + 13, Status::ALL, Status::name)?.ok_or(Damaged)?,
        status_changed_at: time(row, first + 14)?.ok_or(Damaged)?,
    };
    Ok((offer, get(row, first + 16)?))
}

/// A buyer, and its payload's digest if its creation can be repeated.
pub(super) fn buyer(row: &Row, first: usize) -> Read<(Buyer, Option<Fingerprint>)> {
    let field = |n| text(row, first + n);
    let account = BankAccount {
        currency_code: field(7)?,
        account_name: field(8)?,
        sort_code: field(9)?,
        account_number: field(10)?,
        bic: field(11)?,
        account_type: field(12)?,
        iban: field(13)?,
    };
    let description = Description {
        name: field(2)?,
        registration_number: field(3)?,
        country_code: field(4)?,
        kind: get(row, first + 5)?,
        bank_account: get::<bool>(row, first + 6)?.then_some(account),
    };
    let fingerprint = get::<Option<&[u8]>>(row, first + 14)?.map(|bytes| bytes.try_into().map(Fingerprint::from_bytes));
    let buyer = Buyer {
        partner: PartnerId::new(get(row, first)?),
        id: BuyerId::new(get(row, first + 1)?),
        description,
        created_at: time(row, first + 15)?.ok_or(Damaged)?,
    };
    Ok((buyer, fingerprint.transpose().map_err(|_| Damaged)?))
}

/// An event; it must have its number.
pub(super) fn event(row: &Row) -> Read<Event> {
    let id = |column| get::<Option<Uuid>>(row, column);
    let subject = match (id(5)?, id(6)?, id(8)?) {
        (Some(application), Some(offer), None) => Subject::Offer {
            application: ApplicationId::new(application),
            offer: OfferId::new(offer),
            status: named(row, 7, Status::ALL, Status::name)?.ok_or(Damaged)?,
        },
        (None, None, Some(buyer)) => Subject::Buyer(BuyerId::new(buyer)),
        _ => return Err(Damaged),
    };
    Ok(Event {
        sequence: get::<Option<i64>>(row, 2)?.and_then(|number| u64::try_from(number).ok()).ok_or(Damaged)?,
        id: EventId::new(get(row, 1)?),
        occurred_at: time(row, 3)?.ok_or(Damaged)?,
        partner: PartnerId::new(get(row, 0)?),
        subject,
        actor: Actor::parse(get(row, 9)?).ok_or(Damaged)?,
        operation: OperationId::from_bytes(get::<Uuid>(row, 10)?.into_bytes()),
    })
}

/// How many columns an event has.
pub(super) const EVENT: usize = 11;

/// How many columns an offer has.
pub(super) const OFFER: usize = 17;

/// A row that is a partner's id and no more.
pub(super) fn partner_id(row: &Row) -> Read<PartnerId> {
    get(row, 0).map(PartnerId::new)
}

pub(super) fn partner(id: PartnerId, row: &Row, first: usize) -> Read<Partner> {
    Ok(Partner {
        id,
        name: name(row, first)?,
        oauth_client_id: text(row, first + 1)?,
        created_at: time(row, first + 2)?.ok_or(Damaged)?,
    })
}

fn name(row: &Row, column: usize) -> Read<Name> {
    Name::parse(&text(row, column)?.ok_or(Damaged)?).map_err(|_| Damaged)
}

pub(super) fn key(row: &Row) -> Read<KeyInUse> {
    let areas: Vec<&str> = get(row, 4)?;
    let area = |name: &&str| Area::ALL.into_iter().find(|area| area.name() == *name).ok_or(Damaged);
    let key = KeyRecord {
        partner: PartnerId::new(get(row, 0)?),
        id: KeyId::new(get(row, 1)?),
        hash: KeyHash::from_bytes(get::<&[u8]>(row, 2)?.try_into().map_err(|_| Damaged)?),
        name: name(row, 3)?,
        areas: areas.iter().map(area).collect::<Read<_>>()?,
        created_at: time(row, 5)?.ok_or(Damaged)?,
        expires_at: time(row, 7)?,
        revoked_at: time(row, 9)?,
    };
    Ok(KeyInUse { key, last_used_at: get(row, 11)? })
}
