//! Reads. They run on the caller's thread, without waiting for the committer, and see only what is published. Lists are
//! in
//! `list` and `events`.

use super::EmbeddedStore;
use super::base::Base;
use super::health::Health;
use super::index::BuyerValue;
use super::index::sled::SledIndex;
use super::log::disk::LockedFile;
use super::log::frame::Frame;
use super::log::{Frames, Place, ReadError};
use super::panics;
use super::problem::Problem;
use super::work::Work;
use crate::codec::CodecError;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::command::{OfferRef, Values};
use lendpay_domain::event::EventPage;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners, OfferCursor, Scope,
};
use lendpay_domain::store::{Answer, Queries, StoreError};
use lendpay_domain::view::{StoredBuyer, StoredOffer, View as _, ViewError};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use std::sync::Arc;

impl Queries for EmbeddedStore {
    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        self.health.working()?;
        Ok(self.base.parties().key_with_hash(hash).cloned())
    }

    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        self.keys(partner, window)
    }

    async fn key_with_id(&self, id: KeyId) -> Answer<Option<KeyInUse>> {
        self.health.working()?;
        let parties = self.base.parties();
        // Partners and keys are in memory.
        let owner = parties.partners.keys().filter(|partner| parties.keys.contains_key(&(**partner, id))).min();
        let key = owner.map(|partner| parties.keys[&(*partner, id)].clone());
        Ok(key.map(|key| KeyInUse { last_used_at: parties.uses.get(&key.hash).copied(), key }))
    }

    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        self.health.working()?;
        Ok(self.base.parties().client(client))
    }

    async fn find_offer(&self, application: ApplicationId, id: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        let Some(stored) = self.read(|base| base.offer(application, id))? else { return Ok(None) };
        self.offer(OfferRef { application, id, stored }).map(|offer| Some(offer.seen_at(now)))
    }

    async fn find_offers(&self, query: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        self.offers(&query, &mut Work::default()).await
    }

    async fn find_partner(&self, id: PartnerId) -> Answer<Option<Partner>> {
        self.read(|base| base.partner(id))
    }

    async fn find_partners(&self, query: FindPartners) -> Answer<Page<Partner, PartnerId>> {
        self.partners(&query, &mut Work::default()).await
    }

    async fn find_application(&self, id: ApplicationId) -> Answer<Option<Application>> {
        Ok(self.read(|base| base.application(id))?.map(|partner| Application { id, partner }))
    }

    async fn find_applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        self.applications(query, &mut Work::default()).await
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        self.buyers(&query, &mut Work::default()).await
    }

    async fn find_buyer(&self, scope: Scope, id: BuyerId) -> Answer<Option<Buyer>> {
        let mut partners = match scope {
            Scope::All => self.base.parties().partners.keys().copied().collect(),
            Scope::Partner(partner) => vec![partner],
        };
        partners.sort_unstable();
        for partner in partners {
            if let Some((stored, _)) = self.read(|base| base.find_buyer(partner, id))? {
                return Ok(Some(stored.buyer(id)));
            }
        }
        Ok(None)
    }

    async fn find_events(&self, query: FindEvents) -> Answer<EventPage> {
        self.events(&query, None, &mut Work::default()).await
    }

    async fn find_events_for(&self, after: u64, limit: usize, partners: Arc<[PartnerId]>) -> Answer<EventPage> {
        self.events(&FindEvents::all(after, limit), Some(&partners), &mut Work::default()).await
    }

    async fn wait_for_changes(&self, after: u64) -> Answer<()> {
        self.changes_after(after).await
    }
}

impl Values<Place, BuyerValue> for EmbeddedStore {
    fn offer(&self, OfferRef { application, id, stored }: OfferRef<Place>) -> Answer<Offer> {
        let StoredOffer { partner, standing, terms: place } = stored;
        let terms = self.read(|base| base.terms(application, id, place))?;
        Ok(StoredOffer { partner, standing, terms }.offer(application, id))
    }

    fn buyer(&self, id: BuyerId, stored: StoredBuyer<BuyerValue>) -> Answer<Buyer> {
        Ok(self.read(|base| base.buyer_at(stored.partner, id, stored.description.place))?.buyer(id))
    }
}

impl EmbeddedStore {
    /// As [`Queries::wait_for_changes`], without keeping the store open. Is ready, too, when the store is closed.
    pub fn changes_after(&self, sequence: u64) -> impl Future<Output = Answer<()>> + Send + use<> {
        let (come, failed) = (self.base.log.passes(sequence), self.health.failure());
        async move {
            tokio::select! {
                () = come => Ok(()),
                _ = failed => Err(StoreError::Unavailable),
            }
        }
    }

    /// Reads what is published.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Base<SledIndex, LockedFile>) -> Result<T, ViewError>) -> Answer<T> {
        let read = self.look_up(|base| match read(base) {
            Err(ViewError::Failed) => Err(Problem::look_up()),
            read => Ok(read),
        })?;
        read.map_err(|_| StoreError::Corrupt)
    }

    /// Looks into the index. A failure of the index ends the store, as it does for the committer.
    pub(super) fn look_up<T>(
        &self,
        look_up: impl FnOnce(&Base<SledIndex, LockedFile>) -> Result<T, Problem>,
    ) -> Answer<T> {
        self.health.working()?;
        panics::caught(|| look_up(&self.base)).map_err(|problem| {
            self.health.fail(&problem.to_string());
            // Ends the committer, which sees to it that the index is not trusted again.
            self.queue.close();
            if matches!(problem, Problem::Index(_)) { StoreError::Corrupt } else { StoreError::Unavailable }
        })
    }
}

/// Gives `take` one frame after the other, until there is none or it wants no more.
pub(super) fn each_frame(
    frames: &mut Frames<'_, LockedFile>,
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
                frames.log.damage.note_log(at);
                return Err(StoreError::Corrupt);
            }
            Err(ReadError::Io(error)) => {
                // It ends the store.
                health.fail(&Problem::from(error).to_string());
                return Err(StoreError::Unavailable);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::EmbeddedOptions;
    use lendpay_domain::store::Commands as _;
    use lendpay_domain::testing::samples::put_partner;

    /// An index that turns out to be damaged under a reader is not trusted by the next opening.
    #[tokio::test]
    async fn an_index_that_fails_a_reader_is_rebuilt() {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        let store = EmbeddedStore::open(directory.path(), EmbeddedOptions::default()).expect("opens");
        store.run(put_partner(1, "a partner", None, 0)).await.expect("works");
        assert!(directory.path().join("mark").exists());
        let found: Answer<()> = store.look_up(|_| Err(Problem::index("as a page can be")));
        assert_eq!(found, Err(StoreError::Corrupt));
        drop(store);
        while directory.path().join("mark").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
}
