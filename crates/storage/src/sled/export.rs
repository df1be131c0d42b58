//! Exports. The log holds every change in order with everything that it set, so an export is the log up to the moment at
//! which it began: one consistent cut, which costs the committer nothing.

use super::entry::Entry;
use super::fault::readable;
use super::frame::Frame;
use super::health::Health;
use super::log::FIRST;
use super::read::each;
use super::trees::{Kind, StateKey, Trees};
use super::{SledStore, Store};
use crate::codec::{self, CodecError};
use crate::records::{ApplicationRecord, BuyerRecord, KeyRow, PartnerRecord, Time, offer_of};
use lendpay_domain::event::Subject;
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::KeyHash;
use lendpay_domain::record::{Export, Record};
use lendpay_domain::store::Answer;
use lendpay_domain::{ApplicationId, OfferId, PartnerId, StoreError, Timestamp};
use sled::IVec;
use std::sync::Arc;

/// How many records are read at once: some milliseconds.
const RECORDS: usize = 1_000;

/// An export that is under way. It keeps the files open.
pub struct SledExport {
    trees: Arc<Trees>,
    health: Arc<Health>,
    /// Where the next frame of the log is.
    at: u64,
    /// Where the export ends.
    end: u64,
    /// When keys were used: not in the log, few, and read at the beginning.
    uses: Vec<(IVec, IVec)>,
}

impl SledStore {
    pub(super) async fn begin_export(&self) -> Answer<<Self as Store>::Export> {
        let (trees, health, uses) = (Arc::clone(&self.trees), Arc::clone(&self.health), self.all(Kind::Uses)?);
        let end = trees.log.end();
        Ok(SledExport { trees, health, at: FIRST, end, uses })
    }
}

impl Export for SledExport {
    async fn next(&mut self) -> Answer<Vec<Record>> {
        self.health.working()?;
        let mut records = Vec::new();
        let mut frames = self.trees.log.frames(self.at, self.end);
        each(&mut frames, &self.health, |frame| {
            read(frame, &mut records)?;
            Ok(records.len() < RECORDS)
        })?;
        self.at = frames.at();
        if records.is_empty() {
            for (key, value) in std::mem::take(&mut self.uses) {
                records.push(key_used(&key, &value)?);
            }
        }
        Ok(records)
    }
}

/// Adds the records of a frame.
fn read(mut frame: Frame<'_>, records: &mut Vec<Record>) -> Result<(), CodecError> {
    while let Some((sequence, entry, _)) = frame.next()? {
        records.push(record(sequence, &entry)?);
    }
    Ok(())
}

fn record(sequence: u64, entry: &Entry<'_>) -> Result<Record, CodecError> {
    let event = entry.event(sequence)?;
    Ok(match (*entry, event) {
        (Entry::OfferMoved { .. }, Some(event)) => Record::OfferMoved { event },
        (Entry::OfferCreated { application, offer, value, .. }, Some(event)) => {
            let offer = offer_of(ApplicationId::from_bytes(application), OfferId::from_bytes(offer), value.0)?;
            Record::OfferCreated { event, terms: offer.terms }
        }
        (Entry::BuyerCreated { value, .. }, Some(event)) => {
            let Subject::Buyer(id) = event.subject else { return Err(CodecError::Damaged) };
            let record: BuyerRecord<'_> = codec::unseal(value.0)?;
            let description = record.buyer(id)?.description;
            Record::BuyerCreated { event, description, fingerprint: record.fingerprint.map(Fingerprint::from_bytes) }
        }
        (Entry::Put { value, .. }, None) => put(sequence, &entry.key()?, value.0)?,
        (Entry::Put { .. }, Some(_)) | (_, None) => return Err(CodecError::Damaged),
    })
}

fn put(sequence: u64, key: &StateKey, value: &[u8]) -> Result<Record, CodecError> {
    let sequence = Some(sequence);
    Ok(match key.kind {
        Kind::Partners => {
            let partner = codec::unseal::<PartnerRecord<'_>>(value)?.partner(PartnerId::from_bytes(id(key, 0)?))?;
            Record::Partner { sequence, partner }
        }
        Kind::Keys => Record::Key { sequence, key: codec::unseal::<KeyRow<'_>>(value)?.key(hash(key.bytes())?)? },
        Kind::Applications => {
            let partner = PartnerId::from_bytes(codec::unseal::<ApplicationRecord>(value)?.partner);
            Record::Application { sequence, id: ApplicationId::from_bytes(id(key, 0)?), partner }
        }
        Kind::Offers => {
            let (application, offer) = (ApplicationId::from_bytes(id(key, 0)?), OfferId::from_bytes(id(key, 16)?));
            Record::OfferTerms { sequence, application, offer, terms: offer_of(application, offer, value)?.terms }
        }
        Kind::Buyers | Kind::Uses => return Err(CodecError::Damaged),
    })
}

fn key_used(key: &[u8], value: &[u8]) -> Answer<Record> {
    let key = hash(key).map_err(|_| StoreError::Corrupt)?;
    let at = codec::unseal::<Time>(value).and_then(Timestamp::try_from);
    Ok(Record::KeyUsed { key, at: readable(&StateKey::key_use(key), at)? })
}

fn id(key: &StateKey, from: usize) -> Result<[u8; 16], CodecError> {
    key.bytes().get(from..from + 16).and_then(|id| id.try_into().ok()).ok_or(CodecError::Damaged)
}

fn hash(key: &[u8]) -> Result<KeyHash, CodecError> {
    key.try_into().map(KeyHash::from_bytes).map_err(|_| CodecError::Damaged)
}
