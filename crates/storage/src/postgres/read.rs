//! Reads: what is committed now, on any connection.

use super::PostgresStore;
use super::alone::persist;
use super::pool::{Parameters, Session};
use super::rows;
use super::statements as sql;
use super::trouble::Trouble;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::store::{Answer, FindBuyers};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError, Timestamp};
use tokio_postgres::Row;

impl PostgresStore {
    /// Runs a statement that only reads, again if the database was away.
    pub(super) async fn read(&self, sql: &str, parameters: Parameters<'_>) -> Answer<Vec<Row>> {
        persist(&self.health, self.patience, || self.read_once(sql, parameters)).await
    }

    async fn read_once(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Trouble> {
        let session = Session::get(&self.pool).await?;
        let rows = session.rows(sql, parameters).await?;
        session.give_back();
        Ok(rows)
    }

    /// Reads rows as what they stand for.
    pub(super) async fn read_as<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&Row) -> Result<T, rows::Damaged>,
    ) -> Answer<Vec<T>> {
        let found = self.read(sql, parameters).await?;
        let read: Result<Vec<_>, _> = found.iter().map(read).collect();
        read.map_err(|damaged| {
            let trouble = damaged.into();
            self.health.note(&trouble);
            trouble.answer()
        })
    }

    pub(super) async fn key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        let asked = match self.keys.get(&hash) {
            Ok(key) => return Ok(Some(key)),
            Err(asked) => asked,
        };
        let found = self.read_as(sql::FIND_KEY, &[&hash.to_bytes().as_slice()], rows::key).await?;
        let key = found.into_iter().next().map(|found| found.key);
        if let Some(key) = &key {
            self.keys.put(&asked, hash, key.clone());
        }
        Ok(key)
    }

    pub(super) async fn client(&self, client: &str) -> Answer<Option<PartnerId>> {
        let asked = match self.clients.get(client) {
            Ok(partner) => return Ok(Some(partner)),
            Err(asked) => asked,
        };
        let found = self.read_as(sql::FIND_CLIENT, &[&rows::kept(client)], rows::partner_id).await?;
        let partner = found.into_iter().next();
        if let Some(partner) = partner {
            self.clients.put(&asked, client.to_owned(), partner);
        }
        Ok(partner)
    }

    /// Whose an application is. It never changes.
    pub(super) async fn owner(&self, application: ApplicationId) -> Answer<Option<PartnerId>> {
        Ok(self.read_as(sql::OWNER, &[&application.uuid()], rows::partner_id).await?.into_iter().next())
    }

    pub(super) async fn offer_at(
        &self,
        application: ApplicationId,
        id: OfferId,
        now: Timestamp,
    ) -> Answer<Option<Offer>> {
        let found =
            self.read_as(sql::FIND_OFFER, &[&application.uuid(), &id.uuid()], |row| rows::offer(row, 0)).await?;
        Ok(found.into_iter().next().map(|(offer, _)| offer.seen_at(now)))
    }

    pub(super) async fn offers(
        &self,
        application: ApplicationId,
        window: Window<OfferId>,
        now: Timestamp,
    ) -> Answer<Option<Page<Offer, OfferId>>> {
        let Some(partner) = self.owner(application).await? else { return Ok(None) };
        let after = window.after.map(OfferId::uuid);
        let parameters: Parameters<'_> = &[&partner.uuid(), &application.uuid(), &after, &one_more(window.limit)];
        let found = self.read_as(sql::LIST_OFFERS, parameters, |row| rows::offer(row, 0)).await?;
        let offers = found.into_iter().map(|(offer, _)| offer.seen_at(now)).collect();
        Ok(Some(page(offers, window.limit, |offer| offer.id)))
    }

    pub(super) async fn buyer(&self, id: BuyerId) -> Answer<Option<Buyer>> {
        let found = self.read_as(sql::FIND_BUYER, &[&id.uuid()], |row| rows::buyer(row, 0)).await?;
        Ok(found.into_iter().next().map(|(buyer, _)| buyer))
    }

    pub(super) async fn buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerId>> {
        let FindBuyers { registration_number, window } = query;
        let (after, limit) = (window.after.map(BuyerId::uuid), one_more(window.limit));
        let read = |row: &Row| rows::buyer(row, 0);
        let found = match &registration_number {
            Some(number) => {
                self.read_as(sql::LIST_BUYERS_BY_NUMBER, &[&rows::kept(number), &after, &limit], read).await?
            }
            None => self.read_as(sql::LIST_BUYERS, &[&after, &limit], read).await?,
        };
        Ok(page(found.into_iter().map(|(buyer, _)| buyer).collect(), window.limit, |buyer| buyer.id))
    }

    pub(super) async fn keys_of_partner(
        &self,
        partner: PartnerId,
        window: Window<KeyId>,
    ) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        if self.read(sql::PARTNER_IS_THERE, &[&partner.uuid()]).await?.is_empty() {
            return Ok(None);
        }
        let after = window.after.map(KeyId::uuid);
        let parameters: Parameters<'_> = &[&partner.uuid(), &after, &one_more(window.limit)];
        let found = self.read_as(sql::LIST_KEYS, parameters, rows::key).await?;
        Ok(Some(page(found, window.limit, |item| item.key.id)))
    }

    /// Whether the database takes writes. Asked once, without patience: whoever asks wants to know how it is now.
    pub(super) async fn writable(&self) -> Answer<()> {
        if self.pool.is_closed() {
            return Err(StoreError::Unavailable);
        }
        let asked = async {
            let session = Session::get(&self.pool).await?;
            let row = session.row(sql::IS_WRITABLE, &[]).await?;
            session.give_back();
            let row = row.ok_or(Trouble::Damaged)?;
            self.health.standbys(row.try_get(1)?);
            Ok(row.try_get(0)?)
        };
        let outcome = match asked.await {
            Ok(true) => {
                self.health.works();
                return Ok(());
            }
            Ok(false) => Err(Trouble::Again("the database can only be read".to_owned())),
            Err(trouble) => Err(trouble),
        };
        outcome.map_err(|trouble: Trouble| {
            self.health.note(&trouble);
            trouble.answer()
        })
    }
}

/// One more than is wanted, to see whether there is more.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}

fn page<T, C>(mut items: Vec<T>, limit: usize, id: impl Fn(&T) -> C) -> Page<T, C> {
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(id);
    Page { items, next }
}
