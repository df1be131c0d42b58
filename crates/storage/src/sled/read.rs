//! Reads. They run on the caller's thread, beside the committer, and see only what is durable.

use super::fault::{Broken, Fault, readable};
use super::frame::Frame;
use super::health::Health;
use super::log::{Frames, ReadError};
use super::trees::{Kind, StateKey};
use super::{SledStore, quiet};
use crate::codec::{self, CodecError};
use crate::records::{BuyerRecord, KeyRow, OfferState, Place};
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::Event;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::store::Answer;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError, Timestamp};
use sled::IVec;
use std::panic::AssertUnwindSafe;

impl SledStore {
    pub(super) async fn key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        let key = StateKey::key(hash);
        let Some(value) = self.state(&key)? else { return Ok(None) };
        readable(&key, codec::unseal::<KeyRow<'_>>(&value).and_then(|row| row.key(hash))).map(Some)
    }

    pub(super) async fn client(&self, client: &str) -> Answer<Option<PartnerId>> {
        self.health.working()?;
        self.trees.clients.find(client)
    }

    pub(super) async fn offer_at(
        &self,
        application: ApplicationId,
        id: OfferId,
        now: Timestamp,
    ) -> Answer<Option<Offer>> {
        let key = StateKey::offer(application, id);
        let Some(value) = self.state(&key)? else { return Ok(None) };
        let state = readable(&key, codec::unseal(&value))?;
        self.whole_offer(application, id, &state).map(|offer| Some(offer.seen_at(now)))
    }

    /// Reads the terms of an offer.
    pub(super) fn whole_offer(&self, application: ApplicationId, id: OfferId, state: &OfferState) -> Answer<Offer> {
        let key = StateKey::offer(application, id);
        let value = self.value(&key, state.terms)?;
        readable(&key, state.head.offer(application, id, &value))
    }

    pub(super) async fn buyer(&self, id: BuyerId) -> Answer<Option<Buyer>> {
        let key = StateKey::buyer(id);
        let Some(value) = self.state(&key)? else { return Ok(None) };
        self.whole_buyer(id, readable(&key, codec::unseal(&value))?).map(Some)
    }

    /// Reads a buyer.
    pub(super) fn whole_buyer(&self, id: BuyerId, place: Place) -> Answer<Buyer> {
        let key = StateKey::buyer(id);
        let value = self.value(&key, place)?;
        readable(&key, codec::unseal::<BuyerRecord<'_>>(&value).and_then(|record| record.buyer(id)))
    }

    /// A value that lies in the log.
    pub(super) fn value(&self, key: &StateKey, place: Place) -> Answer<Vec<u8>> {
        self.trees.log.value(place).map_err(|error| match Fault::unread(key, error) {
            Fault::Command(error) => error,
            Fault::Broken(error) => broken(&self.health, &error),
        })
    }

    /// The hash of a partner's key. Keys are few and this is asked rarely, so it looks at all of them.
    pub(super) async fn hash_of(&self, partner: PartnerId, id: KeyId) -> Answer<Option<KeyHash>> {
        self.look(|| {
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
        })?
    }

    pub(super) async fn events_after(&self, after: u64, limit: usize) -> Answer<Vec<Event>> {
        let Some(first) = after.checked_add(1) else { return Ok(Vec::new()) };
        // Asked for first: the place of a frame is noted before readers may come to it.
        let end = self.trees.log.end();
        let from = self.look(|| self.trees.frame_of(first))?;
        let mut frames = self.trees.log.frames(from, end);
        let mut events = Vec::new();
        each(&mut frames, &self.health, |frame| {
            collect(frame, first, limit, &mut events)?;
            Ok(events.len() < limit)
        })?;
        Ok(events)
    }

    pub(super) fn state(&self, key: &StateKey) -> Answer<Option<IVec>> {
        self.look(|| self.trees.get(key))
    }

    /// Looks into the database. A damaged page is the end of the store, as it is for the committer.
    pub(super) fn look<T>(&self, look: impl FnOnce() -> sled::Result<T>) -> Answer<T> {
        self.health.working()?;
        let mut corrupt = false;
        quiet::caught(AssertUnwindSafe(|| {
            look().map_err(|error| {
                corrupt = matches!(error, sled::Error::Corruption { .. });
                Broken::from(error).to_string()
            })
        }))
        .map_err(|reason| {
            self.health.fail(&reason);
            if corrupt { StoreError::Corrupt } else { StoreError::Unavailable }
        })
    }
}

/// The disk does not read: the end of the store.
fn broken(health: &Health, error: &Broken) -> StoreError {
    health.fail(&error.to_string());
    StoreError::Unavailable
}

/// Gives `take` one frame after the other, until there is none or it wants no more.
pub(super) fn each(
    frames: &mut Frames<'_>,
    health: &Health,
    mut take: impl FnMut(Frame<'_>) -> Result<bool, CodecError>,
) -> Answer<()> {
    loop {
        let at = frames.at();
        let taken = match frames.next() {
            Ok(Some(frame)) => take(frame).map_err(ReadError::from),
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        match taken {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(ReadError::Damaged) => {
                tracing::error!(at, "a frame of the log cannot be read");
                return Err(StoreError::Corrupt);
            }
            Err(ReadError::Io(error)) => return Err(broken(health, &error.into())),
        }
    }
}

/// Adds the events of a frame.
fn collect(mut frame: Frame<'_>, first: u64, limit: usize, events: &mut Vec<Event>) -> Result<(), CodecError> {
    if frame.end() <= first {
        return Ok(());
    }
    while let Some((sequence, entry, _)) = frame.next()? {
        if sequence >= first
            && events.len() < limit
            && let Some(event) = entry.event(sequence)?
        {
            events.push(event);
        }
    }
    Ok(())
}
