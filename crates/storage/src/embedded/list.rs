//! Lists, a page at a time. They run on the caller's thread, where others come to their turn in between, and look at a
//! bounded number of entries.

use super::EmbeddedStore;
use super::index::sled::SledIndex;
use super::index::{BuyerValue, Index, Items, Table, buyer_key, offer_key, pair};
use super::work::Work;
use crate::codec;
use crate::records::PartnerRecord;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::command::{OfferRef, Values as _};
use lendpay_domain::key::KeyInUse;
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, FindApplications, FindBuyers, FindOffers, FindPartners, OfferCursor, OffersOf, Scope,
};
use lendpay_domain::store::Answer;
use lendpay_domain::webhook::{Endpoint, FindEndpoints};
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, StoreError};
use serde::Deserialize;
use std::ops::Bound;

/// A key of the index.
type Key = <SledIndex as Index>::Bytes;

/// Keys and values of the index, in order.
type Records = Items<Key>;

impl EmbeddedStore {
    pub(super) async fn partners(&self, query: &FindPartners, work: &mut Work) -> Answer<Page<Partner, PartnerId>> {
        let after = query.window.after.map(PartnerId::to_bytes);
        let (table, records) = (Table::Partners, self.all_of(Table::Partners, after));
        let found = self.part(records, query.window.limit, work, |key, value, _| {
            let partner: PartnerRecord<'_> = self.value(table, key, value)?;
            let partner = self.read(|base| Partner::try_from(partner).map_err(|_| base.corrupt(table, key)))?;
            Ok(Some(partner).filter(|partner| query.wants(partner)))
        });
        found.await?.page(|key| last_id(key).map(PartnerId::from_bytes))
    }

    pub(super) async fn applications(
        &self,
        query: FindApplications,
        work: &mut Work,
    ) -> Answer<Page<Application, ApplicationId>> {
        let FindApplications { scope, window } = query;
        let after = window.after.map(ApplicationId::to_bytes);
        let (table, records) = self.records(scope, [Table::Applications, Table::ApplicationsOf], after);
        let found = self.part(records, window.limit, work, |key, value, _| {
            let id = ApplicationId::from_bytes(last_id(key)?);
            let partner = match scope {
                Scope::All => PartnerId::from_bytes(self.value(table, key, value)?),
                Scope::Partner(partner) => partner,
            };
            Ok(Some(Application { id, partner }))
        });
        found.await?.page(|key| last_id(key).map(ApplicationId::from_bytes))
    }

    pub(super) async fn offers(&self, query: &FindOffers, work: &mut Work) -> Answer<Page<Offer, OfferCursor>> {
        let after = query.window.after;
        let records = match query.of {
            OffersOf::Partner(partner) => return self.offers_of_partner(partner, query, work).await,
            OffersOf::All => {
                let after = after.map(|after| offer_key(after.application, after.offer));
                self.all_of(Table::Offers, after)
            }
            OffersOf::Application(application) => {
                if after.is_some_and(|after| after.application > application) {
                    return Ok(Page { items: Vec::new(), next: None });
                }
                self.offers_after(application, after)
            }
        };
        let read = |key: &[u8], value: &[u8], work: &mut Work| self.wanted(query, key, value, work);
        self.part(records, query.window.limit, work, read).await?.page(offer_at)
    }

    /// Offers of one application after the other. An application counts as an entry too: many can be without offers.
    async fn offers_of_partner(
        &self,
        partner: PartnerId,
        query: &FindOffers,
        work: &mut Work,
    ) -> Answer<Page<Offer, OfferCursor>> {
        let after = query.window.after;
        let first = after.map_or([0; 16], |after| after.application.to_bytes());
        let (from, to) = (pair(partner.to_bytes(), first), pair(partner.to_bytes(), LAST));
        let mut applications =
            self.base.index.range(Table::ApplicationsOf, Bound::Included(&from), Bound::Included(&to));
        let (mut page, mut last) = (Page { items: Vec::new(), next: None }, after);
        while let Some((key, _)) = self.look_up(|_| applications.next().transpose())? {
            if page.items.len() >= query.window.limit || work.is_done() {
                page.next = last;
                break;
            }
            let application = ApplicationId::from_bytes(last_id(key.as_ref())?);
            let records = self.offers_after(application, after);
            let limit = query.window.limit - page.items.len();
            let read = |key: &[u8], value: &[u8], work: &mut Work| self.wanted(query, key, value, work);
            let part = self.part(records, limit, work, read).await?;
            page.items.extend(part.items);
            if let Some(next) = part.next {
                page.next = Some(offer_at(&next)?);
                break;
            }
            last = Some(OfferCursor { application, offer: OfferId::from_bytes(LAST) });
            work.entries += 1;
            work.turn().await;
        }
        Ok(page)
    }

    /// The records of an application's offers that come after a cursor, if it is of this application.
    fn offers_after(&self, application: ApplicationId, after: Option<OfferCursor>) -> Records {
        let after = after.filter(|after| after.application == application).map(|after| after.offer.to_bytes());
        self.records_of(Table::Offers, application.to_bytes(), after)
    }

    /// The offer of a record, if it is wanted.
    fn wanted(&self, query: &FindOffers, key: &[u8], value: &[u8], work: &mut Work) -> Answer<Option<Offer>> {
        let OfferCursor { application, offer: id } = offer_at(key)?;
        let stored = self.read(|base| base.stored_offer(key, &value))?;
        if !query.wants(&stored.standing) {
            return Ok(None);
        }
        work.records += 1;
        Ok(Some(self.offer(OfferRef { application, id, stored })?.seen_at(query.now)))
    }

    pub(super) async fn buyers(&self, query: &FindBuyers, work: &mut Work) -> Answer<Page<Buyer, BuyerCursor>> {
        let (from, to) = match query.scope {
            Scope::All => ([0; 16], LAST),
            Scope::Partner(partner) => (partner.to_bytes(), partner.to_bytes()),
        };
        let after = query.window.after.map(|after| buyer_key(after.partner, after.buyer));
        let first = pair(from, [0; 16]);
        let from = after.filter(|after| *after >= first).map_or(Bound::Included(first), Bound::Excluded);
        let records = self.base.index.range(Table::Buyers, bytes(&from), Bound::Included(&pair(to, LAST)));
        let found = self.part(records, query.window.limit, work, |key, value, work| {
            let value: BuyerValue = self.value(Table::Buyers, key, value)?;
            if query.registration_number.as_ref().is_some_and(|number| !value.may_have(number)) {
                return Ok(None);
            }
            let BuyerCursor { partner, buyer: id } = buyer_of(key)?;
            work.records += 1;
            let buyer = self.read(|base| base.buyer_at(partner, id, value.place))?.buyer(id);
            Ok(Some(buyer).filter(|buyer| query.wants(buyer.partner, &buyer.description)))
        });
        found.await?.page(buyer_of)
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

    pub(super) fn endpoints(&self, query: FindEndpoints) -> Answer<Page<Endpoint, EndpointId>> {
        self.health.working()?;
        let parties = self.base.parties();
        let endpoints = parties.webhooks.values().map(|webhook| &webhook.endpoint);
        Ok(sorted(endpoints.filter(|endpoint| query.wants(endpoint)).cloned(), query.window, |endpoint| endpoint.id))
    }

    /// Records after an id: everybody's by the first table, or a partner's by the second.
    fn records(&self, scope: Scope, [all, of]: [Table; 2], after: Option<[u8; 16]>) -> (Table, Records) {
        match scope {
            Scope::All => (all, self.all_of(all, after)),
            Scope::Partner(partner) => (of, self.records_of(of, partner.to_bytes(), after)),
        }
    }

    /// Records of a table after a key.
    fn all_of<const N: usize>(&self, table: Table, after: Option<[u8; N]>) -> Records {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.base.index.range(table, bytes(&from), Bound::Unbounded)
    }

    /// Records of a table of pairs whose first id is `first`, after a second id.
    fn records_of(&self, table: Table, first: [u8; 16], after: Option<[u8; 16]>) -> Records {
        let from = after.map_or(Bound::Included(pair(first, [0; 16])), |after| Bound::Excluded(pair(first, after)));
        self.base.index.range(table, bytes(&from), Bound::Included(&pair(first, LAST)))
    }

    /// A value of the index.
    pub(super) fn value<'a, T: Deserialize<'a>>(&self, table: Table, key: &[u8], value: &'a [u8]) -> Answer<T> {
        let value = codec::unseal(value);
        self.read(|base| value.map_err(|_| base.corrupt(table, key)))
    }

    /// Up to `limit` items of records: what `read` makes of one, if it is wanted.
    async fn part<T>(
        &self,
        mut records: Records,
        limit: usize,
        work: &mut Work,
        mut read: impl FnMut(&[u8], &[u8], &mut Work) -> Answer<Option<T>>,
    ) -> Answer<Part<T>> {
        let mut part = Part { items: Vec::new(), next: None };
        let mut last = None;
        while let Some((key, value)) = self.look_up(|_| records.next().transpose())? {
            if part.items.len() >= limit || work.is_done() {
                part.next = last;
                break;
            }
            work.entries += 1;
            part.items.extend(read(key.as_ref(), value.as_ref(), work)?);
            last = Some(key);
            work.turn().await;
        }
        Ok(part)
    }
}

struct Part<T> {
    items: Vec<T>,
    /// The last key that was looked at, if there are more.
    next: Option<Key>,
}

impl<T> Part<T> {
    /// The page that the part is; `cursor` is what a key stands for.
    fn page<C>(self, cursor: impl Fn(&[u8]) -> Answer<C>) -> Answer<Page<T, C>> {
        let next = self.next.map(|key| cursor(key.as_ref())).transpose()?;
        Ok(Page { items: self.items, next })
    }
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

/// The greatest id.
const LAST: [u8; 16] = [0xff; 16];

fn bytes<const N: usize>(bound: &Bound<[u8; N]>) -> Bound<&[u8]> {
    bound.as_ref().map(|key| &key[..])
}

/// The two ids of a key of the index.
fn ids(key: &[u8]) -> Answer<([u8; 16], [u8; 16])> {
    let (first, second) = key.split_first_chunk().ok_or(StoreError::Corrupt)?;
    Ok((*first, second.try_into().map_err(|_| StoreError::Corrupt)?))
}

/// The offer that a key of the index names.
fn offer_at(key: &[u8]) -> Answer<OfferCursor> {
    let (application, offer) = ids(key)?;
    Ok(OfferCursor { application: ApplicationId::from_bytes(application), offer: OfferId::from_bytes(offer) })
}

/// The buyer that a key of the index names.
fn buyer_of(key: &[u8]) -> Answer<BuyerCursor> {
    let (partner, buyer) = ids(key)?;
    Ok(BuyerCursor { partner: PartnerId::from_bytes(partner), buyer: BuyerId::from_bytes(buyer) })
}

/// The id that a key ends with.
fn last_id(key: &[u8]) -> Answer<[u8; 16]> {
    key.last_chunk().copied().ok_or(StoreError::Corrupt)
}

#[cfg(test)]
mod tests;
