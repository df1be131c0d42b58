//! The reference store, for tests: every record in memory, in order. Nothing is written to a disk.
//!
//! Other stores are compared with it, and tests of what stands above a store run on it. It is in no binary.

use crate::ImportError;
use crate::codec;
use crate::history::new_history;
use crate::records::CallRecord;
use lendpay_domain::buyer::{Buyer, Description};
use lendpay_domain::calls::{Call, Keeping, found};
use lendpay_domain::change::Record;
use lendpay_domain::command::{Command, ExpireOffers, Stamp, UseKey, Whole};
use lendpay_domain::event::EventPage;
use lendpay_domain::import::{Admission, Admitted, Imported};
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::{Offer, Terms};
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, DueCursor, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, OffersOf, Scope,
};
use lendpay_domain::store::{Answer, Calls, Commands, Export, Exports, Queries, Webhooks};
use lendpay_domain::view::{Nothing, Overlay, StoredOffer};
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Webhook};
use lendpay_domain::{
    ApplicationId, BuyerId, EndpointId, HistoryId, HolderId, KeyId, OfferId, OperationId, PartnerId, Timestamp,
};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A store in memory.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    /// The last sequence, for those who wait.
    last: watch::Sender<u64>,
    keeping: Keeping,
    /// Calls that changed nothing, and the lengths of their records.
    calls: Mutex<Vec<(u64, Call)>>,
}

struct State {
    /// Every record, in order.
    records: Vec<Record>,
    /// What the records have led to.
    view: Overlay<Nothing<Terms, Description>>,
    /// The greatest sequence so far.
    last: u64,
    history: HistoryId,
}

impl Default for State {
    fn default() -> Self {
        Self { records: Vec::new(), view: Overlay::new(Nothing::default()), last: 0, history: new_history() }
    }
}

impl State {
    fn run<C: Command>(&mut self, command: C) -> Answer<C::Outcome> {
        let decision = command.decide(&self.view)?;
        for change in decision.changes {
            self.push(Record { sequence: Some(self.last + 1), ..change });
        }
        command.outcome(decision.outcome, &Whole)
    }

    fn push(&mut self, record: Record) {
        self.view.apply(&record.change, Terms::clone, Description::clone).expect("a decision fits its view");
        self.last = record.sequence.unwrap_or(self.last);
        self.records.push(record);
    }
}

impl MemoryStore {
    /// An empty store that keeps calls like this.
    pub fn keeping(keeping: Keeping) -> Self {
        Self { keeping, ..Self::default() }
    }

    /// Imports records, all or none: into an empty store, or with `merge` into any.
    ///
    /// # Errors
    /// If the store is not empty, or a record does not fit. Nothing changes then.
    pub fn import(
        &self,
        records: impl IntoIterator<Item = Record>,
        merge: bool,
        now: Timestamp,
    ) -> Result<Imported, ImportError> {
        let mut state = self.state();
        if !merge && !state.records.is_empty() {
            return Err(ImportError::NotEmpty { place: "in memory".to_owned() });
        }
        let (mut admission, mut next) = (Admission::new(merge, now), State::default());
        state.records.iter().cloned().for_each(|record| next.push(record));
        for record in records {
            match admission.admit(&record, &next.view) {
                Ok(Admitted::Keep) => {}
                // Only a merge gives sequences: without one, a number between two neighbours may not exist.
                Ok(Admitted::Add { sequence }) => {
                    let sequence = sequence.or_else(|| merge.then_some(next.last + 1));
                    next.push(Record { sequence, ..record });
                }
                Err(error) => return Err(error.into()),
            }
        }
        *state = next;
        self.last.send_replace(state.last);
        Ok(admission.done())
    }

    fn run_now<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        let mut state = self.state();
        let outcome = state.run(command);
        self.last.send_replace(state.last);
        outcome
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Commands for MemoryStore {
    async fn run<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        self.run_now(command)
    }

    async fn expire(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        let due = |(&(application, offer), stored): (&(ApplicationId, OfferId), &StoredOffer<Terms>)| {
            let due =
                DueCursor { expiry_at: stored.standing.expiry(now)?.at, offer: OfferCursor { application, offer } };
            Some(due).filter(|due| after.is_none_or(|after| *due > after))
        };
        let mut due: Vec<_> = self.state().view.tables.offers.iter().filter_map(due).collect();
        due.sort_unstable();
        due.truncate(most);
        self.run_now(ExpireOffers::at(now, due.iter().map(|due| (due.offer.application, due.offer.offer)), stamp))?;
        Ok(due.last().copied().filter(|_| due.len() == most))
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        self.run_now(UseKey { key, at }).expect("look-ups in memory do not fail");
    }

    async fn check(&self) -> Answer<()> {
        Ok(())
    }
}

impl Queries for MemoryStore {
    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        Ok(self.state().view.tables.key_with_hash(hash).cloned())
    }

    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        let tables = &self.state().view.tables;
        if !tables.partners.contains_key(&partner) {
            return Ok(None);
        }
        let keys = tables.keys.values().filter(|key| key.partner == partner);
        let keys = keys.map(|key| KeyInUse { key: key.clone(), last_used_at: tables.uses.get(&key.hash).copied() });
        Ok(Some(page(keys, window, |key| key.key.id)))
    }

    async fn key_with_id(&self, id: KeyId) -> Answer<Option<KeyInUse>> {
        let tables = &self.state().view.tables;
        let key = tables.keys.values().filter(|key| key.id == id).min_by_key(|key| key.partner);
        Ok(key.map(|key| KeyInUse { key: key.clone(), last_used_at: tables.uses.get(&key.hash).copied() }))
    }

    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        Ok(self.state().view.tables.client(client))
    }

    async fn find_partner(&self, id: PartnerId) -> Answer<Option<Partner>> {
        Ok(self.state().view.tables.partners.get(&id).cloned())
    }

    async fn find_partners(&self, query: FindPartners) -> Answer<Page<Partner, PartnerId>> {
        let state = self.state();
        let partners = state.view.tables.partners.values().filter(|partner| query.wants(partner)).cloned();
        Ok(page(partners, query.window, |partner| partner.id))
    }

    async fn find_application(&self, id: ApplicationId) -> Answer<Option<Application>> {
        Ok(self.state().view.tables.applications.get(&id).map(|&partner| Application { id, partner }))
    }

    async fn find_applications(&self, query: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        let state = self.state();
        let all = state.view.tables.applications.iter().map(|(&id, &partner)| Application { id, partner });
        Ok(page(all.filter(|application| query.scope.holds(application.partner)), query.window, |found| found.id))
    }

    async fn find_offer(&self, application: ApplicationId, id: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        let state = self.state();
        let stored = state.view.tables.offers.get(&(application, id));
        Ok(stored.map(|stored| stored.clone().offer(application, id).seen_at(now)))
    }

    async fn find_offers(&self, query: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        let state = self.state();
        let offers = state.view.tables.offers.iter().filter(|((application, _), stored)| {
            query.wants(&stored.standing)
                && match query.of {
                    OffersOf::All => true,
                    OffersOf::Partner(partner) => stored.partner == partner,
                    OffersOf::Application(of) => *application == of,
                }
        });
        let offers =
            offers.map(|((application, id), stored)| stored.clone().offer(*application, *id).seen_at(query.now));
        Ok(page(offers, query.window, |offer| OfferCursor { application: offer.application, offer: offer.id }))
    }

    async fn find_buyer(&self, scope: Scope, id: BuyerId) -> Answer<Option<Buyer>> {
        let state = self.state();
        let buyers = state.view.tables.buyers.iter();
        let found = buyers.filter(|((partner, buyer), _)| *buyer == id && scope.holds(*partner)).min_by_key(|it| it.0);
        Ok(found.map(|(_, stored)| stored.clone().buyer(id)))
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        let state = self.state();
        let buyers = state.view.tables.buyers.iter().map(|((_, id), stored)| stored.clone().buyer(*id));
        let buyers = buyers.filter(|buyer| query.wants(buyer.partner, &buyer.description));
        Ok(page(buyers, query.window, |buyer| BuyerCursor { partner: buyer.partner, buyer: buyer.id }))
    }

    async fn find_events(&self, FindEvents { after, limit, filter }: FindEvents) -> Answer<EventPage> {
        let state = self.state();
        let events = state.records.iter().filter_map(Record::event);
        let mut events = events.filter(|event| event.sequence > after && filter.wants(event));
        let found: Vec<_> = events.by_ref().take(limit).collect();
        let next = events.next().map(|_| found.last().map_or(after, |event| event.sequence));
        let (history, last) = (state.history, state.last);
        Ok(EventPage { history, last, seen: next.unwrap_or(last.max(after)), events: found, next })
    }

    async fn wait_for_changes(&self, after: u64) -> Answer<()> {
        let mut last = self.last.subscribe();
        last.wait_for(|last| *last > after).await.expect("the store that is asked has the sender");
        Ok(())
    }
}

impl Webhooks for MemoryStore {
    async fn find_endpoints(&self, query: FindEndpoints) -> Answer<Page<Endpoint, EndpointId>> {
        let state = self.state();
        let endpoints = state.view.tables.webhooks.values().map(|webhook| &webhook.endpoint);
        Ok(page(endpoints.filter(|endpoint| query.wants(endpoint)).cloned(), query.window, |endpoint| endpoint.id))
    }

    async fn find_webhook(&self, id: EndpointId) -> Answer<Option<Webhook>> {
        Ok(self.state().view.tables.webhooks.get(&id).cloned().and_then(Webhook::there))
    }

    async fn hold(&self, _: HolderId, endpoints: Vec<EndpointId>) -> Answer<Vec<EndpointId>> {
        Ok(endpoints)
    }

    async fn release(&self, _: HolderId) -> Answer<()> {
        Ok(())
    }
}

impl Calls for MemoryStore {
    fn note_call(&self, call: Call) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (owner, since) = (call.owner(), self.keeping.since(call.at));
        let length = codec::seal(&CallRecord::from(&call), &mut Vec::new()).expect("a call is short");
        calls.push((length as u64, call));
        calls.retain(|(_, call)| call.at >= since);
        let held = |calls: &[(u64, Call)], counts: &dyn Fn(&Call) -> bool| -> u64 {
            calls.iter().filter(|(_, call)| counts(call)).map(|(length, _)| length).sum()
        };
        while held(&calls, &|call| call.owner() == owner) > owner.share(self.keeping.bytes) {
            let oldest = calls.iter().position(|(_, call)| call.owner() == owner).expect("it has some");
            calls.remove(oldest);
        }
        while held(&calls, &|_| true) > self.keeping.bytes {
            calls.remove(0);
        }
    }

    async fn calls_of(&self, operation: OperationId, now: Timestamp) -> Answer<Vec<Call>> {
        let (calls, since) = (self.calls.lock().unwrap_or_else(PoisonError::into_inner), self.keeping.since(now));
        let wanted = calls.iter().map(|(_, call)| call).filter(|call| call.operation == operation && call.at >= since);
        Ok(found(wanted.cloned().collect()))
    }
}

/// The part of a list that a window names.
fn page<T, C: Ord + Copy>(items: impl Iterator<Item = T>, window: Window<C>, id: impl Fn(&T) -> C) -> Page<T, C> {
    let mut items: Vec<_> = items.filter(|item| window.after.is_none_or(|after| id(item) > after)).collect();
    items.sort_unstable_by_key(&id);
    let more = items.len() > window.limit;
    items.truncate(window.limit);
    let next = items.last().map(&id).filter(|_| more);
    Page { items, next }
}

/// An export of a [`MemoryStore`].
pub struct MemoryExport {
    history: HistoryId,
    records: Vec<Record>,
}

impl Exports for MemoryStore {
    type Export = MemoryExport;

    async fn export(&self) -> Answer<MemoryExport> {
        let state = self.state();
        Ok(MemoryExport { history: state.history, records: state.records.clone() })
    }
}

impl Export for MemoryExport {
    fn history(&self) -> HistoryId {
        self.history
    }

    async fn next(&mut self) -> Answer<Vec<Record>> {
        Ok(std::mem::take(&mut self.records))
    }
}
