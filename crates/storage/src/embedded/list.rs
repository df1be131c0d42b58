//! Lists, a page at a time. They run on the caller's thread and look at a bounded number of records.

use super::EmbeddedStore;
use super::index::sled::SledIndex;
use super::index::{BuyerValue, Index, Items, OfferValue, Table, buyer_key, offer_key, pair, unsealed};
use crate::codec;
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
use lendpay_domain::view::StoredOffer;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, StoreError};
use serde::Deserialize;
use std::ops::Bound;

/// The most records that one page looks at: some milliseconds.
pub(super) const LOOKED_AT: usize = 20_000;

/// Keys and values of the index, in order.
type Records = Items<<SledIndex as Index>::Bytes>;

impl EmbeddedStore {
    pub(super) fn partners(&self, query: &FindPartners) -> Answer<Page<Partner, PartnerId>> {
        self.health.working()?;
        // Partners are few and this is asked rarely, so it looks at all of them.
        let parties = self.base.parties();
        let wanted = parties.partners.values().filter(|partner| query.wants(partner)).cloned();
        Ok(sorted(wanted, query.window, |partner| partner.id))
    }

    pub(super) fn applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        let FindApplications { scope, window } = query;
        let after = window.after.map(ApplicationId::to_bytes);
        let (table, records) = self.records(scope, [Table::Applications, Table::ApplicationsOf], after);
        let found = self.part(records, window.limit, |key, value| {
            let id = ApplicationId::from_bytes(last_id(key)?);
            let partner = match scope {
                Scope::All => PartnerId::from_bytes(self.value(table, key, value)?),
                Scope::Partner(partner) => partner,
            };
            Ok(Some(Application { id, partner }))
        })?;
        let next = found.next.map(|key| last_id(&key)).transpose()?.map(ApplicationId::from_bytes);
        Ok(Page { items: found.items, next })
    }

    pub(super) fn offers(&self, query: &FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let after = query.window.after;
        let records = match query.of {
            OffersOf::Partner(partner) => return self.offers_of_partner(partner, query),
            OffersOf::All => {
                let after = after.map(|after| offer_key(after.application, after.offer));
                self.base.index.range(
                    Table::Offers,
                    bytes(&after.map_or(Bound::Unbounded, Bound::Excluded)),
                    Bound::Unbounded,
                )
            }
            OffersOf::Application(application) => {
                if after.is_some_and(|after| after.application > application) {
                    return Ok(Page { items: Vec::new(), next: None });
                }
                self.offers_after(application, after)
            }
        };
        let found = self.part(records, query.window.limit, |key, value| self.wanted(query, key, value))?;
        Ok(Page { items: found.items, next: found.next.as_deref().map(offer_at).transpose()? })
    }

    /// Offers of one application after the other. An application counts as a record too: many can be without offers.
    fn offers_of_partner(&self, partner: PartnerId, query: &FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let after = query.window.after;
        let first = after.map_or([0; 16], |after| after.application.to_bytes());
        let (from, to) = (pair(partner.to_bytes(), first), pair(partner.to_bytes(), LAST));
        let mut applications =
            self.base.index.range(Table::ApplicationsOf, Bound::Included(&from), Bound::Included(&to));
        let (mut page, mut last, mut looked_at) = (Page { items: Vec::new(), next: None }, after, 0);
        while let Some((key, _)) = self.look_up(|_| applications.next().transpose())? {
            let application = ApplicationId::from_bytes(last_id(key.as_ref())?);
            let mut records = self.offers_after(application, after);
            while let Some((key, value)) = self.look_up(|_| records.next().transpose())? {
                if page.items.len() >= query.window.limit || looked_at >= LOOKED_AT {
                    page.next = last;
                    return Ok(page);
                }
                page.items.extend(self.wanted(query, key.as_ref(), value.as_ref())?);
                last = Some(offer_at(key.as_ref())?);
                looked_at += 1;
            }
            last = Some(OfferCursor { application, offer: OfferId::from_bytes(LAST) });
            looked_at += 1;
            if looked_at > LOOKED_AT {
                page.next = last;
                return Ok(page);
            }
        }
        Ok(page)
    }

    /// The records of an application's offers that come after a cursor, if it is of this application.
    fn offers_after(&self, application: ApplicationId, after: Option<OfferCursor>) -> Records {
        let after = after.filter(|after| after.application == application).map(|after| after.offer.to_bytes());
        self.records_of(Table::Offers, application.to_bytes(), after)
    }

    /// The offer of a record, if it is wanted.
    fn wanted(&self, query: &FindOffers, key: &[u8], value: &[u8]) -> Answer<Option<Offer>> {
        let OfferCursor { application, offer: id } = offer_at(key)?;
        let stored = unsealed::<OfferValue>(&value).and_then(StoredOffer::try_from);
        let stored = self.read(|base| stored.map_err(|_| base.corrupt(Table::Offers, key)))?;
        if !query.wants(&stored.standing) {
            return Ok(None);
        }
        Ok(Some(self.offer(OfferRef { application, id, stored })?.seen_at(query.now)))
    }

    pub(super) fn buyers(&self, query: &FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        let (from, to) = match query.scope {
            Scope::All => ([0; 16], LAST),
            Scope::Partner(partner) => (partner.to_bytes(), partner.to_bytes()),
        };
        let after = query.window.after.map(|after| buyer_key(after.partner, after.buyer));
        let first = pair(from, [0; 16]);
        let from = after.filter(|after| *after >= first).map_or(Bound::Included(first), Bound::Excluded);
        let records = self.base.index.range(Table::Buyers, bytes(&from), Bound::Included(&pair(to, LAST)));
        let found = self.part(records, query.window.limit, |key, value| {
            let value: BuyerValue = self.value(Table::Buyers, key, value)?;
            if query.registration_number.as_ref().is_some_and(|number| !value.may_have(number)) {
                return Ok(None);
            }
            let BuyerCursor { partner, buyer: id } = buyer_of(key)?;
            let buyer = self.read(|base| base.buyer_at(partner, id, value.place))?.buyer(id);
            Ok(Some(buyer).filter(|buyer| query.wants(buyer.partner, &buyer.description)))
        })?;
        Ok(Page { items: found.items, next: found.next.map(|key| buyer_of(&key)).transpose()? })
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

    /// Records after an id: everybody's by the first table, or a partner's by the second.
    fn records(&self, scope: Scope, [all, of]: [Table; 2], after: Option<[u8; 16]>) -> (Table, Records) {
        match scope {
            Scope::All => {
                let from = after.map_or(Bound::Unbounded, Bound::Excluded);
                (all, self.base.index.range(all, bytes(&from), Bound::Unbounded))
            }
            Scope::Partner(partner) => (of, self.records_of(of, partner.to_bytes(), after)),
        }
    }

    /// Records of a table of pairs whose first id is `first`, after a second id.
    fn records_of(&self, table: Table, first: [u8; 16], after: Option<[u8; 16]>) -> Records {
        let from = after.map_or(Bound::Included(pair(first, [0; 16])), |after| Bound::Excluded(pair(first, after)));
        self.base.index.range(table, bytes(&from), Bound::Included(&pair(first, LAST)))
    }

    /// A value of the index.
    fn value<'a, T: Deserialize<'a>>(&self, table: Table, key: &[u8], value: &'a [u8]) -> Answer<T> {
        let value = codec::unseal(value);
        self.read(|base| value.map_err(|_| base.corrupt(table, key)))
    }

    /// Up to `limit` items of records: what `read` makes of one, if it is wanted.
    fn part<T>(
        &self,
        mut records: Records,
        limit: usize,
        mut read: impl FnMut(&[u8], &[u8]) -> Answer<Option<T>>,
    ) -> Answer<Part<T>> {
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
