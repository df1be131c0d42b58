//! Lists, a page at a time. They run on the caller's thread and look at a bounded number of records.

use super::SledStore;
use super::fault::readable;
use super::trees::{Kind, StateKey};
use crate::codec;
use crate::records::{BuyerRecord, KeyRow, Time};
use lendpay_domain::buyer::Buyer;
use lendpay_domain::key::{KeyHash, KeyInUse};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::store::{Answer, FindBuyers};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError, Timestamp};
use sled::IVec;
use std::ops::Bound;

/// The most records that one page looks at: some milliseconds.
const LOOKED_AT: usize = 4_096;

impl SledStore {
    pub(super) async fn offers(
        &self,
        application: ApplicationId,
        window: Window<OfferId>,
        now: Timestamp,
    ) -> Answer<Option<Page<Offer, OfferId>>> {
        if self.state(&StateKey::application(application))?.is_none() {
            return Ok(None);
        }
        let start = match window.after {
            Some(after) => Bound::Excluded(IVec::from(StateKey::offer(application, after).bytes())),
            None => Bound::Included(IVec::from(&application.to_bytes())),
        };
        let last = IVec::from(StateKey::offer(application, OfferId::from_bytes([0xff; 16])).bytes());
        let range = (start, Bound::Included(last));
        let found = self.part(Kind::Offers, range, window.limit, |key, value| {
            let id = OfferId::from_bytes(id_at(key, 16)?);
            let state = readable(&StateKey::offer(application, id), codec::unseal(value))?;
            Ok(Some(self.whole_offer(application, id, &state)?.seen_at(now)))
        })?;
        let next = found.next.map(|key| id_at(&key, 16)).transpose()?.map(OfferId::from_bytes);
        Ok(Some(Page { items: found.items, next }))
    }

    pub(super) async fn buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerId>> {
        let FindBuyers { registration_number: number, window } = query;
        let start = window.after.map_or(Bound::Unbounded, |after| Bound::Excluded(IVec::from(&after.to_bytes())));
        let range = (start, Bound::Unbounded);
        let found = self.part(Kind::Buyers, range, window.limit, |key, value| {
            let id = BuyerId::from_bytes(id_at(key, 0)?);
            let key = StateKey::buyer(id);
            let value = self.value(&key, readable(&key, codec::unseal(value))?)?;
            let record: BuyerRecord<'_> = readable(&key, codec::unseal(&value))?;
            let wanted = number.as_ref().is_none_or(|number| record.registration_number == Some(number));
            wanted.then(|| readable(&key, record.buyer(id))).transpose()
        })?;
        let next = found.next.map(|key| id_at(&key, 0)).transpose()?.map(BuyerId::from_bytes);
        Ok(Page { items: found.items, next })
    }

    pub(super) async fn keys(
        &self,
        partner: PartnerId,
        window: Window<KeyId>,
    ) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        if self.state(&StateKey::partner(partner))?.is_none() {
            return Ok(None);
        }
        let mut items = Vec::new();
        // Keys are few and this is asked rarely, so it looks at all of them.
        for (key, value) in self.all(Kind::Keys)? {
            let Some(key) = StateKey::read(Kind::Keys, &key) else { continue };
            let row: KeyRow<'_> = readable(&key, codec::unseal(&value))?;
            if row.partner != partner.to_bytes() || window.after.is_some_and(|after| row.id <= after.to_bytes()) {
                continue;
            }
            let hash = KeyHash::from_bytes(key.bytes().try_into().map_err(|_| StoreError::Corrupt)?);
            let key_use = StateKey::key_use(hash);
            let last_used_at = match self.state(&key_use)? {
                Some(value) => {
                    let time = codec::unseal::<Time>(&value).and_then(Timestamp::try_from);
                    Some(readable(&key_use, time)?)
                }
                None => None,
            };
            items.push(KeyInUse { key: readable(&key, row.key(hash))?, last_used_at });
        }
        items.sort_by_key(|item| item.key.id);
        let more = items.len() > window.limit;
        items.truncate(window.limit);
        let next = items.last().filter(|_| more).map(|item| item.key.id);
        Ok(Some(Page { items, next }))
    }

    /// Up to `limit` items of a range: what `read` makes of a record, if it is wanted.
    fn part<T>(
        &self,
        kind: Kind,
        range: (Bound<IVec>, Bound<IVec>),
        limit: usize,
        mut read: impl FnMut(&[u8], &[u8]) -> Answer<Option<T>>,
    ) -> Answer<Part<T>> {
        let mut records = self.trees.tree(kind).range(range);
        let mut part = Part { items: Vec::new(), next: None };
        let mut last = None;
        for looked_at in 0.. {
            let Some((key, value)) = self.look(|| records.next().transpose())? else { break };
            if part.items.len() >= limit || looked_at >= LOOKED_AT {
                part.next = last;
                break;
            }
            part.items.extend(read(&key, &value)?);
            last = Some(key);
        }
        Ok(part)
    }

    /// Every record of a kind.
    pub(super) fn all(&self, kind: Kind) -> Answer<Vec<(IVec, IVec)>> {
        self.look(|| self.trees.tree(kind).iter().collect())
    }
}

struct Part<T> {
    items: Vec<T>,
    /// The last key that was looked at, if there are more.
    next: Option<IVec>,
}

/// The 16 bytes of a key that begin at `from`.
fn id_at(key: &[u8], from: usize) -> Answer<[u8; 16]> {
    key.get(from..from + 16).and_then(|id| id.try_into().ok()).ok_or(StoreError::Corrupt)
}
