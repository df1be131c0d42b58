//! Reads. They run on the caller's thread, beside the committer, and answer when what they saw is durable.

use super::fault::readable;
use super::health::{Health, Seen};
use super::log::LogReader;
use super::trees::{Kind, StateKey};
use super::{SledStore, quiet};
use crate::codec::{self, CodecError};
use crate::records::{BuyerRecord, KeyRow, offer_of};
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::Event;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::store::Answer;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError, Timestamp};
use sled::IVec;
use std::panic::AssertUnwindSafe;

/// Reads a sealed offer.
pub(super) fn offer(application: ApplicationId, id: OfferId, value: &[u8]) -> Answer<Offer> {
    readable(&StateKey::offer(application, id), offer_of(application, id, value))
}

/// Reads a sealed buyer.
pub(super) fn buyer(id: BuyerId, value: &[u8]) -> Answer<Buyer> {
    readable(&StateKey::buyer(id), codec::unseal::<BuyerRecord<'_>>(value).and_then(|record| record.buyer(id)))
}

impl SledStore {
    pub(super) async fn key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        let key = StateKey::key(hash);
        let Some(value) = self.state(&key).await? else { return Ok(None) };
        readable(&key, codec::unseal::<KeyRow<'_>>(&value).and_then(|row| row.key(hash))).map(Some)
    }

    pub(super) async fn client(&self, client: &str) -> Answer<Option<PartnerId>> {
        if self.health.failure_reason().is_some() {
            return Err(StoreError::Unavailable);
        }
        let found = self.trees.clients.find(client)?;
        self.health.settled(Seen::State(Kind::Partners)).await?;
        Ok(found)
    }

    pub(super) async fn offer_at(
        &self,
        application: ApplicationId,
        id: OfferId,
        now: Timestamp,
    ) -> Answer<Option<Offer>> {
        let Some(value) = self.state(&StateKey::offer(application, id)).await? else { return Ok(None) };
        offer(application, id, &value).map(|offer| Some(offer.seen_at(now)))
    }

    pub(super) async fn buyer(&self, id: BuyerId) -> Answer<Option<Buyer>> {
        let Some(value) = self.state(&StateKey::buyer(id)).await? else { return Ok(None) };
        buyer(id, &value).map(Some)
    }

    /// The hash of a partner's key. Keys are few and this is asked rarely, so it looks at all of them.
    pub(super) async fn hash_of(&self, partner: PartnerId, id: KeyId) -> Answer<Option<KeyHash>> {
        let found = self.look(|| {
            for item in self.trees.tree(Kind::Keys) {
                let (bytes, value) = item?;
                let Some(key) = StateKey::read(Kind::Keys, &bytes) else { continue };
                let row: KeyRow<'_> = match readable(&key, codec::unseal(&value)) {
                    Ok(row) => row,
                    Err(error) => return Ok(Err(error)),
                };
                if row.id == id.to_bytes() && row.partner == partner.to_bytes() {
                    return Ok(Ok(bytes.as_ref().try_into().ok().map(KeyHash::from_bytes)));
                }
            }
            Ok(Ok(None))
        })??;
        self.health.settled(Seen::State(Kind::Keys)).await?;
        Ok(found)
    }

    pub(super) async fn events_after(&self, after: u64, limit: usize) -> Answer<Vec<Event>> {
        let Some(first) = after.checked_add(1) else { return Ok(Vec::new()) };
        let events = self.look(|| {
            let first_key = first.to_be_bytes();
            // The value that holds the entry `first` begins at or before it.
            let start = match self.trees.log.range(..=first_key).next_back().transpose()? {
                Some((key, _)) => key,
                None => IVec::from(&first_key),
            };
            let mut events = Vec::new();
            for item in self.trees.log.range(start..) {
                if events.len() >= limit {
                    break;
                }
                let (key, value) = item?;
                if let Err(error) = collect(&key, &value, first, limit, &mut events) {
                    let sequence = key.as_ref().try_into().map(u64::from_be_bytes).unwrap_or_default();
                    tracing::error!(tree = "log", sequence, %error, "a stored record cannot be read");
                    return Ok(Err(StoreError::Corrupt));
                }
            }
            Ok(Ok(events))
        })??;
        self.health.settled(Seen::Log).await?;
        Ok(events)
    }

    pub(super) async fn state(&self, key: &StateKey) -> Answer<Option<IVec>> {
        let value = self.look(|| self.trees.get(key))?;
        self.health.settled(Seen::State(key.kind)).await?;
        Ok(value)
    }

    pub(super) fn look<T>(&self, look: impl FnOnce() -> sled::Result<T>) -> Answer<T> {
        look_into(&self.health, look)
    }
}

/// Looks into the database of a store. A damaged page is the end of the store, as it is for the committer.
pub(super) fn look_into<T>(health: &Health, look: impl FnOnce() -> sled::Result<T>) -> Answer<T> {
    if health.failure_reason().is_some() {
        return Err(StoreError::Unavailable);
    }
    let mut corrupt = false;
    quiet::caught(AssertUnwindSafe(|| {
        look().map_err(|error| {
            corrupt = matches!(error, sled::Error::Corruption { .. });
            super::committer::said(&error)
        })
    }))
    .map_err(|reason| {
        health.fail(&reason);
        if corrupt { StoreError::Corrupt } else { StoreError::Unavailable }
    })
}

/// Adds the events of one value of the log.
fn collect(key: &[u8], value: &[u8], first: u64, limit: usize, events: &mut Vec<Event>) -> Result<(), CodecError> {
    let mut reader = LogReader::new(key, value)?;
    while let Some((sequence, entry)) = reader.next()? {
        if sequence >= first
            && events.len() < limit
            && let Some(event) = entry.event(sequence)?
        {
            events.push(event);
        }
    }
    Ok(())
}
