//! Lists, a page at a time. They run on the caller's thread and look at a bounded number of records.

use super::EmbeddedStore;
use super::index::{Index as _, OfferValue, Table, offer_key, unsealed};
use super::read::damaged;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::command::{OfferRef, Values as _};
use lendpay_domain::key::KeyInUse;
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::store::{Answer, FindBuyers};
use lendpay_domain::view::{StoredOffer, View as _};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError, Timestamp};
use std::ops::Bound;

/// The most records that one page looks at: some milliseconds.
const LOOKED_AT: usize = 4_096;

impl EmbeddedStore {
    pub(super) fn offers(
        &self,
        application: ApplicationId,
        window: Window<OfferId>,
        now: Timestamp,
    ) -> Answer<Option<Page<Offer, OfferId>>> {
        if self.view(|base| base.application(application))?.is_none() {
            return Ok(None);
        }
        let first = offer_key(application, window.after.unwrap_or(OfferId::from_bytes([0; 16])));
        let last = offer_key(application, OfferId::from_bytes([0xff; 16]));
        let from = if window.after.is_some() { Bound::Excluded(&first[..]) } else { Bound::Included(&first[..]) };
        let found = self.part(Table::Offers, (from, Bound::Included(&last)), window.limit, |key, value| {
            let id = OfferId::from_bytes(id_at(key, 16)?);
            let stored = unsealed::<OfferValue>(&value).and_then(StoredOffer::try_from);
            let stored = stored.map_err(|_| damaged(Table::Offers, key))?;
            Ok(Some(self.offer(OfferRef { application, id, stored })?.seen_at(now)))
        })?;
        let next = found.next.map(|key| id_at(&key, 16)).transpose()?.map(OfferId::from_bytes);
        Ok(Some(Page { items: found.items, next }))
    }

    pub(super) fn buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerId>> {
        let FindBuyers { registration_number: number, window } = query;
        let after = window.after.map(BuyerId::to_bytes);
        let from = after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(&after[..]));
        let found = self.part(Table::Buyers, (from, Bound::Unbounded), window.limit, |key, _| {
            let id = BuyerId::from_bytes(id_at(key, 0)?);
            let stored = self.view(|base| base.buyer(PartnerId::from_bytes([0; 16]), id))?;
            let buyer = self.buyer(id, stored.ok_or(StoreError::Corrupt)?)?;
            Ok(Some(buyer).filter(|buyer| number.is_none() || buyer.description.registration_number == number))
        })?;
        let next = found.next.map(|key| id_at(&key, 0)).transpose()?.map(BuyerId::from_bytes);
        Ok(Page { items: found.items, next })
    }

    pub(super) fn keys(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        self.health.working()?;
        let parties = self.base().parties();
        if !parties.partners.contains_key(&partner) {
            return Ok(None);
        }
        // Keys are few and this is asked rarely, so it looks at all of them.
        let keys = parties.keys.values().filter(|key| key.partner == partner);
        let mut items: Vec<_> = keys
            .filter(|key| window.after.is_none_or(|after| key.id > after))
            .map(|key| KeyInUse { key: key.clone(), last_used_at: parties.uses.get(&key.hash).copied() })
            .collect();
        items.sort_by_key(|item| item.key.id);
        let more = items.len() > window.limit;
        items.truncate(window.limit);
        let next = items.last().filter(|_| more).map(|item| item.key.id);
        Ok(Some(Page { items, next }))
    }

    /// Up to `limit` items of a range: what `read` makes of a record, if it is wanted.
    fn part<T>(
        &self,
        table: Table,
        (from, to): (Bound<&[u8]>, Bound<&[u8]>),
        limit: usize,
        mut read: impl FnMut(&[u8], &[u8]) -> Answer<Option<T>>,
    ) -> Answer<Part<T>> {
        let mut records = self.base().index.range(table, from, to);
        let mut part = Part { items: Vec::new(), next: None };
        let mut last = None;
        for looked_at in 0.. {
            let Some((key, value)) = self.look_up(|_| records.next().transpose())? else { break };
            if part.items.len() >= limit || looked_at >= LOOKED_AT {
                part.next = last;
                break;
            }
            part.items.extend(read(key.as_ref(), value.as_ref())?);
            last = Some(key.as_ref().to_vec());
        }
        Ok(part)
    }
}

struct Part<T> {
    items: Vec<T>,
    /// The last key that was looked at, if there are more.
    next: Option<Vec<u8>>,
}

/// The 16 bytes of a key that begin at `from`.
fn id_at(key: &[u8], from: usize) -> Answer<[u8; 16]> {
    key.get(from..from + 16).and_then(|id| id.try_into().ok()).ok_or(StoreError::Corrupt)
}
