//! The embedded store, on sled 0.34.
//!
//! | module | subject |
//! |---|---|
//! | `open`, `prepare` | settings, what can be wrong, the version of the format, trees that are made anew |
//! | `log`, `frame`, `entry` | the log: its file, and what it says |
//! | `trees` | the index: what is where, as the log has it |
//! | `redo`, `checkpoint`, `mark` | bringing the index up to date after a crash, and how far back that goes |
//! | `migrate` | stores of format 1 |
//! | `watchdog` | noticing a committer or a checkpoint that waits for ever |
//! | `queue`, `work` | commands on their way to the committer, and their answers |
//! | `committer` | the one thread that writes: groups, syncs, stops for good |
//! | `decide` | from commands to staged changes, by the domain's rules |
//! | `read`, `list` | reads, on the caller's thread |
//! | `uses` | when keys were last used |
//! | `export`, `import` | everything as records, out and in |
//! | `clients`, `fault`, `health` | who an OAuth client is, damaged records, whether it works and how busy it is |
//! | `quiet`, `release` | panics, the lock on the directory |

mod checkpoint;
mod clients;
mod committer;
mod decide;
mod entry;
mod export;
mod fault;
mod frame;
mod health;
mod import;
mod list;
mod log;
mod mark;
mod migrate;
mod open;
mod prepare;
mod queue;
mod quiet;
mod read;
mod redo;
mod release;
mod trees;
mod uses;
mod watchdog;
mod work;

pub use export::SledExport;
pub use import::SledImport;
pub use open::{OpenError, SledOptions};

use crate::codec;
use crate::records::{BuyerRecord, OfferHead, OfferTail};
use crate::stats::StoreStats;
use fault::readable;
use health::Health;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::Event;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Offer, Status};
use lendpay_domain::page::{Page, Window};
use lendpay_domain::store::{
    AcceptOffer, AcceptOutcome, AddKey, AddKeyOutcome, Answer, CreateBuyer, CreateBuyerOutcome, FindBuyers, MoveOffer,
    MoveOutcome, PutApplication, PutApplicationOutcome, PutOffer, PutOfferOutcome, PutPartner, PutPartnerOutcome,
    RevokeKey, RevokeKeyOutcome, Store,
};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use queue::Queue;
use release::Release;
use std::sync::Arc;
use std::thread::JoinHandle;
use trees::{StateKey, Trees};
use uses::Uses;
use work::{Move, Moved, Offered, Offering, Register, Registered, Revoke, Work};

/// The embedded store. One process can have it open.
///
/// Dropping it does what waits in the queue, and returns when that is durable and the files are closed.
pub struct SledStore {
    trees: Arc<Trees>,
    health: Arc<Health>,
    queue: Queue,
    uses: Uses,
    /// The committer; `None` while the store is being dropped.
    thread: Option<JoinHandle<()>>,
    /// Comes after `trees`: fields are dropped in this order.
    _release: Release,
}

impl SledStore {
    /// Takes no more commands, does those that wait, syncs, and ends the committer. Later commands get
    /// [`Unavailable`](lendpay_domain::StoreError::Unavailable); reads go on working. The files are closed, and the directory is
    /// free for another process, when the store is dropped.
    ///
    /// # Errors
    /// `Unavailable` if the store has failed.
    pub async fn close(&self) -> Answer<()> {
        self.queue.close();
        self.health.ended().await
    }

    /// Is ready, with the reason, when the store has failed and stopped for good; never otherwise. The program should end
    /// then: what is acknowledged is on disk, and only a new start finds out what else is.
    pub fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        self.health.failure()
    }

    /// Why the store has failed, if it has.
    pub fn failure_reason(&self) -> Option<String> {
        self.health.failure_reason().map(|reason| reason.to_string())
    }

    /// Counters.
    pub fn stats(&self) -> StoreStats {
        self.health.stats()
    }

    async fn move_to(&self, command: Move) -> Answer<Moved> {
        self.queue.run(Work::Move, command).await
    }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        self.queue.close();
        // One that has failed may wait for ever.
        if let Some(thread) = self.thread.take()
            && self.health.failure_reason().is_none()
        {
            // The committer catches its panics; there is nothing to hear here.
            drop(thread.join());
        }
    }
}

impl Store for SledStore {
    type Export = SledExport;

    async fn accept_offer(&self, command: AcceptOffer) -> Answer<AcceptOutcome> {
        let AcceptOffer { partner, application, offer, stamp } = command;
        let command = Move { partner: Some(partner), application, offer, action: Action::Accept, stamp };
        Ok(match self.move_to(command).await? {
            Moved::Done(state) => AcceptOutcome::Accepted(self.whole_offer(application, offer, &state)?),
            Moved::Illegal(illegal) => AcceptOutcome::Refused(illegal),
            Moved::NotFound => AcceptOutcome::NotFound,
        })
    }

    async fn create_buyer(&self, command: CreateBuyer) -> Answer<CreateBuyerOutcome> {
        let CreateBuyer { partner, id, fingerprint, buyer, stamp } = command;
        let description = buyer.into_description();
        let mut value = Vec::new();
        codec::seal(&BuyerRecord::new(partner, stamp.at, fingerprint, &description), &mut value)
            .map_err(|error| fault::unwritable(&StateKey::buyer(id), error))?;
        let command = Register { partner, id, fingerprint, value, stamp };
        Ok(match self.queue.run(Work::Register, command).await? {
            Registered::Created => {
                CreateBuyerOutcome::Created(Buyer { id, partner, description, created_at: stamp.at })
            }
            Registered::Replayed(place) => CreateBuyerOutcome::Replayed(self.whole_buyer(id, place)?),
            Registered::KeyReused => CreateBuyerOutcome::KeyReused,
        })
    }

    async fn move_offer(&self, command: MoveOffer) -> Answer<MoveOutcome> {
        let MoveOffer { application, offer, action, stamp } = command;
        Ok(match self.move_to(Move { partner: None, application, offer, action, stamp }).await? {
            Moved::Done(state) => MoveOutcome::Done(self.whole_offer(application, offer, &state)?),
            Moved::Illegal(illegal) => MoveOutcome::Illegal(illegal),
            Moved::NotFound => MoveOutcome::NotFound,
        })
    }

    async fn put_offer(&self, command: PutOffer) -> Answer<PutOfferOutcome> {
        let PutOffer { application, offer, terms, stamp } = command;
        let key = StateKey::offer(application, offer);
        let mut tail = Vec::new();
        codec::append(&OfferTail::from(&terms), &mut tail).map_err(|error| fault::unwritable(&key, error))?;
        let nobody = PartnerId::from_bytes([0; 16]);
        let head = OfferHead::new(nobody, &terms, Status::Offered, stamp.at);
        let command = Offering { application, offer, head, tail, stamp };
        let outcome = self.queue.run(Work::Offer, command).await?;
        let whole = |head: OfferHead| {
            let status_changed_at = readable(&key, head.status_changed_at.try_into())?;
            let partner = PartnerId::from_bytes(head.partner);
            Ok(Offer { id: offer, application, partner, terms, status: Status::Offered, status_changed_at })
        };
        Ok(match outcome {
            Offered::Created(head) => PutOfferOutcome::Created(whole(head)?),
            Offered::Replaced(head) => PutOfferOutcome::Replaced(whole(head)?),
            Offered::Fixed(status) => PutOfferOutcome::Fixed(status),
            Offered::NoApplication => PutOfferOutcome::NoApplication,
        })
    }

    async fn put_partner(&self, command: PutPartner) -> Answer<PutPartnerOutcome> {
        self.queue.run(Work::Partner, command).await
    }

    async fn add_key(&self, command: AddKey) -> Answer<AddKeyOutcome> {
        self.queue.run(Work::Key, command).await
    }

    async fn revoke_key(&self, command: RevokeKey) -> Answer<RevokeKeyOutcome> {
        // Keys do not change hands, so the hash can be found out here.
        match self.hash_of(command.partner, command.key).await? {
            Some(hash) => self.queue.run(Work::Revoke, Revoke { hash, at: command.at }).await,
            None => Ok(RevokeKeyOutcome::NotFound),
        }
    }

    async fn put_application(&self, command: PutApplication) -> Answer<PutApplicationOutcome> {
        self.queue.run(Work::Application, command).await
    }

    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        self.key(hash).await
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        self.uses.note(key, at, &self.queue);
    }

    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        self.keys(partner, window).await
    }

    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        self.client(client).await
    }

    async fn find_offer(&self, application: ApplicationId, offer: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        self.offer_at(application, offer, now).await
    }

    async fn offers_of(
        &self,
        application: ApplicationId,
        window: Window<OfferId>,
        now: Timestamp,
    ) -> Answer<Option<Page<Offer, OfferId>>> {
        self.offers(application, window, now).await
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerId>> {
        self.buyers(query).await
    }

    async fn find_buyer(&self, id: BuyerId) -> Answer<Option<Buyer>> {
        self.buyer(id).await
    }

    async fn events(&self, after: u64, limit: usize) -> Answer<Vec<Event>> {
        self.events_after(after, limit).await
    }

    async fn export(&self) -> Answer<SledExport> {
        self.begin_export().await
    }

    async fn check(&self) -> Answer<()> {
        self.queue.run(Work::Check, ()).await
    }
}
