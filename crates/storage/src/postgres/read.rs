//! Reads: what is committed now, on any connection.

use super::PostgresStore;
use super::error::DbError;
use super::rows::{self, kept};
use super::session::{Parameters, Session, persist};
use super::statements as sql;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::EventPage;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, EventFilter, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, OffersOf, Scope,
};
use lendpay_domain::store::{Answer, Queries, StoreError};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use tokio_postgres::Row;
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
    async fn read_as<T>(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
        read: impl Fn(&Row) -> rows::Read<T>,
    ) -> Answer<Vec<T>> {
        let found = self.read(sql, parameters).await?;
        let read: Result<Vec<_>, _> = found.iter().map(read).collect();
        read.map_err(|damaged| self.groups.health.noted(&damaged.into()))
    }

    /// Reads the one row that there may be.
    async fn read_one<T>(
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
        let (after, looked_at) = (window.after.map(KeyId::uuid), one_more(window.limit));
        let keys = self.read_as(sql::LIST_KEYS, &[&partner.uuid(), &after, &looked_at], rows::key).await?;
        let keys = keys.into_iter().map(|row| row.value);
        Ok(Some(part(keys, looked_at, window.limit, |_| true, |item: &KeyInUse| item.key.id)))
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
        let (after, limit) = (query.window.after.map(PartnerId::uuid), query.window.limit);
        let filtered = query.name.is_some() || query.oauth_client_id.is_some();
        let looked_at = if filtered { LOOKED_AT } else { one_more(limit) };
        let partners = self.read_as(sql::LIST_PARTNERS, &[&after, &looked_at], rows::partner).await?;
        let partners = partners.into_iter().map(|row| row.value);
        Ok(part(partners, looked_at, limit, |partner| query.wants(partner), |partner| partner.id))
    }

    async fn find_application(&self, id: ApplicationId) -> Answer<Option<Application>> {
        self.read_one(sql::LOAD_APPLICATIONS, &[&[id.uuid()].as_slice()], rows::application).await
    }

    async fn find_applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        let (after, limit) = (query.window.after.map(ApplicationId::uuid), query.window.limit);
        let parameters: Parameters<'_> = &[&after, &scope(query.scope), &one_more(limit)];
        let found = self.read_as(sql::LIST_APPLICATIONS, parameters, rows::application).await?;
        Ok(part(found.into_iter(), one_more(limit), limit, |_| true, |application| application.id))
    }

    async fn find_offers(&self, query: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let after = query.window.after.map(|after| after.application.uuid());
        let after_offer = query.window.after.map(|after| after.offer.uuid());
        let (partner, application) = match query.of {
            OffersOf::All => (None, None),
            OffersOf::Partner(partner) => (Some(partner.uuid()), None),
            OffersOf::Application(application) => (None, Some(application.uuid())),
        };
        let (filtered, limit) = (query.status.is_some() || query.expires_before.is_some(), query.window.limit);
        let looked_at = if filtered { LOOKED_AT } else { one_more(limit) };
        let parameters: Parameters<'_> = &[&partner, &application, &after, &after_offer, &looked_at];
        let found = self.read_as(sql::LIST_OFFERS, parameters, rows::offer).await?;
        let offers = found.into_iter().map(|row| row.value);
        let cursor = |offer: &Offer| OfferCursor { application: offer.application, offer: offer.id };
        let mut page = part(offers, looked_at, limit, |offer| query.wants(&offer.standing()), cursor);
        page.items = page.items.into_iter().map(|offer| offer.seen_at(query.now)).collect();
        Ok(page)
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        let after = query.window.after.map(|after| after.partner.uuid());
        let (after_buyer, limit) = (query.window.after.map(|after| after.buyer.uuid()), query.window.limit);
        let (partner, looked_at) = (scope(query.scope), one_more(limit));
        let found = match &query.registration_number {
            Some(number) => {
                let parameters: Parameters<'_> = &[&partner, &after, &after_buyer, &looked_at, &kept(number)];
                self.read_as(sql::LIST_BUYERS_BY_NUMBER, parameters, rows::buyer).await?
            }
            None => self.read_as(sql::LIST_BUYERS, &[&partner, &after, &after_buyer, &looked_at], rows::buyer).await?,
        };
        let buyers = found.into_iter().map(|(id, stored)| stored.buyer(id));
        let cursor = |buyer: &Buyer| BuyerCursor { partner: buyer.partner, buyer: buyer.id };
        Ok(part(buyers, looked_at, limit, |_| true, cursor))
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

    async fn find_events(&self, FindEvents { after, limit, filter }: FindEvents) -> Answer<EventPage> {
        let looked_at = if filter == EventFilter::default() { one_more(limit) } else { LOOKED_AT };
        self.number(usize::try_from(looked_at).unwrap_or(usize::MAX)).await?;
        let rows = self.read(sql::LIST_EVENTS, &[&i64::try_from(after).unwrap_or(i64::MAX), &looked_at]).await?;
        let EventPage { history, last, events, .. } =
            rows::event_page(&rows).map_err(|damaged| self.groups.health.noted(&damaged.into()))?;
        let page = part(events.into_iter(), looked_at, limit, |event| filter.wants(event), |event| event.sequence);
        Ok(EventPage { history, last, events: page.items, next: page.next })
    }
}

/// The most rows that one page looks at.
const LOOKED_AT: i64 = 20_000;

fn scope(scope: Scope) -> Option<Uuid> {
    match scope {
        Scope::All => None,
        Scope::Partner(partner) => Some(partner.uuid()),
    }
}

/// Up to `limit` of the items that are wanted. `looked_at` of them were asked for.
fn part<T, C: Copy>(
    items: impl ExactSizeIterator<Item = T>,
    looked_at: i64,
    limit: usize,
    wants: impl Fn(&T) -> bool,
    id: impl Fn(&T) -> C,
) -> Page<T, C> {
    let full = i64::try_from(items.len()) == Ok(looked_at);
    let mut page = Page { items: Vec::new(), next: None };
    let mut last = None;
    for item in items {
        if page.items.len() == limit {
            page.next = last;
            return page;
        }
        last = Some(id(&item));
        page.items.extend(Some(item).filter(|item| wants(item)));
    }
    page.next = last.filter(|_| full);
    page
}

/// One more than is wanted, to see whether there is more.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}
