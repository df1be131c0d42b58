//! What reads see: the log up to its published end, and the index over it. Only the writer and recovery apply changes.

use super::index::{Index, IndexError, OfferValue, Table, offer_key, unsealed};
use super::log::disk::LogIo;
use super::log::{LogFile, Place, ReadError};
use crate::codec::{self, CodecError};
use crate::records::{KeyRow, PartnerRecord, Time};
use lendpay_domain::change::Change;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::partner::Partner;
use lendpay_domain::view::{Found, StoredBuyer, StoredOffer, Tables, View, ViewError};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The name of the note that says up to where in the log the index is complete, at least.
const REACHED: &[u8] = b"reached";
/// The name of the note that says in which history the log is.
const HISTORY: &[u8] = b"history";

/// The least distance between two frames whose positions are noted. A reader reads about so much to find a sequence.
const NOTED: u64 = 64 * 1024;

/// Partners, keys and their uses. They are few, asked for by every request, and kept in memory too.
type Parties = Tables<(), ()>;

/// The log and its index.
pub(crate) struct Base<I, F> {
    pub(crate) log: Arc<LogFile<F>>,
    pub(crate) index: I,
    parties: RwLock<Parties>,
    /// The position of the last frame that was noted.
    noted: AtomicU64,
}

/// The changes of a group, or of a part of the log, on top of what is published.
pub(crate) type Overlay<I, F> = lendpay_domain::view::Overlay<Arc<Base<I, F>>>;

impl<I: Index, F: LogIo> Base<I, F> {
    /// Reads partners, keys and their uses into memory.
    pub(crate) fn open(log: Arc<LogFile<F>>, index: I) -> Result<Self, IndexError> {
        let mut parties = Parties::default();
        let all = |table| index.range(table, Bound::Unbounded, Bound::Unbounded);
        for item in all(Table::Partners) {
            parties.put_partner(whole(unsealed::<PartnerRecord<'_>>(&item?.1).and_then(Partner::try_from))?);
        }
        for item in all(Table::Keys) {
            parties.put_key(whole(unsealed::<KeyRow<'_>>(&item?.1).and_then(KeyRecord::try_from))?);
        }
        for item in all(Table::Uses) {
            let (key, at) = item?;
            let hash = whole(key.as_ref().try_into().map_err(|_| CodecError::Damaged))?;
            let at = whole(unsealed::<Time>(&at).and_then(Timestamp::try_from))?;
            parties.uses.insert(KeyHash::from_bytes(hash), at);
        }
        Ok(Self { log, index, parties: RwLock::new(parties), noted: AtomicU64::new(0) })
    }

    /// Applies changes that are durable in the log to the index, and empties their tables.
    pub(crate) fn apply(&self, tables: &mut Tables<Place, Place>) -> Result<(), IndexError> {
        let mut value = Vec::new();
        let mut set = |table, key: &[u8], sealed: &mut dyn FnMut(&mut Vec<u8>) -> Result<usize, CodecError>| {
            value.clear();
            sealed(&mut value).expect("a value of the index is shorter than the entry that it comes from");
            self.index.insert(table, key, &value)
        };
        for ((application, offer), stored) in in_order(&tables.offers) {
            let key = offer_key(*application, *offer);
            set(Table::Offers, &key, &mut |value| codec::seal(&OfferValue::from(stored), value))?;
        }
        for (id, stored) in in_order(&tables.buyers) {
            set(Table::Buyers, &id.to_bytes(), &mut |value| codec::seal(&stored.description, value))?;
        }
        for (id, owner) in &tables.applications {
            set(Table::Applications, &id.to_bytes(), &mut |value| codec::seal(&owner.to_bytes(), value))?;
        }
        if !(tables.partners.is_empty() && tables.keys.is_empty() && tables.uses.is_empty()) {
            let mut parties = self.parties_mut();
            for partner in tables.partners.values() {
                set(Table::Partners, &partner.id.to_bytes(), &mut |value| {
                    codec::seal(&PartnerRecord::from(partner), value)
                })?;
                parties.put_partner(partner.clone());
            }
            for key in tables.keys.values() {
                set(Table::Keys, &key.hash.to_bytes(), &mut |value| codec::seal(&KeyRow::from(key), value))?;
                parties.put_key(key.clone());
            }
            for (hash, at) in &tables.uses {
                set(Table::Uses, &hash.to_bytes(), &mut |value| codec::seal(&Time::from(*at), value))?;
                parties.uses.insert(*hash, *at);
            }
        }
        tables.clear();
        Ok(())
    }

    /// Notes where a frame begins, if it is far enough from the last one that was noted.
    pub(crate) fn note_frame(&self, sequence: u64, at: u64) -> Result<(), IndexError> {
        if at >= self.noted.load(Ordering::Relaxed) + NOTED {
            self.index.insert(Table::Frames, &sequence.to_be_bytes(), &at.to_be_bytes())?;
            self.noted.store(at, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Where to look for a sequence: its frame does not begin before this.
    pub(crate) fn frame_of(&self, sequence: u64) -> Result<u64, IndexError> {
        let key = sequence.to_be_bytes();
        let mut noted = self.index.range(Table::Frames, Bound::Unbounded, Bound::Included(&key));
        let Some(noted) = noted.next_back().transpose()? else { return Ok(super::log::FIRST) };
        let at = noted.1.as_ref().try_into().map_err(|_| CodecError::Damaged);
        whole(at).map(u64::from_be_bytes)
    }

    /// Notes up to where in the log the index is complete.
    pub(crate) fn note_reached(&self, end: u64) -> Result<(), IndexError> {
        self.put_note(REACHED, &end)
    }

    /// Up to where in the log the index is complete, at least.
    pub(crate) fn reached(&self) -> Result<Option<u64>, IndexError> {
        self.note(REACHED)
    }

    /// Notes that another history has begun.
    pub(crate) fn note_history(&self, history: [u8; 16]) -> Result<(), IndexError> {
        self.put_note(HISTORY, &history)
    }

    /// The history that the log is in.
    pub(crate) fn history(&self) -> Result<[u8; 16], IndexError> {
        Ok(self.note(HISTORY)?.unwrap_or(self.log.head.history))
    }

    fn put_note<T: Serialize>(&self, name: &[u8], note: &T) -> Result<(), IndexError> {
        let mut value = Vec::new();
        codec::seal(note, &mut value).expect("a note is short");
        self.index.insert(Table::Notes, name, &value)
    }

    fn note<T: for<'a> Deserialize<'a>>(&self, name: &[u8]) -> Result<Option<T>, IndexError> {
        self.index.get(Table::Notes, name)?.map(|value| whole(unsealed(&value))).transpose()
    }

    /// Partners, keys and their uses.
    pub(crate) fn parties(&self) -> RwLockReadGuard<'_, Parties> {
        self.parties.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn parties_mut(&self) -> RwLockWriteGuard<'_, Parties> {
        self.parties.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a table holds at a key.
    fn found<T>(&self, table: Table, key: &[u8], read: impl FnOnce(&I::Bytes) -> Result<T, CodecError>) -> Found<T> {
        let value = self.index.get(table, key).map_err(|error| failed(&error))?;
        value.map(|value| read(&value).map_err(|_| corrupt(table, key))).transpose()
    }
}

/// The items of a table, sorted by key if they are many: an ordered index inserts them faster then.
fn in_order<K: Ord, V>(table: &HashMap<K, V>) -> Vec<(&K, &V)> {
    const LARGE: usize = 1_000;
    let mut items: Vec<_> = table.iter().collect();
    if items.len() >= LARGE {
        items.sort_unstable_by_key(|(key, _)| *key);
    }
    items
}

/// For values that are read when the index is opened: one that cannot be read makes the index unusable.
fn whole<T>(read: Result<T, CodecError>) -> Result<T, IndexError> {
    read.map_err(|_| IndexError::Damaged("a value cannot be read".to_owned()))
}

fn failed(error: &IndexError) -> ViewError {
    tracing::error!(%error, "the index has no answer");
    ViewError::Failed
}

/// Logs that a record cannot be read.
pub(crate) fn corrupt(table: Table, key: &[u8]) -> ViewError {
    tracing::error!(table = table.name(), key = table.shown(key), "a stored record cannot be read");
    ViewError::Corrupt
}

impl<I: Index, F: LogIo> View for Base<I, F> {
    type Terms = Place;
    type Buyer = Place;

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
        self.found(Table::Offers, &offer_key(application, offer), |value| {
            unsealed::<OfferValue>(value).and_then(StoredOffer::try_from)
        })
    }

    fn buyer(&self, _: PartnerId, id: BuyerId) -> Found<StoredBuyer<Place>> {
        let Some(place) = self.found(Table::Buyers, &id.to_bytes(), |value| unsealed(value))? else { return Ok(None) };
        match self.log.change(place) {
            Ok(Change::BuyerCreated { partner, buyer, fingerprint, at, .. }) if buyer == id => {
                Ok(Some(StoredBuyer { partner, fingerprint, created_at: at, description: place }))
            }
            Ok(_) | Err(ReadError::Damaged) => Err(corrupt(Table::Buyers, &id.to_bytes())),
            Err(ReadError::Io(error)) => Err(failed(&error.into())),
        }
    }
}
