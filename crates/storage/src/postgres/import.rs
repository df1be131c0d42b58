//! Imports: one transaction, so that all of it is there or nothing.

use super::address::PostgresAddress;
use super::events::last;
use super::health::Health;
use super::order::Order;
use super::parties::{write_key, write_partner};
use super::pool::{self, Session};
use super::rows::kept;
use super::stage::{OfferKey, Stage};
use super::trouble::Trouble;
use super::{PostgresOptions, statements as sql};
use crate::imported::{ImportError, Imported, MISMATCH};
use lendpay_domain::event::{Event, Subject};
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::life_cycle::Change;
use lendpay_domain::offer::{Offer, Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::record::Record;
use lendpay_domain::{ApplicationId, KeyId, OfferId, PartnerId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// How many records go to the database together.
const GROUP: usize = 1_000;

/// An import that is under way. Dropped before it is finished, it has done nothing.
pub struct PostgresImport {
    session: Session,
    merge: bool,
    waiting: Vec<Record>,
    own: Own,
    /// Offers that were there before.
    kept: HashSet<OfferKey>,
    /// The last number that an event has.
    last: i64,
    done: Imported,
}

/// What this import has made: only that may come again, as a change.
#[derive(Default)]
struct Own {
    partners: HashMap<PartnerId, Option<String>>,
    keys: HashSet<(PartnerId, KeyId)>,
    hashes: HashSet<KeyHash>,
}

impl From<Trouble> for ImportError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Refused(_) => Self::Record("the database cannot keep a value of it"),
            trouble => Self::Failed(trouble.reason().to_owned()),
        }
    }
}

impl PostgresImport {
    /// Begins an import into an empty database, or with `merge` into any. Events cannot be read there until it ends.
    ///
    /// # Errors
    /// If the database cannot be used, or is not empty.
    pub async fn begin(address: &PostgresAddress, merge: bool) -> Result<Self, ImportError> {
        let health = Arc::new(Health::default());
        let pool = pool::pool(address, PostgresOptions { connections: 1, ..PostgresOptions::default() }, &health)?;
        let session = Session::get(&pool).await.map_err(|trouble| match health.fatal() {
            Some(problem) => ImportError::Database(problem),
            None => trouble.into(),
        })?;
        session.begin().await?;
        let empty = session.row(sql::IS_EMPTY, &[]).await?;
        if !merge && !empty.is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Err(ImportError::NotEmpty { place: format!("at {address}") });
        }
        let last = last(&session).await?;
        let numbered = session.run(sql::NUMBER_EVENTS, &[&last, &i64::MAX]).await?;
        let last = last + i64::try_from(numbered).unwrap_or(0);
        let (own, kept) = (Own::default(), HashSet::new());
        Ok(Self { session, merge, waiting: Vec::with_capacity(GROUP), own, kept, last, done: Imported::default() })
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// `Earlier` if this one or one before it does not fit, `Failed` if the database failed. The import cannot go on then.
    pub async fn add(&mut self, record: Record) -> Result<(), ImportError> {
        self.waiting.push(record);
        if self.waiting.len() >= GROUP { self.write().await } else { Ok(()) }
    }

    /// Makes everything durable and ends the import.
    ///
    /// # Errors
    /// As [`Self::add`]; nothing was imported then.
    pub async fn finish(mut self) -> Result<Imported, ImportError> {
        self.write().await?;
        self.session.run(sql::SET_COUNTER, &[&self.last]).await?;
        self.session.commit().await?;
        Ok(self.done)
    }

    /// Writes what waits. Partners, keys and applications refer to nothing but each other, and go first.
    async fn write(&mut self) -> Result<(), ImportError> {
        let records = std::mem::take(&mut self.waiting);
        let count = records.len();
        let at = |n: usize| {
            move |error| match error {
                ImportError::Record(problem) => ImportError::Earlier { problem, back: (count - 1 - n) as u64 },
                error => error,
            }
        };
        for (n, record) in records.iter().enumerate() {
            let added = match record {
                Record::Partner { partner, .. } => self.partner(partner).await,
                Record::Key { key, .. } => self.key(key).await,
                Record::Application { id, partner, .. } => self.application(*id, *partner).await,
                _ => continue,
            };
            self.count(added.map_err(at(n))?);
        }
        let owners = self.owners(&records).await?;
        let (mut offers, mut buyers) = (Vec::new(), Vec::new());
        for record in &records {
            match record {
                Record::OfferTerms { application, offer, .. } => {
                    offers.extend(owners.get(application).map(|owner| (*owner, *application, *offer)));
                }
                Record::OfferCreated { event, .. }
                | Record::OfferMoved { event }
                | Record::BuyerCreated { event, .. } => match event.subject {
                    Subject::Offer { application, offer, .. } => offers.push((event.partner, application, offer)),
                    Subject::Buyer(buyer) => buyers.push((event.partner, buyer)),
                },
                _ => {}
            }
        }
        offers.sort_unstable();
        offers.dedup();
        let order = Order::default();
        let mut stage = Stage::load(&self.session, &order, &offers, &buyers).await?;
        for (n, record) in records.into_iter().enumerate() {
            let added = match record {
                Record::Partner { .. } | Record::Key { .. } | Record::Application { .. } => continue,
                Record::OfferCreated { event, terms } => self.offer(&mut stage, &owners, event, terms),
                Record::OfferTerms { application, offer, terms, .. } => {
                    self.terms(&mut stage, owners.get(&application).map(|owner| (*owner, application, offer)), terms)
                }
                Record::OfferMoved { event } => self.moved(&mut stage, event),
                Record::BuyerCreated { event, description, fingerprint } => {
                    let Subject::Buyer(id) = event.subject else { return Err(at(n)(MISMATCH)) };
                    if stage.buyer(&(event.partner, id)).is_some() {
                        self.there_before()
                    } else {
                        let event = self.numbered(event);
                        stage.create_buyer(event, description, fingerprint, id);
                        Ok(true)
                    }
                }
                Record::KeyUsed { key, at } => self.used(key, at).await,
            };
            self.count(added.map_err(at(n))?);
        }
        Ok(stage.write(&self.session).await?)
    }

    const fn count(&mut self, added: bool) {
        if added { self.done.added += 1 } else { self.done.kept += 1 }
    }

    fn there_before(&self) -> Result<bool, ImportError> {
        if self.merge { Ok(false) } else { Err(ImportError::Record("its subject is there already")) }
    }

    /// An event keeps its number, unless that is taken.
    fn numbered(&mut self, event: Event) -> Event {
        let own = i64::try_from(event.sequence).ok().filter(|own| !self.merge && *own > self.last);
        self.last = own.unwrap_or(self.last + 1);
        Event { sequence: u64::try_from(self.last).unwrap_or_default(), ..event }
    }

    /// Whose the applications are that records speak of.
    async fn owners(&self, records: &[Record]) -> Result<HashMap<ApplicationId, PartnerId>, ImportError> {
        let named: HashSet<Uuid> = records
            .iter()
            .filter_map(|record| match record {
                Record::OfferTerms { application, .. } => Some(application.uuid()),
                Record::OfferCreated { event: Event { subject: Subject::Offer { application, .. }, .. }, .. } => {
                    Some(application.uuid())
                }
                _ => None,
            })
            .collect();
        let named: Vec<_> = named.into_iter().collect();
        let mut owners = HashMap::new();
        for row in self.session.rows(sql::OWNERS, &[&named]).await? {
            let id = |column| row.try_get(column).map_err(Trouble::from);
            owners.insert(ApplicationId::new(id(0)?), PartnerId::new(id(1)?));
        }
        Ok(owners)
    }

    async fn partner(&mut self, partner: &Partner) -> Result<bool, ImportError> {
        let id = partner.id.uuid();
        if !self.own.partners.contains_key(&partner.id)
            && self.session.row(sql::PARTNER_IS_THERE, &[&id]).await?.is_some()
        {
            return self.there_before();
        }
        let before = self.own.partners.insert(partner.id, partner.oauth_client_id.clone()).flatten();
        if let Some(client) = before {
            self.session.run(sql::DELETE_CLIENT, &[&kept(&client), &id]).await?;
        }
        if let Some(client) = &partner.oauth_client_id
            && self.session.run(sql::INSERT_CLIENT, &[&kept(client), &id]).await? == 0
        {
            return Err(ImportError::Record("another partner has its client id"));
        }
        write_partner(&self.session, partner).await?;
        Ok(true)
    }

    async fn key(&mut self, key: &KeyRecord) -> Result<bool, ImportError> {
        if self.own.keys.contains(&(key.partner, key.id)) {
            write_key(&self.session, sql::UPDATE_KEY, key).await?;
            return Ok(true);
        }
        if self.session.row(sql::PARTNER_IS_THERE, &[&key.partner.uuid()]).await?.is_none() {
            return Err(ImportError::Record("its partner is not there"));
        }
        let taken = self.session.row(sql::FIND_KEY, &[&key.hash.to_bytes().as_slice()]).await?.is_some();
        if taken || write_key(&self.session, sql::INSERT_KEY, key).await? == 0 {
            return self.there_before();
        }
        self.own.keys.insert((key.partner, key.id));
        self.own.hashes.insert(key.hash);
        Ok(true)
    }

    async fn application(&self, id: ApplicationId, partner: PartnerId) -> Result<bool, ImportError> {
        if self.session.run(sql::INSERT_APPLICATION, &[&id.uuid(), &partner.uuid()]).await? == 1 {
            return Ok(true);
        }
        if self.session.row(sql::PARTNER_IS_THERE, &[&partner.uuid()]).await?.is_none() {
            return Err(ImportError::Record("its partner is not there"));
        }
        self.there_before()
    }

    fn offer(
        &mut self,
        stage: &mut Stage<'_>,
        owners: &HashMap<ApplicationId, PartnerId>,
        event: Event,
        terms: Terms,
    ) -> Result<bool, ImportError> {
        let Subject::Offer { application, offer, status: Status::Offered } = event.subject else {
            return Err(MISMATCH);
        };
        match owners.get(&application) {
            None => return Err(ImportError::Record("its application is not there")),
            Some(owner) if *owner != event.partner => {
                return Err(ImportError::Record("its application belongs to another partner"));
            }
            Some(_) => {}
        }
        let (partner, status_changed_at) = (event.partner, event.occurred_at);
        let key = (partner, application, offer);
        if stage.offer(&key).is_some() {
            if self.merge {
                self.kept.insert(key);
            }
            return self.there_before();
        }
        let offer = Offer { id: offer, application, partner, terms, status: Status::Offered, status_changed_at };
        let event = self.numbered(event);
        stage.create_offer(event, offer);
        Ok(true)
    }

    fn terms(
        &self,
        stage: &mut Stage<'_>,
        key: Option<(PartnerId, ApplicationId, OfferId)>,
        terms: Terms,
    ) -> Result<bool, ImportError> {
        let absent = ImportError::Record("its offer is not there");
        let Some(key) = key else { return Err(absent) };
        if self.kept.contains(&key) {
            return self.there_before();
        }
        match stage.offer(&key) {
            None => Err(absent),
            Some(offer) if offer.status != Status::Offered => {
                Err(ImportError::Record("its offer is no longer Offered"))
            }
            Some(_) => {
                stage.replace_terms(&key, terms);
                Ok(true)
            }
        }
    }

    fn moved(&mut self, stage: &mut Stage<'_>, event: Event) -> Result<bool, ImportError> {
        let Subject::Offer { application, offer, status } = event.subject else { return Err(MISMATCH) };
        let key = (event.partner, application, offer);
        if self.kept.contains(&key) {
            return self.there_before();
        }
        let Some(offer) = stage.offer(&key) else { return Err(ImportError::Record("its offer is not there")) };
        if !offer.status.successors().contains(&status) {
            return Err(ImportError::Record("its offer cannot come to this status from the one that it has"));
        }
        let change = Change { status, at: event.occurred_at };
        let event = self.numbered(event);
        stage.move_offer(&key, change, event);
        Ok(true)
    }

    async fn used(&self, key: KeyHash, at: Timestamp) -> Result<bool, ImportError> {
        if !self.own.hashes.contains(&key) {
            return self.there_before();
        }
        self.session.run(sql::USE_KEY, &[&key.to_bytes().as_slice(), &at]).await?;
        Ok(true)
    }
}
