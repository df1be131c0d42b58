//! Reads: what is committed now, on any connection.

use super::PostgresStore;
use super::error::DbError;
use super::rows::{self, EventRows, kept, micros};
use super::session::{Parameters, Session, persist};
use super::statements as sql;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::EventPage;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::{Offer, Status};
use lendpay_domain::page::{ENTRIES, Page, RECORDS, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, EventFilter, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, OffersOf, Scope,
};
use lendpay_domain::store::{Answer, Queries, StoreError};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use std::sync::Arc;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

impl PostgresStore {
    /// Runs a statement that only reads, again if the database was away.
    pub(super) async fn read(&self, sql: &'static str, parameters: Parameters<'_>) -> Answer<Vec<Row>> {
        let once = || async {
            let session = Session::get(&self.groups.pool).await?;
            let rows = session.rows(sql, parameters).await?;
            session.give_back();
            Ok(rows)
        };
        persist(&self.groups.health, self.groups.patience, once).await
    }

    /// Reads rows as what they stand for.
    pub(super) async fn read_as<T>(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
        read: impl Fn(&Row) -> rows::Read<T>,
    ) -> Answer<Vec<T>> {
        /// After so many rows others come to their turn: some 100 µs.
        const TURN: usize = 64;
        let mut values = Vec::new();
        for row in self.read(sql, parameters).await? {
            values.push(read(&row).map_err(|damaged| self.groups.health.noted(&damaged.into()))?);
            if values.len() % TURN == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(values)
    }

    /// Reads the one row that there may be.
    pub(super) async fn read_one<T>(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
        read: impl Fn(&Row) -> rows::Read<T>,
    ) -> Answer<Option<T>> {
        Ok(self.read_as(sql, parameters, read).await?.into_iter().next())
    }

    /// Whether the database takes writes. Asked once: whoever asks wants to know how it is now.
    pub(super) async fn writable(&self) -> Answer<()> {
        let health = &self.groups.health;
        if self.groups.pool.is_closed() {
            return Err(StoreError::Unavailable);
        }
        let asked = async {
            let session = Session::get(&self.groups.pool).await?;
            let row = session.row(sql::IS_WRITABLE).await?;
            session.give_back();
            health.standbys(row.try_get(1)?);
            match row.try_get(0)? {
                true => Ok(()),
                false => Err(DbError::Unavailable("the database can only be read".to_owned())),
            }
        };
        asked.await.map(|()| health.works()).map_err(|error| health.noted(&error))
    }

    /// Events, those of some partners or of all.
    async fn list_events(&self, query: FindEvents, partners: Option<Vec<Uuid>>) -> Answer<EventPage> {
        let FindEvents { after, limit, filter } = query;
        let EventFilter { types, application, offer, buyer, operation, from, until, .. } = filter;
        let read = one_more(limit);
        let numbered = if partners.is_none() && filter == EventFilter::default() { read } else { LOOKED_AT };
        let more = self.number(usize::try_from(numbered).unwrap_or(usize::MAX)).await?.more;
        // The statement leaves out what cannot be wanted; the filter decides.
        let statuses = names(|status| types.contains_status(status));
        let moves = Status::ALL.iter().filter(|status| types.contains_status(**status)).count();
        let others = usize::try_from(types.bits().count_ones()) != Ok(moves);
        let parameters: Parameters<'_> = &[
            &i64::try_from(after).unwrap_or(i64::MAX),
            &LOOKED_AT,
            &read,
            &partners,
            &application.map(ApplicationId::uuid),
            &offer.map(OfferId::uuid),
            &buyer.map(BuyerId::uuid),
            &operation.map(|operation| Uuid::from_bytes(operation.to_bytes())),
            &statuses,
            &others,
            &from.map(micros),
            &until.map(micros),
        ];
        let sql = match (operation, offer.is_some() || buyer.is_some()) {
            (Some(_), _) => sql::LIST_EVENTS_OF_OPERATION,
            (None, true) => sql::LIST_EVENTS_OF_SUBJECT,
            (None, false) => sql::LIST_EVENTS,
        };
        let rows = self.read(sql, parameters).await?;
        let EventRows { history, last, rows: found, number } =
            rows::events(&rows).map_err(|damaged| self.groups.health.noted(&damaged.into()))?;
        let cut = is_full(&found, read) || number == Some(LOOKED_AT);
        let found = found.into_iter().map(|(sequence, event)| (sequence, event.filter(|event| filter.wants(event))));
        let page = part(found, limit, cut);
        let end = last.max(after);
        let next = page.next.or_else(|| more.then_some(end));
        Ok(EventPage { history, last, seen: next.unwrap_or(end), events: page.items, next })
    }
}

impl Queries for PostgresStore {
    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        let asked = match self.groups.keys.get(&hash) {
            Ok(key) => return Ok(Some(key)),
            Err(asked) => asked,
        };
        let found = self.read_one(sql::FIND_KEY, &[&hash.to_bytes().as_slice()], rows::key).await?;
        let Some(row) = found else { return Ok(None) };
        self.groups.order.observe(row.version);
        self.groups.keys.put(&asked, hash, row.value.key.clone());
        Ok(Some(row.value.key))
    }

    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        if self.find_partner(partner).await?.is_none() {
            return Ok(None);
        }
        let Some(from) = next(window.after.map(KeyId::uuid)) else { return Ok(Some(end())) };
        let parameters: Parameters<'_> = &[&partner.uuid(), &from, &one_more(window.limit)];
        let keys = self.read_as(sql::LIST_KEYS, parameters, rows::key).await?;
        let keys = keys.into_iter().map(|row| (row.value.key.id, Some(row.value)));
        Ok(Some(part(keys, window.limit, false)))
    }

    async fn key_with_id(&self, id: KeyId) -> Answer<Option<KeyInUse>> {
        Ok(self.read_one(sql::KEY_WITH_ID, &[&id.uuid()], rows::key).await?.map(|row| row.value))
    }

    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        let asked = match self.groups.clients.get(client) {
            Ok(partner) => return Ok(Some(partner)),
            Err(asked) => asked,
        };
        let found = self.read_one(sql::FIND_CLIENT, &[&kept(client)], rows::client).await?;
        let Some(row) = found else { return Ok(None) };
        self.groups.order.observe(row.version);
        self.groups.clients.put(&asked, client.to_owned(), row.value);
        Ok(Some(row.value))
    }

    async fn find_offer(&self, application: ApplicationId, id: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        let found = self.read_one(sql::FIND_OFFER, &[&application.uuid(), &id.uuid()], rows::offer).await?;
        Ok(found.map(|row| row.value.seen_at(now)))
    }

    async fn find_partner(&self, id: PartnerId) -> Answer<Option<Partner>> {
        let found = self.read_one(sql::LOAD_PARTNERS, &[&[id.uuid()].as_slice()], rows::partner).await?;
        Ok(found.map(|row| row.value))
    }

    async fn find_partners(&self, query: FindPartners) -> Answer<Page<Partner, PartnerId>> {
        let limit = query.window.limit;
        let Some(from) = next(query.window.after.map(PartnerId::uuid)) else { return Ok(end()) };
        // A name is looked for in all of them; they are few.
        let read = if query.name.is_some() { LOOKED_AT } else { one_more(limit) };
        let found = match &query.oauth_client_id {
            Some(client) => self.read_as(sql::LIST_PARTNERS_BY_CLIENT, &[&kept(client)], rows::partner).await?,
            None => self.read_as(sql::LIST_PARTNERS, &[&from, &read], rows::partner).await?,
        };
        let cut = is_full(&found, read);
        let wanted = |partner: &Partner| partner.id.uuid() >= from && query.wants(partner);
        let partners = found.into_iter().map(|row| (row.value.id, Some(row.value).filter(wanted)));
        Ok(part(partners, limit, cut))
    }

    async fn find_application(&self, id: ApplicationId) -> Answer<Option<Application>> {
        self.read_one(sql::LOAD_APPLICATIONS, &[&[id.uuid()].as_slice()], rows::application).await
    }

    async fn find_applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        let limit = query.window.limit;
        let Some(from) = next(query.window.after.map(ApplicationId::uuid)) else { return Ok(end()) };
        let read = one_more(limit);
        let found = match query.scope {
            Scope::All => self.read_as(sql::LIST_APPLICATIONS, &[&from, &read], rows::application).await?,
            Scope::Partner(partner) => {
                let parameters: Parameters<'_> = &[&from, &read, &partner.uuid()];
                self.read_as(sql::LIST_APPLICATIONS_OF, parameters, rows::application).await?
            }
        };
        Ok(part(found.into_iter().map(|application| (application.id, Some(application))), limit, false))
    }

    async fn find_offers(&self, query: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let limit = query.window.limit.min(RECORDS);
        let Some((application, offer)) = first_offer(&query) else { return Ok(end()) };
        let statuses = names(|status| query.may_be_stored_as(status));
        let expiry = query.expires_before.map(micros);
        let read = one_more(limit);
        let parameters: [&(dyn ToSql + Sync); 6] = [&application, &offer, &LOOKED_AT, &read, &statuses, &expiry];
        let row = |row: &Row| -> rows::Read<_> { Ok((rows::offer(row)?.value, rows::number(row)?)) };
        let found = match query.of {
            OffersOf::All => self.read_as(sql::LIST_OFFERS, &parameters, row).await?,
            OffersOf::Partner(partner) => {
                let (partner, mut parameters) = (partner.uuid(), parameters.to_vec());
                parameters.push(&partner);
                self.read_as(sql::LIST_OFFERS_OF_PARTNER, &parameters, row).await?
            }
            OffersOf::Application(_) => self.read_as(sql::LIST_OFFERS_OF_APPLICATION, &parameters, row).await?,
        };
        let cut = is_full(&found, read) || found.last().is_some_and(|(_, number)| *number == LOOKED_AT);
        let wanted = |offer: &Offer| query.wants(&offer.standing());
        let offers = found.into_iter().map(|(offer, _)| {
            let at = OfferCursor { application: offer.application, offer: offer.id };
            (at, Some(offer).filter(wanted).map(|offer| offer.seen_at(query.now)))
        });
        Ok(part(offers, limit, cut))
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        let limit = query.window.limit.min(RECORDS);
        let Some((partner, buyer)) = first_buyer(&query) else { return Ok(end()) };
        let read = one_more(limit);
        let (found, cut) = match (&query.registration_number, query.scope) {
            (Some(number), scope) => {
                let last = match scope {
                    Scope::All => Uuid::max(),
                    Scope::Partner(partner) => partner.uuid(),
                };
                let parameters: Parameters<'_> = &[&partner, &buyer, &read, &kept(number), &LOOKED_AT, &last];
                let row = |row: &Row| -> rows::Read<_> { Ok((rows::buyer(row)?, rows::number(row)?)) };
                let found = self.read_as(sql::LIST_BUYERS_BY_NUMBER, parameters, row).await?;
                let cut = is_full(&found, read) || found.last().is_some_and(|(_, number)| *number == LOOKED_AT);
                (found.into_iter().map(|(buyer, _)| buyer).collect(), cut)
            }
            (None, Scope::All) => {
                (self.read_as(sql::LIST_BUYERS, &[&partner, &buyer, &read], rows::buyer).await?, false)
            }
            (None, Scope::Partner(_)) => {
                (self.read_as(sql::LIST_BUYERS_OF, &[&partner, &buyer, &read], rows::buyer).await?, false)
            }
        };
        let buyers = found.into_iter().map(|(id, stored)| {
            let buyer = stored.buyer(id);
            let at = BuyerCursor { partner: buyer.partner, buyer: id };
            (at, Some(buyer).filter(|buyer| query.wants(buyer.partner, &buyer.description)))
        });
        Ok(part(buyers, limit, cut))
    }

    async fn find_buyer(&self, scope: Scope, id: BuyerId) -> Answer<Option<Buyer>> {
        let found = match scope {
            Scope::All => self.read_one(sql::FIND_BUYER, &[&id.uuid()], rows::buyer).await?,
            Scope::Partner(partner) => {
                let ids = ([partner.uuid()], [id.uuid()]);
                self.read_one(sql::LOAD_BUYERS, &[&ids.0.as_slice(), &ids.1.as_slice()], rows::buyer).await?
            }
        };
        Ok(found.map(|(id, stored)| stored.buyer(id)))
    }

    async fn find_events(&self, query: FindEvents) -> Answer<EventPage> {
        let partners = match query.filter.scope {
            Scope::All => None,
            Scope::Partner(partner) => Some(vec![partner.uuid()]),
        };
        self.list_events(query, partners).await
    }

    async fn find_events_for(&self, after: u64, limit: usize, partners: Arc<[PartnerId]>) -> Answer<EventPage> {
        let partners = partners.iter().map(|partner| partner.uuid()).collect();
        self.list_events(FindEvents::all(after, limit), Some(partners)).await
    }

    async fn wait_for_changes(&self, after: u64) -> Answer<()> {
        self.looks.wait(self, after).await
    }
}

/// The most rows that a page looks at.
const LOOKED_AT: i64 = ENTRIES as i64;

/// The first id that comes after one; `None` if there is none.
pub(super) fn next(after: Option<Uuid>) -> Option<Uuid> {
    after.map_or(Some(Uuid::nil()), |after| after.as_u128().checked_add(1).map(Uuid::from_u128))
}

/// The first pair of ids that comes after one, with this first id if it is given; `None` if there is none.
fn next_pair(after: Option<(Uuid, Uuid)>, first: Option<Uuid>) -> Option<(Uuid, Uuid)> {
    let from = match after {
        None => (Uuid::nil(), Uuid::nil()),
        Some((one, other)) => match next(Some(other)) {
            Some(other) => (one, other),
            None => (next(Some(one))?, Uuid::nil()),
        },
    };
    match first {
        Some(first) => Some(from.max((first, Uuid::nil()))).filter(|from| from.0 == first),
        None => Some(from),
    }
}

/// The first offer that a page can hold.
fn first_offer(query: &FindOffers) -> Option<(Uuid, Uuid)> {
    let application = match query.of {
        OffersOf::Application(application) => Some(application.uuid()),
        OffersOf::All | OffersOf::Partner(_) => None,
    };
    next_pair(query.window.after.map(|after| (after.application.uuid(), after.offer.uuid())), application)
}

/// The first buyer that a page can hold.
fn first_buyer(query: &FindBuyers) -> Option<(Uuid, Uuid)> {
    let partner = match query.scope {
        Scope::All => None,
        Scope::Partner(partner) => Some(partner.uuid()),
    };
    next_pair(query.window.after.map(|after| (after.partner.uuid(), after.buyer.uuid())), partner)
}

/// The names of the statuses that are wanted.
fn names(wanted: impl Fn(Status) -> bool) -> Vec<&'static str> {
    Status::ALL.iter().filter(|status| wanted(**status)).map(|status| status.name()).collect()
}

/// A page at the end of a list.
pub(super) const fn end<T, C>() -> Page<T, C> {
    Page { items: Vec::new(), next: None }
}

/// Whether as many rows were found as were asked for, so that there may be more.
pub(super) fn is_full<T>(rows: &[T], read: i64) -> bool {
    i64::try_from(rows.len()) == Ok(read)
}

/// Up to `limit` of the items that are wanted, which lie between others. If the list is `cut`, more may follow.
pub(super) fn part<T, C: Copy>(rows: impl Iterator<Item = (C, Option<T>)>, limit: usize, cut: bool) -> Page<T, C> {
    let mut page = end();
    let mut last = None;
    for (at, item) in rows {
        if item.is_some() && page.items.len() == limit {
            page.next = last;
            return page;
        }
        page.items.extend(item);
        last = Some(at);
    }
    page.next = last.filter(|_| cut);
    page
}

/// One more than is wanted, to see whether there is more.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}
