//! The model test: histories of a store by chance, beside the same history of the reference store. Outcomes, everything
//! that can be read, events and exports must agree. A history that fails is made as short as possible and printed.

mod steps;

use crate::conformance::Backend;
use crate::conformance::exports::everything;
use crate::conformance::samples::*;
use lendpay_domain::change::{Change, Record};
use lendpay_domain::event::Event;
use lendpay_domain::key::KeyHash;
use lendpay_domain::offer::{Offer, Status};
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, EventFilter, EventTypes, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners, OffersOf,
    Scope,
};
use lendpay_domain::store::{Answer, Commands as _, Queries as _, Webhooks as _};
use lendpay_domain::testing::commands::{Asked, IDS};
use lendpay_domain::webhook::{Endpoint, FindEndpoints};
use lendpay_domain::{BuyerId, Store};
use lendpay_storage::ImportError;
use lendpay_storage::MemoryStore;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestError, TestRunner};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use steps::{Mistake, Step, histories};

type Check = Result<(), TestCaseError>;

/// Runs so many histories. PROPTEST_CASES, if it is set, says how many, and then each run takes others.
pub fn agrees_with_the_reference<B: Backend>(cases: u32) {
    if let Err(failure) = run::<B>(cases, 2_000) {
        panic!("{failure}");
    }
}

/// The same, for tests of this test: `Err` is what it found.
pub fn run<B: Backend>(cases: u32, shrink: u32) -> Result<(), TestError<Vec<Step>>> {
    let given = ProptestConfig::default();
    let short = ProptestConfig { cases, rng_seed: RngSeed::Fixed(15), ..given.clone() };
    let config = if given.cases == 256 { short } else { given };
    // A failure is told in time, if not as short as possible.
    let limits =
        ProptestConfig { failure_persistence: None, max_shrink_iters: shrink, max_shrink_time: 15_000, ..config };
    TestRunner::new(limits).run(&histories(), |history| {
        // One for each history: with it goes what a store has left running, connections included.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("starts").block_on(compare::<B>(history))
    })
}

/// A store and its reference.
struct Pair<B> {
    backend: B,
    reference: MemoryStore,
    /// The events that were read so far, in the store's own numbers.
    events: Vec<Event>,
    /// Nothing ran at the same time so far: the order of all events is known.
    in_turn: bool,
    /// The number of the next command.
    next: u64,
}

async fn compare<B: Backend>(history: Vec<Step>) -> Check {
    let (backend, reference) = (B::fresh().await, MemoryStore::default());
    let mut pair = Pair { backend, reference, events: Vec::new(), in_turn: true, next: 1 };
    for step in history {
        pair = pair.step(step).await?;
        pair.same_reads().await?;
        pair.same_history().await?;
    }
    Ok(())
}

impl<B: Backend> Pair<B> {
    fn number(&mut self, asked: &mut Asked) {
        asked.number(self.next);
        self.next += 1;
    }

    async fn step(mut self, step: Step) -> Result<Self, TestCaseError> {
        match step {
            Step::Run(mut asked) => {
                self.number(&mut asked);
                let (told, wanted) = (asked.run(&**self.backend.store()).await, asked.run(&self.reference).await);
                prop_assert_eq!(told, wanted, "{:?}", asked);
            }
            Step::Together(mut lists) => {
                lists.iter_mut().flatten().for_each(|asked| self.number(asked));
                let run = |list: Vec<Asked>| {
                    let store = Arc::clone(self.backend.store());
                    tokio::spawn(async move {
                        let mut told = Vec::new();
                        for asked in list {
                            told.push(asked.run(&*store).await);
                        }
                        told
                    })
                };
                let running: Vec<_> = lists.iter().cloned().map(run).collect();
                for (list, told) in lists.iter().zip(running) {
                    let told = told.await.expect("no command panics");
                    for (asked, told) in list.iter().zip(told) {
                        prop_assert_eq!(told, asked.run(&self.reference).await, "{:?}", asked);
                    }
                }
                self.in_turn = false;
            }
            Step::Import { mut commands, mistake, merge } => {
                let other = MemoryStore::default();
                for asked in &mut commands {
                    self.number(asked);
                    asked.run(&other).await;
                }
                let records = with_mistake(everything(&other).await, mistake);
                let wanted = self.reference.import(records.clone(), merge, at(5));
                let (backend, done) = self.backend.import(records, merge, at(5)).await;
                self.backend = backend;
                prop_assert_eq!(done.map_err(reason), wanted.map_err(reason));
            }
            Step::Reopen => self.backend = self.backend.reopen().await,
            Step::Crash => self.backend = self.backend.crash().await,
        }
        Ok(self)
    }

    /// Every query has the same answer, at several moments.
    async fn same_reads(&self) -> Check {
        let (store, reference) = (&**self.backend.store(), &self.reference);
        for client in ["one", "two", "own 0", "own 1", "own 2", "nobody"] {
            prop_assert_eq!(store.find_client(client).await, reference.find_client(client).await, "{}", client);
        }
        for n in (0..IDS).chain(100..100 + IDS) {
            let hash = KeyHash::of(&n.to_string());
            prop_assert_eq!(store.find_key(hash).await, reference.find_key(hash).await, "key {}", n);
            for seconds in [0, 20, 40] {
                for of in [OffersOf::Application(application(n)), OffersOf::Partner(partner(n)), OffersOf::All] {
                    for status in [None, Some(Status::Offered), Some(Status::Expired)] {
                        let wanted = offers(reference, of, status, seconds).await;
                        let found = offers(store, of, status, seconds).await;
                        prop_assert_eq!(found, wanted, "{:?} {:?} at {}", of, status, seconds);
                    }
                }
                for one in offers(reference, OffersOf::Application(application(n)), None, seconds).await {
                    let found = store.find_offer(one.application, one.id, at(seconds)).await;
                    prop_assert_eq!(found, Ok(Some(one)));
                }
            }
            prop_assert_eq!(store.find_offer(application(n), offer(99), at(0)).await, Ok(None));
            prop_assert_eq!(store.find_partner(partner(n)).await, reference.find_partner(partner(n)).await);
            let found = store.find_application(application(n)).await;
            prop_assert_eq!(found, reference.find_application(application(n)).await);
            // Nobody waits until a use is noted.
            let wanted = keys(reference, n).await;
            let mut found = keys(store, n).await;
            for _ in 0..400 {
                if found == wanted {
                    break;
                }
                store.check().await.expect("works");
                tokio::time::sleep(Duration::from_millis(5)).await;
                found = keys(store, n).await;
            }
            prop_assert_eq!(found, wanted, "keys of {}", n);
        }
        for scope in [Scope::All, Scope::Partner(partner(0)), Scope::Partner(partner(1)), Scope::Partner(partner(99))] {
            for number in [None, Some("0"), Some("1"), Some("2")] {
                let (found, wanted) = (buyers(store, scope, number).await, buyers(reference, scope, number).await);
                prop_assert_eq!(&found, &wanted, "buyers of {:?} with {:?}", scope, number);
                for one in wanted {
                    let own = Scope::Partner(one.partner);
                    prop_assert_eq!(store.find_buyer(own, one.id).await, Ok(Some(one.clone())));
                    let anybodys = reference.find_buyer(Scope::All, one.id).await;
                    prop_assert_eq!(store.find_buyer(Scope::All, one.id).await, anybodys);
                }
            }
            let (found, wanted) = (applications(store, scope).await, applications(reference, scope).await);
            prop_assert_eq!(found, wanted, "applications of {:?}", scope);
        }
        prop_assert_eq!(endpoints(store).await, endpoints(reference).await);
        for n in (0..IDS).chain(100..100 + IDS) {
            let wanted = reference.find_webhook(endpoint_id(n)).await;
            prop_assert_eq!(store.find_webhook(endpoint_id(n)).await, wanted, "endpoint {}", n);
        }
        for name in [None, Some("1"), Some("no such name")] {
            prop_assert_eq!(partners(store, name).await, partners(reference, name).await, "partners named {:?}", name);
        }
        prop_assert_eq!(store.find_buyer(Scope::All, BuyerId::from_bytes([0xff; 16])).await, Ok(None));
        Ok(())
    }

    /// Events and exports are those of the reference, but for their numbers, and what was read once stays so.
    async fn same_history(&mut self) -> Check {
        let store = &**self.backend.store();
        let (events, wanted) = (all_events(store).await, all_events(&self.reference).await);
        prop_assert!(events.is_sorted_by(|a, b| a.sequence < b.sequence), "sequences grow: {:?}", events);
        prop_assert!(events.starts_with(&self.events), "{:?} were read, now {:?}", self.events, events);
        let numberless = |events: &[Event]| -> Vec<Event> {
            events.iter().map(|event| Event { sequence: 0, ..event.clone() }).collect()
        };
        if self.in_turn {
            prop_assert_eq!(numberless(&events), numberless(&wanted));
        }
        for filter in filters(&wanted) {
            let found = events_of(store, filter).await;
            let these: Vec<_> = events.iter().filter(|event| filter.wants(event)).cloned().collect();
            prop_assert_eq!(found, these, "{:?}", filter);
        }
        let export = everything(store).await;
        let (histories, wanted) = (by_subject(&export), by_subject(&everything(&self.reference).await));
        for (subject, wanted) in &wanted {
            prop_assert_eq!(histories.get(subject), Some(wanted), "{}", subject);
        }
        prop_assert_eq!(histories.len(), wanted.len());
        let exported: Vec<_> = export.iter().filter_map(Record::event).collect();
        prop_assert_eq!(&exported, &events, "an export has the events that are read");
        // Each record refers only to what came before it.
        let taken = MemoryStore::default().import(export, false, at(5)).map_err(|error| error.to_string());
        prop_assert!(taken.is_ok(), "the export cannot be imported: {:?}", taken);
        self.events = events;
        Ok(())
    }
}

fn with_mistake(mut records: Vec<Record>, mistake: Mistake) -> Vec<Record> {
    let length = records.len();
    if length == 0 {
        return records;
    }
    match mistake {
        Mistake::None => {}
        Mistake::Missing(at) => drop(records.remove(at.index(length))),
        Mistake::Twice(at) => {
            let again = records[at.index(length)].clone();
            records.push(Record { sequence: Some(1_000), ..again });
        }
        // The numbers stay where they are: only the order of the changes is wrong.
        Mistake::Swapped(a, b) => {
            let (a, b) = (a.index(length), b.index(length));
            let sequences = (records[a].sequence, records[b].sequence);
            records.swap(a, b);
            (records[a].sequence, records[b].sequence) = sequences;
        }
    }
    records
}

/// Why an import was refused, without what only one store says.
fn reason(error: ImportError) -> String {
    match error {
        ImportError::NotEmpty { .. } => "not empty".to_owned(),
        other => other.to_string(),
    }
}

/// The records of each subject, in order, without sequences.
fn by_subject(records: &[Record]) -> HashMap<String, Vec<Record>> {
    let mut histories: HashMap<_, Vec<_>> = HashMap::new();
    for record in records {
        let subject = match &record.change {
            Change::PartnerPut(partner) => format!("{}", partner.id),
            Change::KeyAdded(key) => format!("{} {}", key.partner, key.id),
            Change::KeyRevoked { partner, key, .. } | Change::KeyExpirySet { partner, key, .. } => {
                format!("{partner} {key}")
            }
            Change::KeyUsed { key, .. } => format!("use {:?}", key.to_bytes()),
            Change::ApplicationPut { application, .. } => format!("{application}"),
            Change::OfferCreated { offer, .. }
            | Change::TermsReplaced { offer, .. }
            | Change::OfferMoved { offer, .. } => format!("offer {} {}", offer.application, offer.offer),
            Change::BuyerCreated { buyer, .. } | Change::BuyerRead { buyer, .. } => format!("buyer {buyer}"),
            Change::EndpointPut { endpoint, .. } => format!("endpoint {}", endpoint.id),
            Change::DeliveriesNoted(all) => {
                format!("progress of {:?}", all.iter().map(|it| it.endpoint).collect::<Vec<_>>())
            }
        };
        histories.entry(subject).or_default().push(Record { sequence: None, ..record.clone() });
    }
    histories
}

/// Reads a list to its end, two items at a time.
async fn whole<T, C: Copy>(read: impl AsyncFn(Window<C>) -> Answer<Option<Page<T, C>>>) -> Option<Vec<T>> {
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let page = read(Window { after, limit: 2 }).await.expect("works")?;
        items.extend(page.items);
        match page.next {
            None => return Some(items),
            next => after = next,
        }
    }
}

async fn offers(store: &impl Store, of: OffersOf, status: Option<Status>, seconds: i64) -> Vec<Offer> {
    let (now, end) = (at(seconds), at(seconds + 1_000));
    let query = |window| FindOffers { of, status, expires_before: status.map(|_| end), now, window };
    whole(async |window| store.find_offers(query(window)).await.map(Some)).await.expect("there is always a list")
}

/// Filters by each part of some events.
fn filters(events: &[Event]) -> Vec<EventFilter> {
    let all = EventFilter::default();
    let mut filters = vec![
        EventFilter { types: EventTypes::those(|name| name.starts_with("buyer.")), ..all },
        EventFilter { from: Some(at(10)), until: Some(at(20)), ..all },
    ];
    for event in events.iter().step_by(7) {
        let (application, offer, buyer) = event.subject.ids();
        filters.extend([
            EventFilter { scope: event.partner.map_or(Scope::All, Scope::Partner), ..all },
            EventFilter { operation: Some(event.operation), ..all },
            EventFilter { application, offer, buyer, ..all },
        ]);
    }
    filters
}

async fn applications(store: &impl Store, scope: Scope) -> Vec<Application> {
    let query = |window| FindApplications { scope, window };
    whole(async |window| store.find_applications(query(window)).await.map(Some)).await.expect("there is always a list")
}

async fn partners(store: &impl Store, name: Option<&str>) -> Vec<Partner> {
    let query = |window| FindPartners { name: name.map(str::to_owned), oauth_client_id: None, window };
    whole(async |window| store.find_partners(query(window)).await.map(Some)).await.expect("there is always a list")
}

async fn endpoints(store: &impl Store) -> Vec<Endpoint> {
    let query = |window| FindEndpoints { owner: None, window };
    whole(async |window| store.find_endpoints(query(window)).await.map(Some)).await.expect("there is always a list")
}

async fn events_of(store: &impl Store, filter: EventFilter) -> Vec<Event> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = store.find_events(FindEvents { after, limit: 2, filter }).await.expect("works");
        found.extend(page.events);
        match page.next {
            None => return found,
            Some(next) => after = next,
        }
    }
}

async fn keys(store: &impl Store, n: u64) -> Option<Vec<lendpay_domain::key::KeyInUse>> {
    whole(async |window| store.keys_of(partner(n), window).await).await
}

async fn buyers(store: &impl Store, scope: Scope, number: Option<&str>) -> Vec<lendpay_domain::buyer::Buyer> {
    let query = |window| FindBuyers { scope, registration_number: number.map(str::to_owned), window };
    whole(async |window| store.find_buyers(query(window)).await.map(Some)).await.expect("there is always a list")
}
