//! The model test finds faults: each is seeded into a store that is right otherwise.

use crate::conformance::Backend;
use crate::conformance::exports::everything;
use crate::model;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::calls::Call;
use lendpay_domain::change::Record;
use lendpay_domain::command::{AddKey, AddKeyOutcome, Command, CreateBuyer, MoveOffer, PutApplication, Stamp};
use lendpay_domain::event::EventPage;
use lendpay_domain::import::Imported;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, DueCursor, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, Scope,
};
use lendpay_domain::store::{Answer, Calls, Commands, Export, Exports, Queries, Webhooks};
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Webhook};
use lendpay_domain::{
    ApplicationId, BuyerId, EndpointId, HistoryId, HolderId, KeyId, OfferId, OperationId, PartnerId, Timestamp,
};
use lendpay_storage::ImportError;
use lendpay_storage::MemoryStore;
use std::any::Any;
use std::sync::{Arc, Mutex};

const NONE: u8 = 0;
const DROPPED_EVENT: u8 = 1;
const SWAPPED_RECORDS: u8 = 2;
const LOST_UPDATE: u8 = 3;
const STALE_READ: u8 = 4;
const FORGOTTEN_KEY: u8 = 5;
const SECOND_KEY_ID: u8 = 6;
const LOST_ON_REOPENING: u8 = 7;
const HALF_AN_IMPORT: u8 = 8;
const NUMBERED_AGAIN: u8 = 9;
const FINER_USE: u8 = 10;
const SHORT_LIST: u8 = 11;
const EARLY_ANSWER: u8 = 12;
const FORGOTTEN_STATUS: u8 = 13;
const ANOTHERS_BUYERS: u8 = 14;
const LOST_CURSOR: u8 = 15;

/// A store with a fault.
struct Faulty<const F: u8> {
    store: MemoryStore,
    /// As it was before the last command.
    before: Mutex<Arc<MemoryStore>>,
}

/// A store with the same records; they have other numbers if `merge` is set.
fn copy(records: Vec<Record>, merge: bool) -> MemoryStore {
    let copy = MemoryStore::default();
    copy.import(records, merge, Timestamp::UNIX_EPOCH).expect("an export can be imported");
    copy
}

fn cast<A: 'static, B: 'static>(value: A) -> Option<B> {
    (Box::new(value) as Box<dyn Any>).downcast().ok().map(|value| *value)
}

impl<const F: u8> Faulty<F> {
    fn of(store: MemoryStore) -> Arc<Self> {
        Arc::new(Self { store, before: Mutex::default() })
    }

    fn before(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.before.lock().expect("no panic before"))
    }
}

impl<const F: u8> Commands for Faulty<F> {
    async fn run<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        let kind: &(dyn Any + Send + Sync) = &command;
        let before = copy(everything(&self.store).await, false);
        // An accept that is answered and forgotten.
        let lost = kind.downcast_ref::<MoveOffer>().is_some_and(|command| command.partner.is_some());
        if F == LOST_UPDATE && lost {
            return before.run(command).await;
        }
        *self.before.lock().expect("no panic before") = Arc::new(before);
        if F == FORGOTTEN_KEY
            && let Some(creation) = kind.downcast_ref::<CreateBuyer>()
            && self.store.find_buyer(Scope::All, creation.id).await?.is_some()
        {
            let mut id = creation.id.to_bytes();
            id[0] ^= 0xff;
            let again = CreateBuyer { id: BuyerId::from_bytes(id), ..creation.clone() };
            return Ok(cast(self.store.run(again).await?).expect("the same kind of command"));
        }
        if F == EARLY_ANSWER && kind.is::<PutApplication>() {
            // Answered, but not there yet for whoever reads at once.
            return self.before().run(command).await;
        }
        let is_key = kind.is::<AddKey>();
        let answer = self.store.run(command).await;
        if F == SECOND_KEY_ID && is_key && answer.is_err() {
            return Ok(cast(AddKeyOutcome::Added).expect("the same kind of command"));
        }
        answer
    }

    async fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        self.store.expire(after, now, most, stamp).await
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        self.store.note_use(key, at);
    }

    async fn check(&self) -> Answer<()> {
        Ok(())
    }
}

impl<const F: u8> Queries for Faulty<F> {
    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        self.store.find_key(hash).await
    }

    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        let mut page = self.store.keys_of(partner, window).await?;
        for key in page.iter_mut().flat_map(|page| &mut page.items).filter(|_| F == FINER_USE) {
            key.last_used_at = key.last_used_at.map(|at| at + chrono::TimeDelta::minutes(13));
        }
        Ok(page)
    }

    async fn key_with_id(&self, id: KeyId) -> Answer<Option<KeyInUse>> {
        self.store.key_with_id(id).await
    }

    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        self.store.find_client(client).await
    }

    async fn find_offer(&self, application: ApplicationId, id: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        let before = self.before();
        let store = if F == STALE_READ { &before } else { &self.store };
        store.find_offer(application, id, now).await
    }

    async fn find_partner(&self, id: PartnerId) -> Answer<Option<Partner>> {
        self.store.find_partner(id).await
    }

    async fn find_partners(&self, query: FindPartners) -> Answer<Page<Partner, PartnerId>> {
        self.store.find_partners(query).await
    }

    async fn find_application(&self, id: ApplicationId) -> Answer<Option<Application>> {
        self.store.find_application(id).await
    }

    async fn find_applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        self.store.find_applications(query).await
    }

    async fn find_offers(&self, query: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let status = query.status.filter(|_| F != FORGOTTEN_STATUS);
        self.store.find_offers(FindOffers { status, ..query }).await
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        let scope = if F == ANOTHERS_BUYERS { Scope::All } else { query.scope };
        let page = self.store.find_buyers(FindBuyers { scope, ..query }).await?;
        Ok(if F == SHORT_LIST { Page { next: None, ..page } } else { page })
    }

    async fn find_buyer(&self, scope: Scope, id: BuyerId) -> Answer<Option<Buyer>> {
        self.store.find_buyer(scope, id).await
    }

    async fn find_events(&self, query: FindEvents) -> Answer<EventPage> {
        let mut page = self.store.find_events(query).await?;
        if F == DROPPED_EVENT && page.events.len() > 3 {
            page.events.remove(2);
        }
        Ok(page)
    }

    async fn wait_for_changes(&self, after: u64) -> Answer<()> {
        self.store.wait_for_changes(after).await
    }
}

impl<const F: u8> Webhooks for Faulty<F> {
    async fn find_endpoints(&self, query: FindEndpoints) -> Answer<Page<Endpoint, EndpointId>> {
        self.store.find_endpoints(query).await
    }

    async fn find_webhook(&self, id: EndpointId) -> Answer<Option<Webhook>> {
        let store = if F == LOST_CURSOR { &self.before() } else { &self.store };
        store.find_webhook(id).await
    }

    async fn hold(&self, holder: HolderId, endpoints: Vec<EndpointId>) -> Answer<Vec<EndpointId>> {
        self.store.hold(holder, endpoints).await
    }

    async fn release(&self, holder: HolderId) -> Answer<()> {
        self.store.release(holder).await
    }
}

impl<const F: u8> Calls for Faulty<F> {
    fn note_call(&self, call: Call) {
        self.store.note_call(call);
    }

    async fn calls_of(&self, operation: OperationId, now: Timestamp) -> Answer<Vec<Call>> {
        self.store.calls_of(operation, now).await
    }
}

struct FaultyExport {
    history: HistoryId,
    records: Vec<Record>,
}

impl Export for FaultyExport {
    fn history(&self) -> HistoryId {
        self.history
    }

    async fn next(&mut self) -> Answer<Vec<Record>> {
        Ok(std::mem::take(&mut self.records))
    }
}

impl<const F: u8> Exports for Faulty<F> {
    type Export = FaultyExport;

    async fn export(&self) -> Answer<FaultyExport> {
        let mut records = everything(&self.store).await;
        if F == SWAPPED_RECORDS && records.len() > 1 {
            let last = records.len() - 1;
            records.swap(last, last - 1);
        }
        Ok(FaultyExport { history: self.store.export().await?.history(), records })
    }
}

struct Seeded<const F: u8>(Arc<Faulty<F>>);

impl<const F: u8> Backend for Seeded<F> {
    type Store = Faulty<F>;

    async fn fresh() -> Self {
        Self(Faulty::of(MemoryStore::default()))
    }

    fn store(&self) -> &Arc<Faulty<F>> {
        &self.0
    }

    async fn import(self, records: Vec<Record>, merge: bool, now: Timestamp) -> (Self, Result<Imported, ImportError>) {
        let done = self.0.store.import(records.clone(), merge, now);
        if F == HALF_AN_IMPORT && done.is_err() {
            // Whatever fits from the start.
            let _ = (0..records.len()).rev().find(|&n| self.0.store.import(records[..n].to_vec(), merge, now).is_ok());
        }
        (self, done)
    }

    async fn reopen(self) -> Self {
        let mut records = everything(&self.0.store).await;
        if F == LOST_ON_REOPENING {
            records.pop();
        }
        if F == NUMBERED_AGAIN {
            records.iter_mut().for_each(|record| record.sequence = record.sequence.map(|sequence| sequence + 1));
        }
        Self(Faulty::of(copy(records, false)))
    }
}

#[test]
fn a_store_without_a_fault_agrees() {
    model::agrees_with_the_reference::<Seeded<NONE>>(64);
}

macro_rules! found {
    ($($name:ident: $fault:ident)+) => {$(
        #[test]
        fn $name() {
            let found = model::run::<Seeded<$fault>>(500, 0).expect_err("the fault is found").to_string();
            println!("{}", found.lines().next().expect("why"));
        }
    )+};
}

found! {
    an_event_that_is_dropped_is_found: DROPPED_EVENT
    records_that_are_swapped_are_found: SWAPPED_RECORDS
    an_update_that_is_lost_is_found: LOST_UPDATE
    a_read_that_is_stale_is_found: STALE_READ
    an_idempotency_key_that_is_forgotten_is_found: FORGOTTEN_KEY
    a_second_key_with_an_id_is_found: SECOND_KEY_ID
    a_change_that_is_lost_when_opening_is_found: LOST_ON_REOPENING
    a_rejected_import_that_is_half_there_is_found: HALF_AN_IMPORT
    sequences_that_are_given_again_are_found: NUMBERED_AGAIN
    a_use_to_the_minute_is_found: FINER_USE
    a_list_that_ends_early_is_found: SHORT_LIST
    an_answer_before_the_change_is_found: EARLY_ANSWER
    a_filter_that_is_forgotten_is_found: FORGOTTEN_STATUS
    buyers_of_other_partners_are_found: ANOTHERS_BUYERS
    progress_that_is_lost_is_found: LOST_CURSOR
}
