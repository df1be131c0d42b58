//! What reads see: the log up to its published end, and the index over it. Only the writer and recovery apply changes.

use super::expired::{LastExpired, only_expired};
use super::index::{BuyerValue, Index, OfferValue, Table, buyer_key, offer_key, pair, unsealed};
use super::log::disk::LogIo;
use super::log::{FIRST, Head, LogFile, Place, ReadError};
use super::panics;
use super::problem::Problem;
use crate::codec::{self, CodecError};
use crate::records::{KeyRow, PartnerRecord, Time, WebhookRecord};
use lendpay_domain::buyer::Description;
use lendpay_domain::change::Change;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::offer::Terms;
use lendpay_domain::partner::Partner;
use lendpay_domain::view::{Found, Remembered, StoredBuyer, StoredOffer, Tables, View, ViewError};
use lendpay_domain::webhook::Webhook;
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The version of the index: an index that has another one is rebuilt. To be raised with every change of what a table
/// holds, and of what an event is or is looked for by, which filters hold.
pub(super) const LAYOUT: u32 = 6;

/// The key of the note that says how far the index has come.
const REACHED: &[u8] = b"reached";

/// That note.
#[derive(Serialize, Deserialize)]
struct Reached {
    layout: u32,
    /// The salt of the log that the index is over.
    salt: u64,
    /// Up to where in the log the index is complete, at least. What comes before it is durable in the log.
    end: u64,
}

/// The least distance between two frames whose positions are noted. A reader reads about so much to find a sequence.
const NOTED: u64 = 64 * 1024;

/// Partners, keys and their uses, which every request asks for, and endpoints of webhooks. They are few and kept in
/// memory too.
type Parties = Tables<(), ()>;

/// The log and its index.
pub(crate) struct Base<I, F> {
    pub(crate) log: Arc<LogFile<F>>,
    pub(crate) index: I,
    parties: RwLock<Parties>,
    pub(super) last_expired: LastExpired,
    /// The position of the last frame that was noted.
    noted: AtomicU64,
}

/// The changes of a group, or of a part of the log, on top of what is published.
pub(crate) type Overlay<I, F> = lendpay_domain::view::Overlay<Remembered<Arc<Base<I, F>>>>;

/// Up to where in the log an index is complete, at least; `None` if it is empty.
pub(crate) fn reached(index: &impl Index, head: &Head) -> Result<Option<u64>, Problem> {
    let Some(note) = index.get(Table::Notes, REACHED)? else { return Ok(None) };
    let note: Reached = whole(unsealed(&note))?;
    if (note.layout, note.salt) != (LAYOUT, head.salt) {
        return Err(Problem::index("it is of another version, or of another log"));
    }
    Ok(Some(note.end))
}

impl<I: Index, F: LogIo> Base<I, F> {
    /// Reads partners, keys and their uses, and endpoints, into memory.
    pub(crate) fn open(log: Arc<LogFile<F>>, index: I) -> Result<Self, Problem> {
        let mut parties = Parties::default();
        for item in index.all(Table::Partners) {
            parties.put_partner(whole(unsealed::<PartnerRecord<'_>>(&item?.1).and_then(Partner::try_from))?);
        }
        for item in index.all(Table::Keys) {
            parties.put_key(whole(unsealed::<KeyRow<'_>>(&item?.1).and_then(KeyRecord::try_from))?);
        }
        for item in index.all(Table::Uses) {
            let (key, at) = item?;
            let hash = whole(key.as_ref().try_into().map_err(|_| CodecError::Damaged))?;
            let at = whole(unsealed::<Time>(&at).and_then(Timestamp::try_from))?;
            parties.uses.insert(KeyHash::from_bytes(hash), at);
        }
        for item in index.all(Table::Webhooks) {
            let webhook = whole(unsealed::<WebhookRecord<'_>>(&item?.1).and_then(Webhook::try_from))?;
            parties.webhooks.insert(webhook.endpoint.id, webhook);
        }
        let last_expired = LastExpired::read(&index)?;
        Ok(Self { log, index, parties: RwLock::new(parties), last_expired, noted: AtomicU64::new(0) })
    }

    /// Applies changes that are durable in the log, and were made at `from` in it and later, to the index, and empties
    /// their tables.
    pub(crate) fn apply(&self, Overlay { base: below, tables }: &mut Overlay<I, F>, from: u64) -> Result<(), Problem> {
        below.forget();
        self.put_all(&tables.offers, |value, (application, offer), stored| {
            if only_expired(stored, from) {
                return Ok(());
            }
            self.put(value, Table::Offers, &offer_key(*application, *offer), &OfferValue::from(stored))
        })?;
        self.put_expired(&tables.offers, from)?;
        self.put_due(&tables.offers)?;
        self.put_all(&tables.buyers, |value, (partner, id), stored| {
            self.put(value, Table::Buyers, &buyer_key(*partner, *id), &stored.description)
        })?;
        self.put_all(&tables.applications, |value, id, owner| {
            self.put(value, Table::Applications, &id.to_bytes(), &owner.to_bytes())?;
            self.put(value, Table::ApplicationsOf, &pair(owner.to_bytes(), id.to_bytes()), &())
        })?;
        let Tables { partners, keys, uses, webhooks, .. } = &*tables;
        if !(partners.is_empty() && keys.is_empty() && uses.is_empty() && webhooks.is_empty()) {
            let (mut parties, value) = (self.parties_mut(), &mut Vec::new());
            for partner in partners.values() {
                self.put(value, Table::Partners, &partner.id.to_bytes(), &PartnerRecord::from(partner))?;
                parties.put_partner(partner.clone());
            }
            for key in keys.values() {
                self.put(value, Table::Keys, &key.hash.to_bytes(), &KeyRow::from(key))?;
                parties.put_key(key.clone());
            }
            for (hash, at) in uses {
                self.put(value, Table::Uses, &hash.to_bytes(), &Time::from(*at))?;
                parties.uses.insert(*hash, *at);
            }
            for (id, webhook) in webhooks {
                self.put(value, Table::Webhooks, &id.to_bytes(), &WebhookRecord::from(webhook))?;
                parties.webhooks.insert(*id, webhook.clone());
            }
        }
        tables.clear();
        Ok(())
    }

    /// Sets values with `put`, sorted by key: an ordered index inserts them faster then. Two threads share the work if
    /// there is much of it, as when the index is rebuilt.
    fn put_all<K: Ord + Sync, V: Sync>(
        &self,
        values: &HashMap<K, V>,
        put: impl Fn(&mut Vec<u8>, &K, &V) -> Result<(), Problem> + Sync,
    ) -> Result<(), Problem> {
        /// More than a group of commands has.
        const MUCH: usize = 10_000;
        let mut items: Vec<_> = values.iter().collect();
        items.sort_unstable_by_key(|(key, _)| *key);
        let put_part = |items: &[(&K, &V)]| {
            let buffer = &mut Vec::new();
            items.iter().try_for_each(|(key, value)| put(buffer, key, value))
        };
        if items.len() < MUCH {
            return put_part(&items);
        }
        let (low, high) = items.split_at(items.len() / 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| panics::caught(|| put_part(high)));
            put_part(low)?;
            other.join().expect("its panics are caught")
        })
    }

    /// Sets a value of the index. `buffer` is for its bytes.
    pub(super) fn put(
        &self,
        buffer: &mut Vec<u8>,
        table: Table,
        key: &[u8],
        value: &impl Serialize,
    ) -> Result<(), Problem> {
        buffer.clear();
        codec::seal(value, buffer).expect("a value of the index is shorter than the entries that it comes from");
        self.index.insert(table, key, buffer)
    }

    /// Notes where a frame begins, if it is far enough from the last one that was noted.
    pub(crate) fn note_frame(&self, sequence: u64, at: u64) -> Result<(), Problem> {
        if at >= self.noted.load(Ordering::Relaxed) + NOTED {
            self.index.insert(Table::Frames, &sequence.to_be_bytes(), &at.to_be_bytes())?;
            self.noted.store(at, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Where to look for a sequence: its frame does not begin before this.
    pub(crate) fn frame_of(&self, sequence: u64) -> Result<u64, Problem> {
        let key = sequence.to_be_bytes();
        let mut noted = self.index.range(Table::Frames, Bound::Unbounded, Bound::Included(&key));
        let Some(noted) = noted.next_back().transpose()? else { return Ok(FIRST) };
        whole(noted.1.as_ref().try_into().map_err(|_| CodecError::Damaged)).map(u64::from_be_bytes)
    }

    /// Notes up to where in the log the index is complete. The log is durable up to there.
    pub(crate) fn note_reached(&self, end: u64) -> Result<(), Problem> {
        let note = Reached { layout: LAYOUT, salt: self.log.head.salt, end };
        self.put(&mut Vec::new(), Table::Notes, REACHED, &note)
    }

    /// What is kept in memory.
    pub(crate) fn parties(&self) -> RwLockReadGuard<'_, Parties> {
        self.parties.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn parties_mut(&self) -> RwLockWriteGuard<'_, Parties> {
        self.parties.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a table holds at a key.
    pub(super) fn found<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&I::Bytes) -> Result<T, CodecError>,
    ) -> Found<T> {
        let value = self.index.get(table, key).map_err(|error| failed(&error))?;
        value.map(|value| read(&value).map_err(|_| self.corrupt(table, key))).transpose()
    }

    /// Notes that a record cannot be read.
    pub(crate) fn corrupt(&self, table: Table, key: &[u8]) -> ViewError {
        self.log.damage.note_index(table.name(), &table.shown(key));
        ViewError::Corrupt
    }

    /// What `wanted` takes from the change at a place, to which the index refers at a key.
    fn change<T>(
        &self,
        table: Table,
        key: &[u8],
        place: Place,
        wanted: impl FnOnce(Change) -> Option<T>,
    ) -> Result<T, ViewError> {
        match self.log.change(place) {
            Ok(change) => wanted(change).ok_or_else(|| self.corrupt(table, key)),
            Err(ReadError::Damaged) => Err(self.corrupt(table, key)),
            Err(ReadError::Io(error)) => Err(failed(&error.into())),
        }
    }

    /// The terms of an offer, which are at a place in the log.
    pub(crate) fn terms(&self, application: ApplicationId, id: OfferId, place: Place) -> Result<Terms, ViewError> {
        self.change(Table::Offers, &offer_key(application, id), place, |change| match change {
            Change::OfferCreated { offer, terms, .. } | Change::TermsReplaced { offer, terms, .. }
                if (offer.application, offer.offer) == (application, id) =>
            {
                Some(terms)
            }
            _ => None,
        })
    }

    /// The terms that an offer has, and where they are in the log.
    pub(crate) fn terms_of(&self, application: ApplicationId, id: OfferId) -> Found<(Place, Terms)> {
        let Some(StoredOffer { terms: place, .. }) = self.offer(application, id)? else { return Ok(None) };
        Ok(Some((place, self.terms(application, id, place)?)))
    }

    /// The buyer whose creation is at a place in the log.
    pub(crate) fn buyer_at(
        &self,
        partner: PartnerId,
        id: BuyerId,
        place: Place,
    ) -> Result<StoredBuyer<Description>, ViewError> {
        self.change(Table::Buyers, &buyer_key(partner, id), place, |change| match change {
            Change::BuyerCreated { partner: owner, buyer, description, fingerprint, at }
                if (owner, buyer) == (partner, id) =>
            {
                let description = Arc::unwrap_or_clone(description);
                Some(StoredBuyer { partner, fingerprint, created_at: at, description })
            }
            _ => None,
        })
    }

    /// A buyer, and what the index holds of it.
    pub(crate) fn find_buyer(&self, partner: PartnerId, id: BuyerId) -> Found<(StoredBuyer<Description>, BuyerValue)> {
        let value = self.found(Table::Buyers, &buyer_key(partner, id), |value| unsealed::<BuyerValue>(value))?;
        value.map(|value| Ok((self.buyer_at(partner, id, value.place)?, value))).transpose()
    }
}

/// For values that are read when the index is opened: one that cannot be read makes the index unusable.
pub(super) fn whole<T>(read: Result<T, CodecError>) -> Result<T, Problem> {
    read.map_err(|_| Problem::index("a value cannot be read"))
}

fn failed(error: &Problem) -> ViewError {
    tracing::error!(%error, "a look-up failed");
    ViewError::Failed
}

impl<I: Index, F: LogIo> View for Base<I, F> {
    type Terms = Place;
    type Buyer = BuyerValue;

    fn partner(&self, id: PartnerId) -> Found<Partner> {
        Ok(self.parties().partners.get(&id).cloned())
    }

    fn client(&self, client: &str) -> Found<PartnerId> {
        Ok(self.parties().client(client))
    }

    fn key(&self, partner: PartnerId, key: KeyId) -> Found<KeyRecord> {
        Ok(self.parties().keys.get(&(partner, key)).cloned())
    }

    fn key_with_hash(&self, hash: KeyHash) -> Found<(PartnerId, KeyId)> {
        Ok(self.parties().key_with_hash(hash).map(|key| (key.partner, key.id)))
    }

    fn key_used(&self, hash: KeyHash) -> Found<Timestamp> {
        Ok(self.parties().uses.get(&hash).copied())
    }

    fn application(&self, id: ApplicationId) -> Found<PartnerId> {
        self.found(Table::Applications, &id.to_bytes(), |value| unsealed(value).map(PartnerId::from_bytes))
    }

    fn offer(&self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<Place>> {
        let key = offer_key(application, offer);
        let value = self.index.get(Table::Offers, &key).map_err(|error| failed(&error))?;
        value.map(|value| self.stored_offer(&key, &value)).transpose()
    }

    fn buyer(&self, partner: PartnerId, id: BuyerId) -> Found<StoredBuyer<BuyerValue>> {
        let found = self.find_buyer(partner, id)?;
        Ok(found.map(|(StoredBuyer { partner, fingerprint, created_at, .. }, description)| StoredBuyer {
            partner,
            fingerprint,
            created_at,
            description,
        }))
    }

    fn webhook(&self, id: EndpointId) -> Found<Webhook> {
        Ok(self.parties().webhooks.get(&id).cloned())
    }
}
