//! What the commands of a group may look at: rows that were loaded before they are decided.

use super::error::DbError;
use super::order::Order;
use super::rows::{self, Versioned, kept};
use super::session::{Session, columns};
use super::statements as sql;
use lendpay_domain::buyer::Description;
use lendpay_domain::command::Reads;
use lendpay_domain::offer::Terms;
use lendpay_domain::view::{Nothing, Overlay, StoredOffer};
use lendpay_domain::{ApplicationId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};
use std::collections::{HashMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

/// What is stored, as far as it was loaded.
pub(super) type Stored = Overlay<Nothing<Terms, Description>>;

/// Rows that were loaded.
pub(super) struct Rows {
    pub(super) stored: Stored,
    pub(super) versions: Versions,
    /// Offers that another session holds: nothing can be decided about them now.
    pub(super) held: HashSet<(ApplicationId, OfferId)>,
}

/// The versions of rows that are there and can change.
#[derive(Default)]
pub(super) struct Versions {
    pub(super) partners: HashMap<PartnerId, Timestamp>,
    pub(super) keys: HashMap<(PartnerId, KeyId), Timestamp>,
    pub(super) offers: HashMap<(ApplicationId, OfferId), Timestamp>,
    pub(super) webhooks: HashMap<EndpointId, Timestamp>,
}

/// How rows are loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loading {
    /// For the first time: buyers whose ids were just made are taken for absent.
    First,
    /// Again, everything.
    Again,
    /// Again, without waiting for offers that another session holds.
    Free,
}

impl Rows {
    /// Loads what commands may look at, and holds what they may change until the transaction ends. A row that cannot be
    /// read fails the group; its commands then go one by one.
    pub(super) async fn load(session: &Session, order: &Order, reads: Reads, how: Loading) -> Result<Self, DbError> {
        let Reads { mut partners, clients, keys, hashes, applications, mut buyers, new_buyers, endpoints, .. } = reads;
        if how != Loading::First {
            buyers.extend(new_buyers);
        }
        let named = reads.offers.iter().map(|key| (key.application, key.offer));
        let mut offers: Vec<_> = named.chain(reads.owned_offers).collect();
        partners.sort_unstable();
        partners.dedup();
        buyers.sort_unstable();
        buyers.dedup();
        let mut key_columns = columns!(keys, |it| it.0.uuid(), it.1.uuid());
        key_columns.extend(columns!(hashes, |it| it.to_bytes().to_vec()));
        // Sent one after the other without waiting in between.
        let (partner_rows, client_rows, key_rows, application_rows, buyer_rows, offer_rows, webhook_rows) = tokio::try_join!(
            biased;
            session.load(sql::LOAD_PARTNERS, partners.len(), columns!(partners, |it| it.uuid())),
            session.load(sql::LOAD_CLIENTS, clients.len(), columns!(clients, |it| kept(it))),
            session.load(sql::LOAD_KEYS, keys.len() + hashes.len(), key_columns),
            session.load(sql::LOAD_APPLICATIONS, applications.len(), columns!(applications, |it| it.uuid())),
            session.load(sql::LOAD_BUYERS, buyers.len(), columns!(buyers, |it| it.0.uuid(), it.1.uuid())),
            load_offers(session, &mut offers, offers_by(how)),
            session.load(sql::LOAD_WEBHOOKS, endpoints.len(), columns!(endpoints, |it| it.uuid())),
        )?;

        let (mut stored, mut versions) = (Stored::new(Nothing::default()), Versions::default());
        // What is done after a row was read comes after its last change.
        let tables = &mut stored.tables;
        for row in &partner_rows {
            let Versioned { value, version } = rows::partner(row)?;
            order.observe(version);
            versions.partners.insert(value.id, version);
            tables.put_partner(value);
        }
        for row in &client_rows {
            let (client, partner): (&str, Option<Uuid>) = (row.try_get(0)?, row.try_get(1)?);
            order.observe(row.try_get(2)?);
            // A client without a partner was released.
            if let (Some(asked), Some(partner)) = (clients.iter().find(|asked| kept(asked) == client), partner) {
                tables.clients.insert(asked.clone(), PartnerId::new(partner));
            }
        }
        for row in &key_rows {
            let Versioned { value, version } = rows::key(row)?;
            order.observe(version);
            versions.keys.insert((value.key.partner, value.key.id), version);
            tables.uses.extend(value.last_used_at.map(|at| (value.key.hash, at)));
            tables.put_key(value.key);
        }
        for row in &application_rows {
            let (application, partner): (Uuid, Uuid) = (row.try_get(0)?, row.try_get(1)?);
            order.observe(row.try_get(2)?);
            tables.applications.insert(ApplicationId::new(application), PartnerId::new(partner));
        }
        for row in &buyer_rows {
            let (id, stored) = rows::buyer(row)?;
            tables.buyers.insert((stored.partner, id), stored);
        }
        for row in &offer_rows {
            let Versioned { value, version } = rows::offer(row)?;
            order.observe(version);
            let key = (value.application, value.id);
            versions.offers.insert(key, version);
            let (partner, standing) = (value.partner, value.standing());
            tables.offers.insert(key, StoredOffer { partner, standing, terms: value.terms });
        }
        for row in &webhook_rows {
            let Versioned { value, version } = rows::webhook(row)?;
            order.observe(version);
            versions.webhooks.insert(value.endpoint.id, version);
            tables.webhooks.insert(value.endpoint.id, value);
        }
        let mut held = HashSet::new();
        if how == Loading::Free {
            offers.retain(|key| !tables.offers.contains_key(key));
            for row in load_offers(session, &mut offers, sql::OFFERS_THERE).await? {
                held.insert((ApplicationId::new(row.try_get(0)?), OfferId::new(row.try_get(1)?)));
            }
        }
        Ok(Self { stored, versions, held })
    }
}

const fn offers_by(how: Loading) -> &'static str {
    match how {
        Loading::Free => sql::LOAD_FREE_OFFERS,
        Loading::First | Loading::Again => sql::LOAD_OFFERS,
    }
}

async fn load_offers(
    session: &Session,
    offers: &mut Vec<(ApplicationId, OfferId)>,
    sql: &'static str,
) -> Result<Vec<Row>, DbError> {
    offers.sort_unstable();
    offers.dedup();
    session.load(sql, offers.len(), columns!(offers, |it| it.0.uuid(), it.1.uuid())).await
}
