//! What the commands of a group may look at: rows that were loaded before they are decided.

use super::error::DbError;
use super::order::Order;
use super::rows::{self, Read, Versioned, kept};
use super::session::Session;
use super::statements as sql;
use lendpay_domain::buyer::Description;
use lendpay_domain::change::OfferKey;
use lendpay_domain::command::Reads;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::{Offer, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::view::{Found, StoredBuyer, StoredOffer, View, ViewError};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// Rows by key, those that are absent too.
type Table<K, V> = HashMap<K, Found<V>>;

/// What was loaded.
#[derive(Default)]
pub(super) struct Rows {
    partners: Table<PartnerId, Versioned<Partner>>,
    clients: Table<String, PartnerId>,
    keys: Table<(PartnerId, KeyId), Versioned<KeyInUse>>,
    hashes: Table<KeyHash, (PartnerId, KeyId)>,
    applications: Table<ApplicationId, PartnerId>,
    offers: Table<(ApplicationId, OfferId), Versioned<Offer>>,
    buyers: Table<BuyerId, StoredBuyer<Description>>,
    /// Offers that another session holds: nothing can be decided about them now.
    pub(super) held: HashSet<(ApplicationId, OfferId)>,
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

fn look<K: Hash + Eq, V, T>(table: &Table<K, V>, key: &K, value: impl FnOnce(&V) -> T) -> Found<T> {
    let found = table.get(key);
    debug_assert!(found.is_some(), "a command looks at what its reads do not name");
    found.map_or(Ok(None), |found| found.as_ref().map(|found| found.as_ref().map(value)).map_err(|error| *error))
}

fn absent<K: Hash + Eq, V>(table: &mut Table<K, V>, keys: impl IntoIterator<Item = K>) {
    table.extend(keys.into_iter().map(|key| (key, Ok(None))));
}

/// Adds a row to a table. One that cannot be read fails only the commands that look at it.
fn keep<K: Hash + Eq, V>(table: &mut Table<K, V>, key: K, row: Read<V>) {
    table.insert(key, row.map(Some).map_err(|_| ViewError::Corrupt));
}

fn uuids<K: Copy>(keys: &[K], uuid: impl Fn(K) -> Uuid) -> Vec<Uuid> {
    keys.iter().map(|key| uuid(*key)).collect()
}

/// Runs a statement for some keys, if there are any.
async fn load<const N: usize>(
    session: &Session,
    sql: &'static str,
    any: bool,
    keys: [&(dyn ToSql + Sync); N],
) -> Result<Vec<Row>, DbError> {
    if any { session.rows(sql, &keys).await } else { Ok(Vec::new()) }
}

impl Rows {
    /// Loads what commands may look at, and holds what they may change until the transaction ends.
    pub(super) async fn load(session: &Session, order: &Order, reads: Reads, how: Loading) -> Result<Self, DbError> {
        let Reads {
            mut partners,
            clients,
            keys,
            hashes,
            mut applications,
            mut offers,
            owned_offers,
            mut buyers,
            new_buyers,
        } = reads;
        let mut view = Self::default();
        if how == Loading::First {
            absent(&mut view.buyers, new_buyers.into_iter().map(|(_, buyer)| buyer));
        } else {
            buyers.extend(new_buyers);
        }
        applications.extend(owned_offers.iter().map(|(application, _)| *application));
        partners.sort_unstable();
        partners.dedup();
        buyers.sort_unstable();
        buyers.dedup();
        absent(&mut view.partners, partners.iter().copied());
        absent(&mut view.keys, keys.iter().copied());
        absent(&mut view.hashes, hashes.iter().copied());
        absent(&mut view.applications, applications.iter().copied());
        absent(&mut view.offers, offers.iter().map(|key| (key.application, key.offer)));
        absent(&mut view.offers, owned_offers.iter().copied());
        absent(&mut view.buyers, buyers.iter().map(|(_, buyer)| *buyer));

        let partner_ids = uuids(&partners, PartnerId::uuid);
        let client_ids: Vec<_> = clients.iter().map(|client| kept(client)).collect();
        let key_partners = uuids(&keys, |(partner, _)| partner.uuid());
        let key_ids = uuids(&keys, |(_, key)| key.uuid());
        let key_hashes: Vec<_> = hashes.iter().map(|hash| hash.to_bytes().to_vec()).collect();
        let application_ids = uuids(&applications, ApplicationId::uuid);
        let buyer_ids = uuids(&buyers, |(_, buyer)| buyer.uuid());
        let any_key = !keys.is_empty() || !hashes.is_empty();
        // All offers are held by one statement, in one order: with the second round if there is one.
        let in_first_round: &[OfferKey] = if owned_offers.is_empty() { &offers } else { &[] };
        // Sent one after the other without waiting in between.
        let (partner_rows, client_rows, key_rows, application_rows, buyer_rows, offer_rows) = tokio::try_join!(
            biased;
            load(session, sql::LOAD_PARTNERS, !partners.is_empty(), [&partner_ids]),
            load(session, sql::LOAD_CLIENTS, !clients.is_empty(), [&client_ids]),
            load(session, sql::LOAD_KEYS, any_key, [&key_partners, &key_ids, &key_hashes]),
            load(session, sql::LOAD_APPLICATIONS, !applications.is_empty(), [&application_ids]),
            load(session, sql::LOAD_BUYERS, !buyers.is_empty(), [&buyer_ids]),
            load_offers(session, in_first_round, how),
        )?;

        absent(&mut view.clients, clients);
        for row in &partner_rows {
            let id = PartnerId::new(row.try_get(0)?);
            keep(&mut view.partners, id, observed(order, rows::partner(row)));
        }
        for row in &client_rows {
            let (client, partner): (String, Option<Uuid>) = (row.try_get(0)?, row.try_get(1)?);
            order.observe(row.try_get(2)?);
            // A client without a partner was released.
            if let Some(asked) = view.clients.keys().find(|asked| kept(asked) == client).cloned() {
                view.clients.insert(asked, Ok(partner.map(PartnerId::new)));
            }
        }
        for row in &key_rows {
            let name = (PartnerId::new(row.try_get(0)?), KeyId::new(row.try_get(1)?));
            let key = observed(order, rows::key(row));
            if let Ok(hash) = row.try_get::<_, &[u8]>(2)?.try_into() {
                view.hashes.insert(KeyHash::from_bytes(hash), Ok(Some(name)));
            }
            keep(&mut view.keys, name, key);
        }
        for row in &application_rows {
            order.observe(row.try_get(2)?);
            let id = ApplicationId::new(row.try_get(0)?);
            view.applications.insert(id, Ok(Some(PartnerId::new(row.try_get(1)?))));
        }
        for row in &buyer_rows {
            keep(&mut view.buyers, BuyerId::new(row.try_get(1)?), rows::buyer(row).map(|(_, buyer)| buyer));
        }
        let offer_rows = if owned_offers.is_empty() {
            offer_rows
        } else {
            offers.extend(owned_offers.into_iter().filter_map(|(application, offer)| {
                let partner = (*view.applications.get(&application)?.as_ref().ok()?)?;
                Some(OfferKey { partner, application, offer })
            }));
            load_offers(session, &offers, how).await?
        };
        for row in &offer_rows {
            let key = (ApplicationId::new(row.try_get(1)?), OfferId::new(row.try_get(2)?));
            keep(&mut view.offers, key, observed(order, rows::offer(row)));
        }
        if how == Loading::Free {
            offers.retain(|key| matches!(view.offers.get(&(key.application, key.offer)), Some(Ok(None))));
            for row in run_for_offers(session, sql::OFFERS_THERE, offers).await? {
                view.held.insert((ApplicationId::new(row.try_get(0)?), OfferId::new(row.try_get(1)?)));
            }
        }
        Ok(view)
    }

    pub(super) fn stored_partner(&self, id: PartnerId) -> Option<&Versioned<Partner>> {
        self.partners.get(&id)?.as_ref().ok()?.as_ref()
    }

    pub(super) fn stored_key(&self, name: (PartnerId, KeyId)) -> Option<&Versioned<KeyInUse>> {
        self.keys.get(&name)?.as_ref().ok()?.as_ref()
    }

    pub(super) fn stored_offer(&self, key: (ApplicationId, OfferId)) -> Option<&Versioned<Offer>> {
        self.offers.get(&key)?.as_ref().ok()?.as_ref()
    }
}

/// What is done after a row was read comes after its last change.
fn observed<T>(order: &Order, row: Read<Versioned<T>>) -> Read<Versioned<T>> {
    row.inspect(|row| order.observe(row.version))
}

async fn load_offers(session: &Session, offers: &[OfferKey], how: Loading) -> Result<Vec<Row>, DbError> {
    let sql = if how == Loading::Free { sql::LOAD_FREE_OFFERS } else { sql::LOAD_OFFERS };
    run_for_offers(session, sql, offers.to_vec()).await
}

async fn run_for_offers(session: &Session, sql: &'static str, mut offers: Vec<OfferKey>) -> Result<Vec<Row>, DbError> {
    offers.sort_unstable();
    offers.dedup();
    let partners = uuids(&offers, |key| key.partner.uuid());
    let applications = uuids(&offers, |key| key.application.uuid());
    let ids = uuids(&offers, |key| key.offer.uuid());
    load(session, sql, !offers.is_empty(), [&partners, &applications, &ids]).await
}

impl View for Rows {
    type Terms = Terms;
    type Buyer = Description;

    fn partner(&self, id: PartnerId) -> Found<Partner> {
        look(&self.partners, &id, |row| row.value.clone())
    }

    fn client(&self, client: &str) -> Found<PartnerId> {
        look(&self.clients, &client.to_owned(), |partner| *partner)
    }

    fn key(&self, partner: PartnerId, key: KeyId) -> Found<KeyRecord> {
        look(&self.keys, &(partner, key), |row| row.value.key.clone())
    }

    fn key_with_hash(&self, hash: KeyHash) -> Found<(PartnerId, KeyId)> {
        look(&self.hashes, &hash, |name| *name)
    }

    fn key_used(&self, hash: KeyHash) -> Found<Timestamp> {
        match self.key_with_hash(hash)? {
            Some(name) => Ok(look(&self.keys, &name, |row| row.value.last_used_at)?.flatten()),
            None => Ok(None),
        }
    }

    fn application(&self, id: ApplicationId) -> Found<PartnerId> {
        look(&self.applications, &id, |partner| *partner)
    }

    fn offer(&self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<Terms>> {
        look(&self.offers, &(application, offer), |Versioned { value, .. }| StoredOffer {
            partner: value.partner,
            standing: value.standing(),
            terms: value.terms.clone(),
        })
    }

    fn buyer(&self, _: PartnerId, buyer: BuyerId) -> Found<StoredBuyer<Description>> {
        look(&self.buyers, &buyer, StoredBuyer::clone)
    }
}
