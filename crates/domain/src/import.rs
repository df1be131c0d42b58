//! Which records an import accepts.
//!
//! Structure, references, uniqueness, order and life cycle are checked, and whether a record can be stored. Two kinds
//! of rules reject nothing: those about the moment (a key that has expired since), and those about values that a
//! setting relaxes or that are newer than the record. The import counts the records that break them, so that the
//! operator can be warned.

use crate::buyer::Description;
use crate::buyer_checks::{self, BuyerChecks};
use crate::change::{Change, OfferKey, Record};
use crate::command::Reads;
use crate::key::{KeyHash, KeyRecord};
use crate::offer::Status;
use crate::partner::Partner;
use crate::view::{StoredOffer, View, ViewError};
use crate::webhook::progress::ASIDE;
use crate::webhook::{Endpoint, Noted, Step, Webhook};
use crate::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};
use std::collections::HashSet;

/// Sequences are below this.
pub const SEQUENCE_LIMIT: u64 = 1 << 63;

/// The most bytes of text that a buyer may hold. More than a request can bring.
pub const TEXT_LIMIT: usize = 96 * 1024;

/// What an import does with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// It is added, with this sequence if it keeps its own.
    Add {
        /// The sequence of the record.
        sequence: Option<u64>,
    },
    /// Its subject existed before the import and stays as it is.
    Keep,
}

/// Why a record is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmitError {
    /// A look-up has no answer.
    View(ViewError),
    /// The record does not fit. Says why, without quoting it.
    Rejected(&'static str),
}

impl From<ViewError> for AdmitError {
    fn from(error: ViewError) -> Self {
        Self::View(error)
    }
}

/// What an import did, and what the operator should know about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Records that were added.
    pub added: u64,
    /// Records about what existed before the import, which stays as it is.
    pub kept: u64,
    /// Added keys that have expired.
    pub expired_keys: u64,
    /// Added buyers that a request could not create today.
    pub unchecked_buyers: u64,
}

/// An import that is under way. Remembers ids, never values.
#[derive(Debug)]
pub struct Admission {
    merge: bool,
    now: Timestamp,
    /// The sequence of the last record that had one.
    last: u64,
    /// What this import has added: its later records may change it.
    partners: HashSet<PartnerId>,
    keys: HashSet<(PartnerId, KeyId)>,
    hashes: HashSet<KeyHash>,
    /// With `merge` only: without it, every offer is one that this import has added.
    offers: HashSet<(ApplicationId, OfferId)>,
    /// Likewise.
    buyers: HashSet<(PartnerId, BuyerId)>,
    endpoints: HashSet<EndpointId>,
    done: Imported,
}

type Admit = Result<bool, AdmitError>;

const REPEATED: Admit = Err(AdmitError::Rejected("its subject is there already"));

const NO_ENDPOINT: Admit = Err(AdmitError::Rejected("its endpoint is not there"));

fn reject(why: &'static str) -> Admit {
    Err(AdmitError::Rejected(why))
}

impl Admission {
    /// An import at the moment `now`: into an empty store, or with `merge` into any, where nothing that exists is
    /// changed.
    pub fn new(merge: bool, now: Timestamp) -> Self {
        Self {
            merge,
            now,
            last: 0,
            partners: HashSet::new(),
            keys: HashSet::new(),
            hashes: HashSet::new(),
            offers: HashSet::new(),
            buyers: HashSet::new(),
            endpoints: HashSet::new(),
            done: Imported::default(),
        }
    }

    /// What the import did so far.
    pub const fn done(&self) -> Imported {
        self.done
    }

    /// Judges a record against what is stored, the records before it included.
    ///
    /// # Errors
    /// If the record does not fit, or a look-up has no answer.
    pub fn admit<V: View>(&mut self, record: &Record, view: &V) -> Result<Admitted, AdmitError> {
        self.in_order(record)?;
        let add = match &record.change {
            Change::PartnerPut(partner) => self.partner(partner, view),
            Change::KeyAdded(key) => self.key(key, view),
            Change::KeyRevoked { partner, key, .. } => self.end_of_key((*partner, *key), None, view),
            Change::KeyExpirySet { partner, key, at } => self.end_of_key((*partner, *key), Some(*at), view),
            Change::KeyUsed { key, .. } => match view.key_with_hash(*key)? {
                None => reject("its key is not there"),
                Some(_) => self.added_before(self.hashes.contains(key)),
            },
            Change::ApplicationPut { application, partner } => match view.application(*application)? {
                Some(_) => self.there_before(),
                None => has_partner(*partner, view),
            },
            Change::OfferCreated { offer, .. } => self.offer(offer, view),
            Change::TermsReplaced { offer, .. } => self.later(offer, view, |stored| {
                let fits = stored.standing.status == Status::Offered;
                if fits { Ok(true) } else { reject("its offer is no longer Offered") }
            }),
            Change::OfferMoved { offer, status, .. } => self.later(offer, view, |stored| {
                let fits = stored.standing.may_become(*status);
                if fits { Ok(true) } else { reject("its offer cannot come to this status from the one that it has") }
            }),
            Change::BuyerCreated { partner, buyer, description, .. } => match view.buyer(*partner, *buyer)? {
                Some(_) => self.there_before(),
                None => self.buyer((*partner, *buyer), description, view),
            },
            Change::BuyerRead { partner, buyer } => match view.buyer(*partner, *buyer)? {
                Some(_) => self.added_before(!self.merge || self.buyers.contains(&(*partner, *buyer))),
                None => reject("its buyer is not there"),
            },
            Change::EndpointPut { endpoint, step } => self.endpoint(endpoint, *step, view),
            Change::DeliveriesNoted(all) => self.progress(all, view),
        }?;
        if !add {
            self.done.kept += 1;
            return Ok(Admitted::Keep);
        }
        self.done.added += 1;
        Ok(Admitted::Add { sequence: record.sequence.filter(|_| !self.merge) })
    }

    fn in_order(&mut self, record: &Record) -> Result<(), AdmitError> {
        let cause_is_missing = record.cause.is_none() && record.change.always_has_cause();
        if cause_is_missing || record.subject().is_some() && record.sequence.is_none() {
            return Err(AdmitError::Rejected("its event is missing"));
        }
        if record.cause.zip(record.change.at()).is_some_and(|(cause, at)| cause.at != at) {
            return Err(AdmitError::Rejected("its event is of another time"));
        }
        let Some(sequence) = record.sequence else { return Ok(()) };
        if sequence >= SEQUENCE_LIMIT {
            return Err(AdmitError::Rejected("its sequence is too large"));
        }
        if sequence <= self.last {
            return Err(AdmitError::Rejected("its sequence is not greater than before"));
        }
        self.last = sequence;
        Ok(())
    }

    /// For the first record of a subject that exists already.
    const fn there_before(&self) -> Admit {
        if self.merge { Ok(false) } else { REPEATED }
    }

    /// For a later record of a subject: a subject that this import has not added stays as it was.
    const fn added_before(&self, own: bool) -> Admit {
        if own { Ok(true) } else { self.there_before() }
    }

    fn partner<V: View>(&mut self, partner: &Partner, view: &V) -> Admit {
        if !self.partners.contains(&partner.id) && view.partner(partner.id)?.is_some() {
            return self.there_before();
        }
        if let Some(client) = &partner.oauth_client_id
            && view.client(client)?.is_some_and(|owner| owner != partner.id)
        {
            return reject("another partner has its client id");
        }
        self.partners.insert(partner.id);
        Ok(true)
    }

    /// A new key, or later values of a key that this import has added.
    fn key<V: View>(&mut self, key: &KeyRecord, view: &V) -> Admit {
        has_partner(key.partner, view)?;
        let name = (key.partner, key.id);
        match (view.key(name.0, name.1)?, view.key_with_hash(key.hash)?) {
            (Some(old), _) if old.hash != key.hash => return reject("another key has its id"),
            (None, Some(_)) => return reject("another key has its hash"),
            (Some(_), _) if !self.keys.contains(&name) => return self.there_before(),
            (Some(_) | None, _) => {}
        }
        self.keys.insert(name);
        self.hashes.insert(key.hash);
        self.done.expired_keys += u64::from(key.expires_at.is_some_and(|end| end <= self.now));
        Ok(true)
    }

    /// A revocation of a key, or an expiry that it got later.
    fn end_of_key<V: View>(&mut self, key: (PartnerId, KeyId), expiry: Option<Timestamp>, view: &V) -> Admit {
        let Some(record) = view.key(key.0, key.1)? else { return reject("its key is not there") };
        let own = self.keys.contains(&key);
        let has_expired = |end: Option<Timestamp>| end.is_some_and(|end| end <= self.now);
        self.done.expired_keys += u64::from(own && has_expired(expiry) && !has_expired(record.expires_at));
        self.added_before(own)
    }

    fn offer<V: View>(&mut self, offer: &OfferKey, view: &V) -> Admit {
        match view.application(offer.application)? {
            None => return reject("its application is not there"),
            Some(owner) if owner != offer.partner => return reject("its application belongs to another partner"),
            Some(_) => {}
        }
        if view.offer(offer.application, offer.offer)?.is_some() {
            return self.there_before();
        }
        if self.merge {
            self.offers.insert((offer.application, offer.offer));
        }
        Ok(true)
    }

    /// A change of an offer after its creation.
    fn later<V: View>(&self, offer: &OfferKey, view: &V, fits: impl FnOnce(&StoredOffer<V::Terms>) -> Admit) -> Admit {
        let own = !self.merge || self.offers.contains(&(offer.application, offer.offer));
        match view.offer(offer.application, offer.offer)? {
            None => reject("its offer is not there"),
            Some(stored) if stored.partner != offer.partner => reject("its offer belongs to another partner"),
            Some(_) if !own => Ok(false),
            Some(stored) => fits(&stored),
        }
    }

    fn buyer<V: View>(&mut self, name: (PartnerId, BuyerId), description: &Description, view: &V) -> Admit {
        has_partner(name.0, view)?;
        if description.texts().map(str::len).sum::<usize>() > TEXT_LIMIT {
            return reject("it holds more text than can be stored");
        }
        if self.merge {
            self.buyers.insert(name);
        }
        self.done.unchecked_buyers += u64::from(buyer_checks::check(description.clone(), BuyerChecks::Full).is_err());
        Ok(true)
    }

    /// A new endpoint, or later values of one that this import has added.
    fn endpoint<V: View>(&mut self, endpoint: &Endpoint, step: Step, view: &V) -> Admit {
        if let Some(partner) = endpoint.owner.partner() {
            has_partner(partner, view)?;
        }
        match view.webhook(endpoint.id)? {
            Some(before) if before.endpoint.owner != endpoint.owner => reject("its endpoint has another owner"),
            Some(before) if self.endpoints.contains(&endpoint.id) => {
                if before.there().is_some() {
                    Ok(true)
                } else {
                    NO_ENDPOINT
                }
            }
            Some(_) => self.there_before(),
            None if step != Step::Created => NO_ENDPOINT,
            None => {
                self.endpoints.insert(endpoint.id);
                Ok(true)
            }
        }
    }

    /// The progress of deliveries. A merge gives other sequences, so that progress of another store means nothing
    /// there.
    fn progress<V: View>(&self, all: &[Noted], view: &V) -> Admit {
        for noted in all {
            if noted.cursor >= SEQUENCE_LIMIT {
                return reject("its cursor is too large");
            }
            let Some(Webhook { progress, .. }) = view.webhook(noted.endpoint)? else { return NO_ENDPOINT };
            let mut progress = progress.filter(|_| !self.merge).unwrap_or_default();
            progress.note(noted);
            if progress.aside.len() > ASIDE {
                return reject("more events are set aside than can be");
            }
        }
        if Noted::fit(all) { Ok(!self.merge) } else { reject("it holds more than can be stored") }
    }
}

/// Adds the keys that admitting a record and applying its change look at.
pub fn reads_of(change: &Change, reads: &mut Reads) {
    match change {
        Change::PartnerPut(partner) => {
            reads.partners.push(partner.id);
            reads.clients.extend(partner.oauth_client_id.clone());
        }
        Change::KeyAdded(key) => {
            reads.partners.push(key.partner);
            reads.keys.push((key.partner, key.id));
            reads.hashes.push(key.hash);
        }
        Change::KeyRevoked { partner, key, .. } | Change::KeyExpirySet { partner, key, .. } => {
            reads.keys.push((*partner, *key));
        }
        Change::KeyUsed { key, .. } => reads.hashes.push(*key),
        Change::ApplicationPut { application, partner } => {
            reads.partners.push(*partner);
            reads.applications.push(*application);
        }
        Change::OfferCreated { offer, .. } | Change::TermsReplaced { offer, .. } | Change::OfferMoved { offer, .. } => {
            let OfferKey { application, offer, .. } = *offer;
            reads.applications.push(application);
            reads.owned_offers.push((application, offer));
        }
        Change::BuyerCreated { partner, buyer, .. } | Change::BuyerRead { partner, buyer } => {
            reads.partners.push(*partner);
            reads.buyers.push((*partner, *buyer));
        }
        Change::EndpointPut { endpoint, .. } => {
            reads.partners.extend(endpoint.owner.partner());
            reads.endpoints.push(endpoint.id);
        }
        Change::DeliveriesNoted(all) => reads.endpoints.extend(all.iter().map(|noted| noted.endpoint)),
    }
}

fn has_partner<V: View>(id: PartnerId, view: &V) -> Admit {
    if view.partner(id)?.is_some() { Ok(true) } else { reject("its partner is not there") }
}

#[cfg(test)]
mod tests;
