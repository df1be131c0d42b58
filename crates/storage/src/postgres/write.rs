//! Writing what a group has changed: the rows as they are now, and every change.
//!
//! A row that was absent is inserted, which fails if it is there by now; one that was there is updated only if it still
//! has the version that was loaded. Either failure is a race: the group is loaded and decided again.

use super::error::DbError;
use super::order::Order;
use super::rows::{KeyBody, kept, micros, nanos, sealed};
use super::session::{Parameter, Session, columns};
use super::statements as sql;
use super::view::{Stored, Versions};
use crate::records::{ChangeRecord, EndpointRecord, KeyRow, PartnerRecord, ProgressRecord, TermsRecord, Time};
use lendpay_domain::change::{Change, Record};
use lendpay_domain::event::Subject;
use lendpay_domain::life_cycle::Standing;
use lendpay_domain::offer::Status;
use lendpay_domain::view::{Overlay, View as _};
use lendpay_domain::webhook::Webhook;
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};
use std::collections::BTreeSet;
use uuid::Uuid;

/// A change that is written, with its sequence if it has one already.
pub(super) struct Pending {
    pub(super) sequence: Option<i64>,
    pub(super) record: Record,
}

/// Writes everything that the changes of a group have led to. `versions` are those of the rows below the changes.
pub(super) async fn write(
    session: &Session,
    order: &Order,
    view: &Overlay<Stored>,
    versions: &Versions,
    changes: &[Pending],
) -> Result<(), DbError> {
    let at = |change: &Pending| change.record.cause.map(|cause| cause.at).or_else(|| change.record.change.at());
    let ordered: Vec<_> = changes.iter().map(|change| order.next(at(change))).collect();
    let Some(&version) = ordered.last() else { return Ok(()) };
    let writer = Writer { session, view, versions, version };
    // Sent one after the other without waiting in between.
    tokio::try_join!(
        biased;
        writer.partners(),
        writer.clients(),
        writer.keys(),
        writer.applications(),
        writer.offers(),
        writer.webhooks(),
        writer.changes(changes, &ordered),
    )?;
    Ok(())
}

struct Writer<'a> {
    session: &'a Session,
    view: &'a Overlay<Stored>,
    versions: &'a Versions,
    /// The version of the rows from here on.
    version: Timestamp,
}

impl Writer<'_> {
    /// Inserts rows that were absent, and updates those that had a version.
    async fn put<T: Ord>(
        &self,
        [insert, update]: [&'static str; 2],
        mut rows: Vec<(T, Option<Timestamp>)>,
        values: impl for<'a> Fn(&'a [T]) -> Vec<Parameter<'a>>,
    ) -> Result<(), DbError> {
        rows.sort_unstable();
        let (old, new): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.1.is_some());
        let (old, versions): (Vec<_>, Vec<_>) = old.into_iter().unzip();
        let (new, _): (Vec<_>, Vec<_>) = new.into_iter().unzip();
        let mut changed = values(&old);
        changed.push(Box::new(versions));
        tokio::try_join!(
            biased;
            self.session.change_at(insert, self.version, new.len(), values(&new)),
            self.session.change_at(update, self.version, old.len(), changed),
        )?;
        Ok(())
    }

    async fn partners(&self) -> Result<(), DbError> {
        let mut rows = Vec::new();
        for (id, partner) in &self.view.tables.partners {
            let row = (id.uuid(), sealed(&PartnerRecord::from(partner))?);
            rows.push((row, self.versions.partners.get(id).copied()));
        }
        let statements = [sql::INSERT_PARTNERS, sql::UPDATE_PARTNERS];
        self.put(statements, rows, |rows| columns!(rows, |it| it.0, &it.1[..])).await
    }

    /// Which partner is which client: unique over all partners.
    async fn clients(&self) -> Result<(), DbError> {
        let (mut released, mut taken) = (Vec::new(), Vec::new());
        for (id, partner) in &self.view.tables.partners {
            let before = self.view.base.tables.partners.get(id).and_then(|before| before.oauth_client_id.as_deref());
            let now = partner.oauth_client_id.as_deref();
            if before != now {
                released.extend(before.map(|client| (client, *id)));
                taken.extend(now.map(|client| (client, *id)));
            }
        }
        for (sql, mut clients) in [(sql::RELEASE_CLIENTS, released), (sql::TAKE_CLIENTS, taken)] {
            clients.sort_unstable();
            let values = columns!(clients, |it| kept(it.0), it.1.uuid());
            self.session.change_at(sql, self.version, clients.len(), values).await?;
        }
        Ok(())
    }

    async fn keys(&self) -> Result<(), DbError> {
        let (view, damaged) = (self.view, |_| DbError::Damaged);
        let mut names: BTreeSet<_> = view.tables.keys.keys().copied().collect();
        for hash in view.tables.uses.keys() {
            names.extend(view.key_with_hash(*hash).map_err(damaged)?);
        }
        let mut rows = Vec::new();
        for name in names {
            let key = view.key(name.0, name.1).map_err(damaged)?.expect("a key that has changed is there");
            let last_used_at = view.key_used(key.hash).map_err(damaged)?.map(Time::from);
            let body = sealed(&KeyBody { key: KeyRow::from(&key), last_used_at })?;
            let row = (name.0.uuid(), name.1.uuid(), key.hash.to_bytes().to_vec(), body);
            rows.push((row, self.versions.keys.get(&name).copied()));
        }
        let statements = [sql::INSERT_KEYS, sql::UPDATE_KEYS];
        self.put(statements, rows, |rows| columns!(rows, |it| it.0, it.1, &it.2[..], &it.3[..])).await
    }

    async fn applications(&self) -> Result<(), DbError> {
        let mut applications: Vec<_> = self.view.tables.applications.iter().collect();
        applications.sort_unstable();
        let values = columns!(applications, |it| it.0.uuid(), it.1.uuid());
        self.session.change_at(sql::INSERT_APPLICATIONS, self.version, applications.len(), values).await
    }

    async fn offers(&self) -> Result<(), DbError> {
        let (mut rows, mut due) = (Vec::new(), Vec::new());
        for (key, offer) in &self.view.tables.offers {
            // Terms that did not change stay as they are.
            let before = self.view.base.tables.offers.get(key);
            let same = before.is_some_and(|before| before.terms == offer.terms);
            let terms = if same { None } else { Some(sealed(&TermsRecord::from(&offer.terms))?) };
            let Standing { status, status_changed_at: at, expiry_at, .. } = offer.standing;
            let ids = (key.0.uuid(), key.1.uuid(), offer.partner.uuid());
            let expiry_before = before.and_then(|before| before.standing.expiry_at);
            if let Some(expiry) =
                expiry_at.filter(|_| offer.standing.status == Status::Offered && expiry_at != expiry_before)
            {
                due.push((micros(expiry), ids.0, ids.1));
            }
            let row = (ids, terms, expiry_at.map(micros), status.name(), at);
            rows.push((row, self.versions.offers.get(key).copied()));
        }
        due.sort_unstable();
        let put = self.put([sql::INSERT_OFFERS, sql::UPDATE_OFFERS], rows, |rows| {
            columns!(rows, |it| it.0.2, it.0.0, it.0.1, it.1.as_deref(), it.2, it.3, micros(it.4), nanos(it.4))
        });
        let due = self.session.run_for(sql::INSERT_DUE, due.len(), columns!(due, |it| it.0, it.1, it.2));
        tokio::try_join!(biased; put, due)?;
        Ok(())
    }

    async fn webhooks(&self) -> Result<(), DbError> {
        let mut rows = Vec::new();
        for (id, Webhook { endpoint, progress }) in &self.view.tables.webhooks {
            let progress = progress.as_ref().map(|progress| sealed(&ProgressRecord::from(progress))).transpose()?;
            let row = (id.uuid(), sealed(&EndpointRecord::from(endpoint))?, progress);
            rows.push((row, self.versions.webhooks.get(id).copied()));
        }
        let statements = [sql::INSERT_WEBHOOKS, sql::UPDATE_WEBHOOKS];
        self.put(statements, rows, |rows| columns!(rows, |it| it.0, &it.1[..], it.2.as_deref())).await
    }

    /// Writes every change, and the buyers that were created. The change that created a buyer is in the buyer's row
    /// only.
    async fn changes(&self, changes: &[Pending], ordered: &[Timestamp]) -> Result<(), DbError> {
        let (mut rows, mut buyers) = (Vec::new(), Vec::new());
        for (Pending { sequence, record }, ordered) in changes.iter().zip(ordered) {
            let Record { cause, change, .. } = record;
            let mut body = None;
            if !matches!(change, Change::OfferMoved { reason: None, .. }) {
                body = Some(sealed(&ChangeRecord::from(change))?);
            }
            // Without an event's id: the end of the body. Its time tells it from others.
            let tail = body.as_deref().and_then(<[u8]>::last_chunk).map_or(0, |tail| u64::from_be_bytes(*tail));
            let id = cause.map_or(Uuid::from_u64_pair(0, tail), |cause| cause.event.uuid());
            if let Change::BuyerCreated { partner, buyer, description, .. } = change {
                let number = description.registration_number.as_deref().map(kept);
                buyers.push((partner.uuid(), buyer.uuid(), number, body.take()));
            }
            let event = record.subject();
            let (partner, subject) = (event.and_then(|(partner, _)| partner), event.map(|(_, subject)| subject));
            rows.push((
                id,
                *sequence,
                *ordered,
                *cause,
                partner.map(PartnerId::uuid),
                subject.map_or_else(Columns::default, columns_of),
                body,
            ));
        }
        buyers.sort_unstable();
        let created = columns!(buyers, |it| it.0, it.1, it.2.as_deref(), it.3.as_deref());
        let values = columns!(
            rows,
            |it| it.0,
            it.1,
            it.2,
            it.3.map(|cause| micros(cause.at)),
            it.3.map_or(0, |cause| nanos(cause.at)),
            it.3.map(|cause| cause.actor.to_string()),
            it.3.map(|cause| Uuid::from_bytes(cause.operation.to_bytes())),
            it.4,
            it.5.application,
            it.5.offer,
            it.5.status,
            it.5.buyer,
            it.6.as_deref(),
            it.5.event_type,
            it.5.key,
            it.5.endpoint,
        );
        tokio::try_join!(
            biased;
            self.session.change(sql::INSERT_BUYERS, buyers.len(), created),
            self.session.change(sql::INSERT_CHANGES, rows.len(), values),
        )?;
        Ok(())
    }
}

/// The columns that say what an event is about. An offer's event is told by the status, a buyer's by the buyer.
#[derive(Default)]
struct Columns {
    application: Option<Uuid>,
    offer: Option<Uuid>,
    status: Option<&'static str>,
    buyer: Option<Uuid>,
    event_type: Option<&'static str>,
    key: Option<Uuid>,
    endpoint: Option<Uuid>,
}

fn columns_of(subject: Subject) -> Columns {
    let (application, offer, buyer) = subject.ids();
    let (status, event_type) = match subject {
        Subject::Offer { status, .. } => (Some(status.name()), None),
        Subject::Buyer(_) | Subject::Terms { .. } => (None, None),
        Subject::PartnerCreated
        | Subject::PartnerUpdated
        | Subject::KeyCreated(_)
        | Subject::KeyExpirySet(_)
        | Subject::KeyRevoked(_)
        | Subject::ApplicationCreated(_)
        | Subject::BuyerRead(_)
        | Subject::Webhook(..) => (None, Some(subject.event_type())),
    };
    Columns {
        application: application.map(ApplicationId::uuid),
        offer: offer.map(OfferId::uuid),
        status,
        buyer: buyer.map(BuyerId::uuid),
        event_type,
        key: subject.key().map(KeyId::uuid),
        endpoint: subject.endpoint().map(EndpointId::uuid),
    }
}
