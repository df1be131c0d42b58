//! Which offers have expired. Of an expiry, status and time follow from the terms. So the index keeps of it two bytes,
//! and leaves the value of the offer as it is: Offered. Most offers end so, many at a time, and a value costs the
//! committer as much as all else that it does for an expiry.
//!
//! A value of the table holds the places of the terms of offers that expired in a tenth of a second, for one block of
//! 64 KiB of the log: places that begin in it, from its beginning.

use super::base::{Base, whole};
use super::due::{expiry_of, key, span_of};
use super::index::{Index, OfferValue, Table, unsealed};
use super::log::Place;
use super::log::disk::LogIo;
use super::problem::Problem;
use lendpay_domain::Timestamp;
use lendpay_domain::life_cycle::Standing;
use lendpay_domain::offer::Status;
use lendpay_domain::view::{StoredOffer, ViewError};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// The last key of the table: what would come after it has not expired. Nearly all that is asked for does.
#[derive(Default)]
pub(super) struct LastExpired(RwLock<[u8; 16]>);

impl LastExpired {
    pub(super) fn read(index: &impl Index) -> Result<Self, Problem> {
        let Some((last, _)) = index.all(Table::Expired).next_back().transpose()? else { return Ok(Self::default()) };
        let last = last.as_ref().try_into().map_err(|_| Problem::index("a key cannot be read"))?;
        Ok(Self(RwLock::new(last)))
    }

    fn get(&self) -> [u8; 16] {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self, to: [u8; 16]) {
        let mut last = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *last = to.max(*last);
    }
}

/// Where the table tells of the expiry of an offer: the key of the value, and what it contains then.
fn noted_at(expiry_at: Timestamp, terms: Place) -> ([u8; 16], u16) {
    let [.., high, low] = terms.at.to_be_bytes();
    (key(span_of(expiry_at), terms.at >> 16), u16::from_be_bytes([high, low]))
}

/// When an offer has expired, of which the table is to tell: not if it was created or got its terms at `from` in the log
/// or later, since the index has no value for that yet.
fn to_note(stored: &StoredOffer<Place>, from: u64) -> Option<Timestamp> {
    let Standing { status, status_changed_at, expiry_at, .. } = stored.standing;
    expiry_at.filter(|at| status == Status::Expired && *at == status_changed_at && stored.terms.at < from)
}

/// Whether the change of an offer is nothing but an expiry that the table tells of.
pub(super) fn only_expired(stored: &StoredOffer<Place>, from: u64) -> bool {
    to_note(stored, from).is_some()
}

impl<I: Index, F: LogIo> Base<I, F> {
    /// Notes the expiries among changed offers.
    pub(super) fn put_expired<K>(&self, offers: &HashMap<K, StoredOffer<Place>>, from: u64) -> Result<(), Problem> {
        let noted = offers.values().filter_map(|stored| Some(noted_at(to_note(stored, from)?, stored.terms)));
        let mut noted: Vec<_> = noted.collect();
        noted.sort_unstable();
        let mut buffer = Vec::new();
        for noted in noted.chunk_by(|a, b| a.0 == b.0) {
            let key = &noted[0].0;
            let value = self.index.get(Table::Expired, key)?;
            let mut places: Vec<u16> = value.map_or_else(|| Ok(Vec::new()), |value| whole(unsealed(&value)))?;
            places.extend(noted.iter().map(|(_, place)| place));
            places.sort_unstable();
            // A replay may note what was noted before.
            places.dedup();
            self.put(&mut buffer, Table::Expired, key, &places)?;
        }
        if let Some((last, _)) = noted.last() {
            self.last_expired.raise(*last);
        }
        Ok(())
    }

    /// What the index holds of an offer, from its key and value in [`Table::Offers`].
    pub(super) fn stored_offer(&self, key: &[u8], value: &impl AsRef<[u8]>) -> Result<StoredOffer<Place>, ViewError> {
        let stored = unsealed::<OfferValue>(value).and_then(StoredOffer::try_from);
        let mut stored = stored.map_err(|_| self.corrupt(Table::Offers, key))?;
        if let Some(expiry_at) = expiry_of(&stored)
            && self.has_expired(expiry_at, stored.terms)?
        {
            stored.standing = stored.standing.seen_at(expiry_at);
        }
        Ok(stored)
    }

    fn has_expired(&self, expiry_at: Timestamp, terms: Place) -> Result<bool, ViewError> {
        let (key, place) = noted_at(expiry_at, terms);
        if key > self.last_expired.get() {
            return Ok(false);
        }
        let places: Option<Vec<u16>> = self.found(Table::Expired, &key, |value| unsealed(value))?;
        Ok(places.is_some_and(|places| places.binary_search(&place).is_ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::index::sled::SledOpener;
    use crate::embedded::index::{IndexOpener as _, offer_key};
    use crate::embedded::log::disk::INDEX;
    use crate::embedded::verify::{Finding, verify};
    use crate::embedded::{EmbeddedOptions, EmbeddedStore};
    use lendpay_domain::life_cycle::Action;
    use lendpay_domain::offer::Terms;
    use lendpay_domain::store::{Commands as _, Queries as _};
    use lendpay_domain::testing::samples::*;
    use lendpay_domain::view::View as _;
    use std::path::Path;

    fn open(path: &Path) -> EmbeddedStore {
        EmbeddedStore::open(path, EmbeddedOptions::default()).expect("opens")
    }

    fn until(seconds: i64) -> Terms {
        Terms { expiry_at: Some(at(seconds)), ..terms() }
    }

    /// The statuses of offers 1 to 6: in their values in the index, and as the store says, at a time before all expiries.
    async fn statuses(store: &EmbeddedStore) -> (Vec<Status>, Vec<Status>) {
        let (mut kept, mut said) = (Vec::new(), Vec::new());
        for n in 1..=6 {
            let value = store.base.index.get(Table::Offers, &offer_key(application(1), offer(n))).expect("works");
            let value: OfferValue = unsealed(&value.expect("there")).expect("readable");
            kept.push(StoredOffer::try_from(value).expect("readable").standing.status);
            let found = store.find_offer(application(1), offer(n), at(0)).await.expect("works").expect("there");
            said.push(found.status);
        }
        (kept, said)
    }

    /// A store in which the offers 1 and 2 expired at 100, 3 at 200, and 4 and 5 were archived after that; 6 has not.
    async fn filled(path: &Path) {
        let store = open(path);
        store.run(put_partner(1, "a partner", None, 0)).await.expect("works");
        store.run(put_application(1, 1)).await.expect("works");
        for (n, end) in [(1, 100), (2, 100), (3, 200), (4, 100), (5, 200)] {
            store.run(put_offer(1, n, until(end), 1)).await.expect("works");
        }
        let expire = |now| store.expire(None, at(now), 100, || stamp(0));
        expire(150).await.expect("works");
        let open = store.base.offer(application(1), offer(3)).expect("works").expect("there");
        assert_eq!(open.standing.status, Status::Offered);
        expire(250).await.expect("works");
        // In a span that was looked at, after it was.
        store.run(put_offer(1, 6, until(100), 2)).await.expect("works");
        for n in [4, 5] {
            store.run(go(n, Action::Archive, 300)).await.expect("works");
        }
    }

    const KEPT: [Status; 6] =
        [Status::Offered, Status::Offered, Status::Offered, Status::Archived, Status::Archived, Status::Offered];
    const SAID: [Status; 6] =
        [Status::Expired, Status::Expired, Status::Expired, Status::Archived, Status::Archived, Status::Offered];

    #[tokio::test]
    async fn an_expiry_leaves_the_value_of_its_offer_as_it_is_and_is_seen_all_the_same() {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        filled(directory.path()).await;
        for _ in 0..2 {
            let (kept, said) = statuses(&open(directory.path())).await;
            assert_eq!((kept, said), (KEPT.to_vec(), SAID.to_vec()));
        }
        let rebuilt = EmbeddedStore::open(
            directory.path(),
            EmbeddedOptions { rebuild_index: true, ..EmbeddedOptions::default() },
        );
        let (_, said) = statuses(&rebuilt.expect("opens")).await;
        assert_eq!(said, SAID);
    }

    #[tokio::test]
    async fn an_expiry_that_is_missing_or_cannot_be_read_is_found_by_a_check() {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        filled(directory.path()).await;
        let check = || {
            let mut findings = Vec::new();
            verify(directory.path(), EmbeddedOptions::default(), |finding| findings.push(finding))
                .expect("can be read");
            let table = |finding| match finding {
                Finding::Entry { table, problem: "is not what the log says", .. } => table,
                other => panic!("{other}"),
            };
            findings.into_iter().map(table).collect::<Vec<_>>()
        };
        assert_eq!(check(), Vec::<&str>::new());
        let change = |change: &dyn Fn(&crate::embedded::index::sled::SledIndex, &[u8])| {
            let opener = SledOpener { path: directory.path().join(INDEX), cache: 1 << 24 };
            let index = opener.open().expect("opens");
            let first = index.all(Table::Expired).next().expect("there").expect("readable").0;
            change(&index, &first);
            index.sync().expect("works");
        };
        change(&|index, first| index.insert(Table::Expired, first, b"damaged").expect("works"));
        assert_eq!(check(), ["offers", "offers", "offers", "expired"]);
        change(&|index, first| index.remove(Table::Expired, first).expect("works"));
        assert_eq!(check(), ["offers", "offers"]);
    }
}
