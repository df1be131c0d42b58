//! Writing what a group has changed: the rows as they are now, and every change.
//!
//! A row that was absent is inserted, which fails if it is there by now; one that was there is updated only if it still has the
//! version that was loaded. Either failure is a race: the group is loaded and decided again.

use super::error::DbError;
use super::order::Order;
use super::rows::{kept, micros, nanos};
use super::session::Session;
use super::statements as sql;
use super::view::Rows;
use crate::codec;
use crate::records::ChangeRecord;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::change::{Cause, Change, OfferKey, Record};
use lendpay_domain::event::Subject;
use lendpay_domain::key::{Access, Area, KeyInUse, KeyRecord};
use lendpay_domain::offer::Terms;
use lendpay_domain::view::{Overlay, StoredOffer, View as _};
use lendpay_domain::{ApplicationId, OfferId, PartnerId, Timestamp};
use std::collections::BTreeSet;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

type Parameter<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// Arrays for a statement: one for each expression, with a value for each row.
macro_rules! columns {
    ($rows:expr, |$row:ident| $($value:expr),+ $(,)?) => {
        vec![$(Box::new($rows.iter().map(|$row| $value).collect::<Vec<_>>()) as Parameter<'_>),+]
    };
}

/// Runs a statement that must change `count` rows, unless that is none.
async fn run(
    session: &Session,
    statement: &'static str,
    count: usize,
    parameters: Vec<Parameter<'_>>,
) -> Result<(), DbError> {
    if count == 0 {
        return Ok(());
    }
    let parameters: Vec<_> = parameters.iter().map(|it| &**it as &(dyn ToSql + Sync)).collect();
    let changed = session.run(statement, &parameters).await?;
    if changed == count { Ok(()) } else { Err(DbError::Raced) }
}

/// The same with a first parameter of its own: the version of the rows from here on.
async fn run_at(
    session: &Session,
    statement: &'static str,
    version: Timestamp,
    count: usize,
    parameters: Vec<Parameter<'_>>,
) -> Result<(), DbError> {
    let mut all: Vec<Parameter<'_>> = vec![Box::new(version)];
    all.extend(parameters);
    run(session, statement, count, all).await
}

/// A change that is written, with its sequence if it has one already.
pub(super) struct Pending {
    pub(super) sequence: Option<i64>,
    pub(super) record: Record,
}

/// Writes everything that the changes of a group have led to.
pub(super) async fn write(
    session: &Session,
    order: &Order,
    view: &Overlay<Rows>,
    changes: &[Pending],
) -> Result<(), DbError> {
    let at = |change: &Pending| change.record.cause.map(|cause| cause.at).or_else(|| change.record.change.at());
    let ordered: Vec<_> = changes.iter().map(|change| order.next(at(change))).collect();
    let Some(&version) = ordered.last() else { return Ok(()) };
    // Sent one after the other without waiting in between.
    tokio::try_join!(
        biased;
        write_partners(session, view, version),
        write_clients(session, view, version),
        write_keys(session, view, version),
        write_applications(session, view, version),
        write_offers(session, view, version),
        write_buyers(session, view),
        write_changes(session, view, changes, &ordered),
    )?;
    Ok(())
}

async fn write_partners(session: &Session, view: &Overlay<Rows>, version: Timestamp) -> Result<(), DbError> {
    let mut partners: Vec<_> = view.tables.partners.values().collect();
    partners.sort_unstable_by_key(|partner| partner.id);
    let stored = |id| view.base.stored_partner(id);
    let (old, new): (Vec<_>, Vec<_>) = partners.into_iter().partition(|partner| stored(partner.id).is_some());
    macro_rules! values {
        ($rows:expr) => {
            columns!(
                $rows,
                |it| it.id.uuid(),
                kept(it.name.as_str()),
                it.oauth_client_id.as_deref().map(kept),
                micros(it.created_at),
                nanos(it.created_at)
            )
        };
    }
    let mut changed = values!(old);
    changed.extend(columns!(old, |it| stored(it.id).map(|row| row.version)));
    tokio::try_join!(
        biased;
        run_at(session, sql::INSERT_PARTNERS, version, new.len(), values!(new)),
        run_at(session, sql::UPDATE_PARTNERS, version, old.len(), changed),
    )?;
    Ok(())
}

/// Which partner is which client: unique over all partners.
async fn write_clients(session: &Session, view: &Overlay<Rows>, version: Timestamp) -> Result<(), DbError> {
    let (mut released, mut taken) = (Vec::new(), Vec::new());
    for partner in view.tables.partners.values() {
        let before = view.base.stored_partner(partner.id).and_then(|row| row.value.oauth_client_id.as_deref());
        let now = partner.oauth_client_id.as_deref();
        if before != now {
            released.extend(before.map(|client| (client, partner.id)));
            taken.extend(now.map(|client| (client, partner.id)));
        }
    }
    released.sort_unstable();
    taken.sort_unstable();
    let values = columns!(released, |it| kept(it.0), it.1.uuid());
    run_at(session, sql::RELEASE_CLIENTS, version, released.len(), values).await?;
    if !taken.is_empty() {
        let values = columns!(taken, |it| kept(it.0), it.1.uuid());
        let rows = session.rows(sql::TAKE_CLIENTS, &[&version, &*values[0], &*values[1]]).await?;
        if rows.len() != taken.len() {
            return Err(DbError::Raced);
        }
    }
    Ok(())
}

async fn write_keys(session: &Session, view: &Overlay<Rows>, version: Timestamp) -> Result<(), DbError> {
    let mut names: BTreeSet<_> = view.tables.keys.keys().copied().collect();
    for hash in view.tables.uses.keys() {
        names.extend(view.key_with_hash(*hash).map_err(|_| DbError::Damaged)?);
    }
    let mut keys = Vec::new();
    for (partner, key) in names {
        let key = view.key(partner, key).map_err(|_| DbError::Damaged)?.expect("a key that has changed is there");
        let last_used_at = view.key_used(key.hash).map_err(|_| DbError::Damaged)?;
        keys.push(KeyInUse { key, last_used_at });
    }
    let stored = |partner, key| view.base.stored_key((partner, key));
    let (old, new): (Vec<_>, Vec<_>) = keys.into_iter().partition(|it| stored(it.key.partner, it.key.id).is_some());
    macro_rules! values {
        ($rows:expr) => {
            columns!(
                $rows,
                |it| it.key.partner.uuid(),
                it.key.id.uuid(),
                it.key.hash.to_bytes().to_vec(),
                kept(it.key.name.as_str()),
                rights(&it.key),
                micros(it.key.created_at),
                nanos(it.key.created_at),
                it.key.expires_at.map(micros),
                it.key.expires_at.map_or(0, nanos),
                it.key.revoked_at.map(micros),
                it.key.revoked_at.map_or(0, nanos),
                it.last_used_at.map(micros),
                it.last_used_at.map_or(0, nanos)
            )
        };
    }
    let mut changed = values!(old);
    changed.extend(columns!(old, |it| stored(it.key.partner, it.key.id).map(|row| row.version)));
    tokio::try_join!(
        biased;
        run_at(session, sql::INSERT_KEYS, version, new.len(), values!(new)),
        run_at(session, sql::UPDATE_KEYS, version, old.len(), changed),
    )?;
    Ok(())
}

/// The areas of a key, and `read` if it may only read.
fn rights(key: &KeyRecord) -> String {
    let areas = key.areas.iter().map(Area::name);
    areas.chain((key.access == Access::Read).then_some(Access::Read.name())).collect::<Vec<_>>().join(",")
}

async fn write_applications(session: &Session, view: &Overlay<Rows>, version: Timestamp) -> Result<(), DbError> {
    let mut applications: Vec<_> = view.tables.applications.iter().collect();
    applications.sort_unstable();
    let values = columns!(applications, |it| it.0.uuid(), it.1.uuid());
    run_at(session, sql::INSERT_APPLICATIONS, version, applications.len(), values).await
}

type OfferEntry<'a> = ((ApplicationId, OfferId), &'a StoredOffer<Terms>);

fn offer_keys<'a>(offers: &[OfferEntry<'_>]) -> Vec<Parameter<'a>> {
    columns!(offers, |it| it.1.partner.uuid(), it.0.0.uuid(), it.0.1.uuid())
}

fn offer_terms<'a>(offers: &[OfferEntry<'a>]) -> Vec<Parameter<'a>> {
    let terms: Vec<&'a Terms> = offers.iter().map(|(_, it)| &it.terms).collect();
    columns!(
        terms,
        |it| kept(it.details.as_str()),
        it.funding_type.name(),
        it.offer_type.name(),
        it.annual_percentage_rate.decimal(),
        it.interest_rate.map(|rate| rate.decimal()),
        it.expiry_at.map(micros),
        it.expiry_at.map_or(0, nanos),
        it.redirect_url.as_ref().map(|url| kept(url.as_str())),
        it.amount.map(|amount| amount.decimal()),
        it.duration.map(|duration| duration.name()),
    )
}

fn offer_status<'a>(offers: &[OfferEntry<'_>]) -> Vec<Parameter<'a>> {
    columns!(
        offers,
        |it| it.1.standing.status.name(),
        micros(it.1.standing.status_changed_at),
        nanos(it.1.standing.status_changed_at),
    )
}

fn join<'a>(parts: [Vec<Parameter<'a>>; 3]) -> Vec<Parameter<'a>> {
    parts.into_iter().flatten().collect()
}

async fn write_offers(session: &Session, view: &Overlay<Rows>, version: Timestamp) -> Result<(), DbError> {
    let mut offers: Vec<OfferEntry<'_>> = view.tables.offers.iter().map(|(key, offer)| (*key, offer)).collect();
    offers.sort_unstable_by_key(|(key, offer)| (offer.partner, *key));
    let stored = |key| view.base.stored_offer(key);
    let (old, new): (Vec<_>, Vec<_>) = offers.into_iter().partition(|(key, _)| stored(*key).is_some());
    let new_terms = |(key, offer): &&OfferEntry<'_>| stored(*key).is_some_and(|row| row.value.terms != offer.terms);
    let terms: Vec<_> = old.iter().filter(new_terms).copied().collect();
    let values = join([offer_keys(&new), offer_terms(&new), offer_status(&new)]);
    run_at(session, sql::INSERT_OFFERS, version, new.len(), values).await?;
    let values =
        join([offer_keys(&terms), offer_terms(&terms), columns!(terms, |it| stored(it.0).map(|row| row.version))]);
    run(session, sql::UPDATE_TERMS, terms.len(), values).await?;
    let values = join([offer_keys(&old), offer_status(&old), columns!(old, |it| stored(it.0).map(|row| row.version))]);
    run_at(session, sql::UPDATE_STATUS, version, old.len(), values).await
}

async fn write_buyers(session: &Session, view: &Overlay<Rows>) -> Result<(), DbError> {
    let mut buyers: Vec<_> = view.tables.buyers.iter().collect();
    buyers.sort_unstable_by_key(|(id, buyer)| (buyer.partner, **id));
    fn text(text: &Option<String>) -> Option<std::borrow::Cow<'_, str>> {
        text.as_deref().map(kept)
    }
    fn account<'a>(
        of: &'a Description,
        field: fn(&BankAccount) -> &Option<String>,
    ) -> Option<std::borrow::Cow<'a, str>> {
        of.bank_account.as_ref().and_then(|account| text(field(account)))
    }
    let values = columns!(
        buyers,
        |it| it.1.partner.uuid(),
        it.0.uuid(),
        text(&it.1.description.name),
        text(&it.1.description.registration_number),
        text(&it.1.description.country_code),
        it.1.description.kind,
        it.1.description.bank_account.is_some(),
        account(&it.1.description, |account| &account.currency_code),
        account(&it.1.description, |account| &account.account_name),
        account(&it.1.description, |account| &account.sort_code),
        account(&it.1.description, |account| &account.account_number),
        account(&it.1.description, |account| &account.bic),
        account(&it.1.description, |account| &account.account_type),
        account(&it.1.description, |account| &account.iban),
        it.1.fingerprint.map(|print| print.to_bytes().to_vec()),
        micros(it.1.created_at),
        nanos(it.1.created_at),
    );
    run(session, sql::INSERT_BUYERS, buyers.len(), values).await
}

/// What a change's row holds beside its cause and subject.
struct ChangeRow {
    sequence: Option<i64>,
    ordered: Timestamp,
    cause: Option<Cause>,
    reached: Option<Subject>,
    partner: PartnerId,
    kind: &'static str,
    offer: Option<OfferKey>,
    /// What no typed column holds, here or in the buyer's row.
    body: Option<Vec<u8>>,
}

fn change_row(pending: &Pending, ordered: Timestamp, view: &Overlay<Rows>) -> Result<ChangeRow, DbError> {
    let Pending { sequence, record: Record { cause, change, .. } } = pending;
    let (partner, kind, offer) = match change {
        Change::PartnerPut(partner) => (partner.id, "partnerPut", None),
        Change::KeyAdded(key) => (key.partner, "keyAdded", None),
        Change::KeyRevoked { partner, .. } => (*partner, "keyRevoked", None),
        Change::KeyUsed { key, .. } => {
            let found = view.key_with_hash(*key).map_err(|_| DbError::Damaged)?;
            (found.expect("a key that is used is there").0, "keyUsed", None)
        }
        Change::ApplicationPut { partner, .. } => (*partner, "applicationPut", None),
        Change::OfferCreated { offer, .. } => (offer.partner, "offerCreated", Some(*offer)),
        Change::TermsReplaced { offer, .. } => (offer.partner, "termsReplaced", Some(*offer)),
        Change::OfferMoved { offer, .. } => (offer.partner, "offerMoved", Some(*offer)),
        Change::BuyerCreated { partner, .. } => (*partner, "buyerCreated", None),
    };
    let mut body = None;
    if !matches!(change, Change::OfferMoved { .. } | Change::BuyerCreated { .. }) {
        let mut bytes = Vec::new();
        codec::seal(&ChangeRecord::from(change), &mut bytes).map_err(|error| DbError::Refused(error.to_string()))?;
        body = Some(bytes);
    }
    let reached = change.subject().map(|(_, subject)| subject);
    Ok(ChangeRow { sequence: *sequence, ordered, cause: *cause, reached, partner, kind, offer, body })
}

async fn write_changes(
    session: &Session,
    view: &Overlay<Rows>,
    changes: &[Pending],
    ordered: &[Timestamp],
) -> Result<(), DbError> {
    let rows = changes.iter().zip(ordered).map(|(pending, ordered)| change_row(pending, *ordered, view));
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    let values = columns!(
        rows,
        |it| it.partner.uuid(),
        it.cause.map_or_else(|| change_id(it), |cause| cause.event.uuid()),
        it.sequence,
        it.ordered,
        it.kind,
        it.cause.map(|cause| micros(cause.at)),
        it.cause.map_or(0, |cause| nanos(cause.at)),
        it.cause.map(|cause| cause.actor.to_string()),
        it.cause.map(|cause| Uuid::from_bytes(cause.operation.to_bytes())),
        it.offer.map(|offer| offer.application.uuid()),
        it.offer.map(|offer| offer.offer.uuid()),
        match it.reached {
            Some(Subject::Offer { status, .. }) => Some(status.name()),
            Some(Subject::Buyer(_)) | None => None,
        },
        match it.reached {
            Some(Subject::Buyer(buyer)) => Some(buyer.uuid()),
            Some(Subject::Offer { .. }) | None => None,
        },
        it.body.as_deref(),
    );
    run(session, sql::INSERT_CHANGES, rows.len(), values).await
}

/// The id of a change without a cause, which has no event's: the end of its body. Its time tells it from others.
fn change_id(row: &ChangeRow) -> Uuid {
    let tail = row.body.as_deref().and_then(<[u8]>::last_chunk).map_or(0, |tail| u64::from_be_bytes(*tail));
    Uuid::from_u64_pair(0, tail)
}
