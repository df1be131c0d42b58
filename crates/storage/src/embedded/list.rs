//! Lists, a page at a time. They run on the caller's thread and look at a bounded number of records.

use super::EmbeddedStore;
use super::index::{Index as _, OfferValue, Table, offer_key, unsealed};
use lendpay_domain::buyer::Buyer;
use lendpay_domain::command::{OfferRef, Values as _};
use lendpay_domain::key::KeyInUse;
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, FindApplications, FindBuyers, FindOffers, FindPartners, OfferCursor, OffersOf,
};
use lendpay_domain::store::Answer;
use lendpay_domain::view::StoredOffer;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError};
use std::ops::Bound;

/// The most records that one page looks at: some milliseconds.
const LOOKED_AT: usize = 20_000;

impl EmbeddedStore {
    pub(super) fn partners(&self, query: &FindPartners) -> Answer<Page<Partner, PartnerId>> {
        self.health.working()?;
        // Partners are few and this is asked rarely, so it looks at all of them.
        let parties = self.base.parties();
        let wanted = parties.partners.values().filter(|partner| query.wants(partner)).cloned();
        Ok(sorted(wanted, query.window, |partner| partner.id))
    }

    pub(super) fn applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        let after = query.window.after.map(ApplicationId::to_bytes);
        let from = after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(&after[..]));
        let found = self.part(Table::Applications, (from, Bound::Unbounded), query.window.limit, |key, value| {
            let id = ApplicationId::from_bytes(id_at(key, 0)?);
            let partner = unsealed(&value).map(PartnerId::from_bytes);
            let partner = self.read(|base| partner.map_err(|_| base.corrupt(Table::Applications, key)))?;
            Ok(query.scope.holds(partner).then_some(Application { id, partner }))
        })?;
        let next = found.next.map(|key| id_at(&key, 0)).transpose()?.map(ApplicationId::from_bytes);
        Ok(Page { items: found.items, next })
    }

    pub(super) fn offers(&self, query: &FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let (first, last) = match query.of {
            OffersOf::Application(application) => (application, application),
            OffersOf::All | OffersOf::Partner(_) => {
                (ApplicationId::from_bytes([0; 16]), ApplicationId::from_bytes([0xff; 16]))
            }
        };
        let first = offer_key(first, OfferId::from_bytes([0; 16]));
        let last = offer_key(last, OfferId::from_bytes([0xff; 16]));
        let after = query.window.after.map(|after| offer_key(after.application, after.offer));
        let from = match &after {
            Some(after) if *after >= last => return Ok(Page { items: Vec::new(), next: None }),
            Some(after) if *after >= first => Bound::Excluded(&after[..]),
            Some(_) | None => Bound::Included(&first[..]),
        };
        let found = self.part(Table::Offers, (from, Bound::Included(&last)), query.window.limit, |key, value| {
            let OfferCursor { application, offer } = cursor_at(key)?;
            let stored = unsealed::<OfferValue>(&value).and_then(StoredOffer::try_from);
            let stored = self.read(|base| stored.map_err(|_| base.corrupt(Table::Offers, key)))?;
            let elsewhere = matches!(query.of, OffersOf::Partner(partner) if partner != stored.partner);
            if elsewhere || !query.wants(&stored.standing) {
                return Ok(None);
            }
            Ok(Some(self.offer(OfferRef { application, id: offer, stored })?.seen_at(query.now)))
        })?;
        Ok(Page { items: found.items, next: found.next.as_deref().map(cursor_at).transpose()? })
    }

    pub(super) fn buyers(&self, query: &FindBuyers) -> Answer<Page<Buyer, BuyerId>> {
        let after = query.window.after.map(BuyerId::to_bytes);
        let from = after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(&after[..]));
        let found = self.part(Table::Buyers, (from, Bound::Unbounded), query.window.limit, |key, _| {
            let id = BuyerId::from_bytes(id_at(key, 0)?);
            let buyer = self.buyer_with(id)?.ok_or(StoreError::Corrupt)?;
            Ok(Some(buyer).filter(|buyer| query.wants(buyer.partner, &buyer.description)))
        })?;
        let next = found.next.map(|key| id_at(&key, 0)).transpose()?.map(BuyerId::from_bytes);
        Ok(Page { items: found.items, next })
    }

    pub(super) fn keys(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        self.health.working()?;
        let parties = self.base.parties();
        if !parties.partners.contains_key(&partner) {
            return Ok(None);
        }
        // Keys are few and this is asked rarely, so it looks at all of them.
        let keys = parties.keys.values().filter(|key| key.partner == partner);
        let keys = keys.map(|key| KeyInUse { key: key.clone(), last_used_at: parties.uses.get(&key.hash).copied() });
        Ok(Some(sorted(keys, window, |item| item.key.id)))
    }

    /// Up to `limit` items of a range: what `read` makes of a record, if it is wanted.
    fn part<T>(
        &self,
        table: Table,
        (from, to): (Bound<&[u8]>, Bound<&[u8]>),
        limit: usize,
        mut read: impl FnMut(&[u8], &[u8]) -> Answer<Option<T>>,
    ) -> Answer<Part<T>> {
        let mut records = self.base.index.range(table, from, to);
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

/// The part of a list in memory that a window names.
fn sorted<T, C: Ord>(items: impl Iterator<Item = T>, window: Window<C>, id: impl Fn(&T) -> C) -> Page<T, C> {
    let mut items: Vec<_> = items.filter(|item| window.after.as_ref().is_none_or(|after| id(item) > *after)).collect();
    items.sort_unstable_by_key(&id);
    let more = items.len() > window.limit;
    items.truncate(window.limit);
    let next = items.last().filter(|_| more).map(id);
    Page { items, next }
}

/// The offer that a key of the index names.
fn cursor_at(key: &[u8]) -> Answer<OfferCursor> {
    let (application, offer) = (id_at(key, 0)?, id_at(key, 16)?);
    Ok(OfferCursor { application: ApplicationId::from_bytes(application), offer: OfferId::from_bytes(offer) })
}

/// The 16 bytes of a key that begin at `from`.
fn id_at(key: &[u8], from: usize) -> Answer<[u8; 16]> {
    key.get(from..from + 16).and_then(|id| id.try_into().ok()).ok_or(StoreError::Corrupt)
}
