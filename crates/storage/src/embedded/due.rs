//! Which offers expire when. An entry of the index names offers whose expiries lie in the same tenth of a second.
//!
//! Offers get their entry when they are created, or get other terms. It stays when an offer reaches another status, so
//! that an accept writes nothing for it, and is removed when it is due and its offers were looked at. So an entry may
//! name offers that do not expire then, but an offer that does is always named: what the log says is due is found.

use super::EmbeddedStore;
use super::base::Base;
use super::index::{Index, Table, unsealed};
use super::log::Place;
use super::log::disk::LogIo;
use super::problem::Problem;
use crate::codec::CodecError;
use lendpay_domain::command::{ExpireOffers, Stamp};
use lendpay_domain::life_cycle::Standing;
use lendpay_domain::offer::Status;
use lendpay_domain::query::{DueCursor, OfferCursor};
use lendpay_domain::store::{Answer, Commands as _};
use lendpay_domain::view::StoredOffer;
use lendpay_domain::{ApplicationId, OfferId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::ops::Bound;

/// The milliseconds of a span of time whose offers share entries.
const SPAN: i64 = 100;

/// The most offers of an entry: it has 2 KiB then.
const MOST: usize = 64;

/// The ids of an application and of one of its offers.
pub(super) type Ids = ([u8; 16], [u8; 16]);

/// An entry.
pub(crate) struct Due {
    pub(super) key: [u8; 16],
    pub(super) offers: Vec<Ids>,
}

/// The span that a moment lies in.
pub(super) fn span_of(at: Timestamp) -> i64 {
    at.timestamp_millis().div_euclid(SPAN)
}

/// A key of a span: in the order of time, then of a place in the log. That of an entry is where the terms of its first
/// offer are.
pub(super) fn key(span: i64, place: u64) -> [u8; 16] {
    (u128::from(span.cast_unsigned() ^ 1 << 63) << 64 | u128::from(place)).to_be_bytes()
}

impl Due {
    /// Reads a key and its value.
    pub(super) fn read<B: AsRef<[u8]>>((key, value): &(B, B)) -> Result<Self, CodecError> {
        let key = key.as_ref().try_into().map_err(|_| CodecError::Damaged)?;
        Ok(Self { key, offers: unsealed(value)? })
    }

    /// The span that its offers expire in.
    pub(super) fn span(&self) -> i64 {
        let (span, _) = self.key.split_first_chunk().expect("a key has 16 bytes");
        (u64::from_be_bytes(*span) ^ 1 << 63).cast_signed()
    }

    /// Its offers.
    pub(super) fn ids(&self) -> impl Iterator<Item = (ApplicationId, OfferId)> {
        let ids = |(application, offer): &Ids| (ApplicationId::from_bytes(*application), OfferId::from_bytes(*offer));
        self.offers.iter().map(ids)
    }

    /// The place where its span begins. Entries of the span that are left are looked at again.
    fn begin(&self) -> Option<DueCursor> {
        let expiry_at = Timestamp::from_timestamp_millis(self.span() * SPAN)?;
        let (application, offer) = (ApplicationId::from_bytes([0; 16]), OfferId::from_bytes([0; 16]));
        Some(DueCursor { expiry_at, offer: OfferCursor { application, offer } })
    }
}

/// When an offer is to expire.
pub(super) fn expiry_of<T>(stored: &StoredOffer<T>) -> Option<Timestamp> {
    let Standing { status, expiry_at, .. } = stored.standing;
    expiry_at.filter(|_| status == Status::Offered)
}

/// In which span an offer is to expire.
pub(super) fn expires_in<T>(stored: &StoredOffer<T>) -> Option<i64> {
    expiry_of(stored).map(span_of)
}

impl<I: Index, F: LogIo> Base<I, F> {
    /// Adds those of changed offers that are to expire. One that is Offered was created or has other terms: nothing
    /// else leads there.
    pub(super) fn put_due(
        &self,
        offers: &HashMap<(ApplicationId, OfferId), StoredOffer<Place>>,
    ) -> Result<(), Problem> {
        let due = offers.iter().filter_map(|((application, offer), stored)| {
            Some((expires_in(stored)?, stored.terms.at, (application.to_bytes(), offer.to_bytes())))
        });
        let mut due: Vec<(i64, u64, Ids)> = due.collect();
        due.sort_unstable();
        let mut value = Vec::new();
        for entry in due.chunk_by(|a, b| a.0 == b.0).flat_map(|span| span.chunks(MOST)) {
            let offers: Vec<_> = entry.iter().map(|(.., ids)| ids).collect();
            self.put(&mut value, Table::Due, &key(entry[0].0, entry[0].1), &offers)?;
        }
        Ok(())
    }

    /// Entries of spans that are over at a moment, from the span of a place on, with so many offers or a few more; and
    /// whether there may be more entries.
    pub(super) fn due(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
    ) -> Result<(Vec<Due>, bool), Problem> {
        let first = after.map_or(i64::MIN, |after| span_of(after.expiry_at));
        let (from, to) = (key(first, 0), key(span_of(now), 0));
        let (mut due, mut offers) = (Vec::new(), 0);
        for item in self.index.range(Table::Due, Bound::Included(&from), Bound::Excluded(&to)) {
            let item = item?;
            match Due::read(&item) {
                Ok(entry) => {
                    offers += entry.offers.len();
                    due.push(entry);
                }
                // Told once; it stays until the index is rebuilt.
                Err(_) if self.log.damage.is_found() => {}
                Err(_) => drop(self.corrupt(Table::Due, item.0.as_ref())),
            }
            if offers >= most {
                return Ok((due, true));
            }
        }
        Ok((due, false))
    }

    /// The offers that entries of a span name.
    pub(super) fn named(&self, span: i64) -> Result<HashSet<Ids>, Problem> {
        let (from, to) = (key(span, 0), key(span, u64::MAX));
        let entries = self.index.range(Table::Due, Bound::Included(&from), Bound::Included(&to));
        let mut named = HashSet::new();
        for item in entries {
            // One that cannot be read names nothing.
            named.extend(Due::read(&item?).into_iter().flat_map(|entry| entry.offers));
        }
        Ok(named)
    }
}

impl EmbeddedStore {
    /// Looks at offers that are due, and removes their entries.
    pub(super) async fn expire_due(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp,
    ) -> Answer<Option<DueCursor>> {
        let (due, more) = self.look_up(|base| base.due(after, now, most))?;
        let offers: Vec<_> = due.iter().flat_map(Due::ids).collect();
        for together in offers.chunks(ExpireOffers::TOGETHER) {
            self.run(ExpireOffers::at(now, together.iter().copied(), &stamp)).await?;
        }
        due.iter().try_for_each(|entry| self.look_up(|base| base.index.remove(Table::Due, &entry.key)))?;
        Ok(due.last().filter(|_| more).and_then(Due::begin))
    }
}
