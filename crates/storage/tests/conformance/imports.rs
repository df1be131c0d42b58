//! Imports: all or nothing, and rejected by every store for the same reasons.

use super::Backend;
use super::exports::{everything, one_of_everything};
use super::samples::*;
use lendpay_domain::Timestamp;
use lendpay_domain::buyer::Description;
use lendpay_domain::change::{Change, Record};
use lendpay_domain::command::{CreateBuyerOutcome, PutPartnerOutcome};
use lendpay_domain::import::Imported;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Status;
use lendpay_domain::query::{FindEvents, Scope};
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_domain::testing::imports::{
    base, buyer, created, faulty, faulty_unless_kept, moved, numbered_from, repeated, terms_replaced,
};

/// The moment of the imports: the keys of the samples have not expired.
fn now() -> Timestamp {
    at(5)
}

/// Imports, and gives back the backend with what became of it.
async fn import<B: Backend>(backend: B, records: &[Record], merge: bool) -> (B, Result<Imported, String>) {
    let (backend, done) = backend.import(records.to_vec(), merge, now()).await;
    (backend, done.map_err(|error| error.to_string()))
}

/// A store with something of everything, and more than one group.
async fn filled<B: Backend>() -> (B, Vec<Record>) {
    let backend = B::fresh().await;
    let store = &**backend.store();
    one_of_everything(store).await;
    for n in 10..1_300 {
        store.run(creation(1, n, None, description(), 3)).await.expect("works");
        if n > 100 {
            continue;
        }
        with_offer(store, 1, n, terms()).await;
        store.run(go(n, Action::ALL[n as usize % 4], 900 + n as i64)).await.expect("works");
    }
    let records = everything(store).await;
    (backend, records)
}

pub async fn a_store_that_was_imported_is_the_same_store<B: Backend>() {
    let (original, records) = filled::<B>().await;
    let (copy, done) = import(B::fresh().await, &records, false).await;
    let wanted = Imported { added: records.len() as u64, unchecked_buyers: 0, ..Imported::default() };
    assert_eq!(done, Ok(wanted));
    let (original, copy) = (original.store(), copy.store());
    assert_eq!(everything(&**copy).await, records);
    assert_eq!(all_events(&**copy).await, all_events(&**original).await);
    for n in 0..100 {
        let of = async |store: &B::Store| store.find_offer(application(1), offer(n), at(2)).await;
        assert_eq!(of(copy).await, of(original).await, "{n}");
        assert_eq!(
            copy.find_buyer(Scope::All, buyer_id(n)).await,
            original.find_buyer(Scope::All, buyer_id(n)).await,
            "{n}"
        );
    }
    assert_eq!(copy.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    let again = copy.run(creation(1, 99_999, Some("k"), description(), 9)).await;
    assert!(matches!(again, Ok(CreateBuyerOutcome::Replayed(_))), "{again:?}");
    // Sequences go on.
    let last = all_events(&**copy).await.last().expect("many").sequence;
    copy.run(creation(1, 88_888, None, description(), 9)).await.expect("works");
    assert!(all_events(&**copy).await.last().expect("many").sequence > last);
}

pub async fn what_is_not_empty_is_refused_and_untouched<B: Backend>() {
    let backend = B::fresh().await;
    one_of_everything(&**backend.store()).await;
    let records = everything(&**backend.store()).await;
    let (backend, done) = import(backend, &records, false).await;
    let error = done.expect_err("not empty");
    assert!(error.contains("not empty") && error.contains("--merge"), "{error}");
    assert_eq!(everything(&**backend.store()).await, records);
}

pub async fn every_faulty_import_is_rejected_and_changes_nothing<B: Backend>() {
    let mut backend = B::fresh().await;
    for case in faulty().into_iter().chain(faulty_unless_kept()).chain(repeated()) {
        let done;
        (backend, done) = import(backend, &case.records, false).await;
        assert_eq!(done, Err(case.problem.to_owned()), "{}", case.name);
        assert_eq!(everything(&**backend.store()).await, [], "{}", case.name);
    }
    // What they have in common is not what is wrong with them.
    let (backend, done) = import(backend, &numbered_from(1, base()), false).await;
    assert_eq!(done.map(|done| done.added), Ok(base().len() as u64));
    // Now with everything there, but for the last record.
    let before = everything(&**backend.store()).await;
    let mut backend = backend;
    for case in faulty() {
        let done;
        (backend, done) = import(backend, &case.records, true).await;
        assert_eq!(done, Err(case.problem.to_owned()), "merge: {}", case.name);
        assert_eq!(everything(&**backend.store()).await, before, "merge: {}", case.name);
    }
    for case in faulty_unless_kept().into_iter().chain(repeated()) {
        let done;
        (backend, done) = import(backend, &case.records, true).await;
        let kept = case.records.len() as u64;
        assert_eq!(done, Ok(Imported { kept, ..Imported::default() }), "merge: {}", case.name);
        assert_eq!(everything(&**backend.store()).await, before, "merge: {}", case.name);
    }
    // The store works on.
    backend.store().run(creation(1, 50, None, description(), 9)).await.expect("works");
}

pub async fn a_merge_adds_what_is_missing_and_overwrites_nothing<B: Backend>() {
    let (_original, records) = filled::<B>().await;
    let backend = B::fresh().await;
    let store = &**backend.store();
    with_partner(store, 1).await;
    store.run(put_partner(1, "another name", None, 0)).await.expect("works");
    let own_offer = with_offer(store, 1, 1, bare_terms()).await;
    store.run(creation(1, 15, None, Default::default(), 50)).await.expect("works");
    let (before, events) = (everything(store).await, all_events(store).await);
    let (backend, done) = import(backend, &records, true).await;
    let done = done.expect("fits");
    assert_eq!(done.added + done.kept, records.len() as u64);
    let store = &**backend.store();
    let after = everything(store).await;
    assert_eq!(after[..before.len()], before, "what was there comes first and is as it was");
    assert_eq!(after.len(), before.len() + done.added as usize);
    assert_eq!(all_events(store).await[..events.len()], events);
    assert_eq!(store.find_offer(application(1), offer(1), at(2)).await, Ok(Some(own_offer)));
    let kept = store.find_buyer(Scope::All, buyer_id(15)).await.expect("works").expect("there");
    assert_eq!((kept.created_at, kept.description.name), (at(50), None));
    assert!(store.find_offer(application(1), offer(20), at(2)).await.expect("works").is_some());
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))), "the key was not there");
    let answer = store.run(put_partner(1, "another name", None, 0)).await.expect("works");
    assert!(matches!(answer, PutPartnerOutcome::Updated(partner) if partner.name == name("another name")));
    assert_eq!(everything(store).await, after, "it had that name");
    let (backend, again) = import(backend, &records, true).await;
    assert_eq!(again, Ok(Imported { kept: records.len() as u64, ..Imported::default() }));
    assert_eq!(everything(&**backend.store()).await, after);
}

/// A file with a part of a subject's history: what was there before the import is not changed by it.
pub async fn a_merge_goes_on_with_no_subject_that_was_there<B: Backend>() {
    let (backend, done) = import(B::fresh().await, &numbered_from(1, base()), false).await;
    done.expect("fits");
    let before = everything(&**backend.store()).await;
    let changes = [
        moved(offer_key(1, 1), Status::Archived),
        terms_replaced(offer_key(1, 1)),
        Change::KeyRevoked { partner: partner(1), key: key_id(1), at: at(3) },
        Change::KeyUsed { key: key(1, 1).hash, at: at(9_999) },
    ];
    let (backend, done) = import(backend, &numbered_from(1, changes), true).await;
    assert_eq!(done, Ok(Imported { kept: 4, ..Imported::default() }));
    assert_eq!(everything(&**backend.store()).await, before);
    // A new one goes on.
    let changes = [created(offer_key(1, 2)), moved(offer_key(1, 2), Status::Archived)];
    let (backend, done) = import(backend, &numbered_from(1, changes), true).await;
    assert_eq!(done, Ok(Imported { added: 2, ..Imported::default() }));
    let found = backend.store().find_offer(application(1), offer(2), at(2)).await.expect("works").expect("there");
    assert_eq!(found.status, Status::Archived);
    let events: Vec<_> = all_events(&**backend.store()).await.iter().map(|event| event.sequence).collect();
    assert!(events.is_sorted_by(|a, b| a < b) && events.len() == 12, "{events:?}");
}

/// Of the moment and of values: told, not rejected.
pub async fn expired_keys_and_unchecked_buyers_are_counted<B: Backend>() {
    let late = Description { country_code: Some("XX".into()), ..description() };
    let mut changes = base();
    changes.push(buyer(2, 2, late));
    let records = numbered_from(1, changes);
    let (_, done) = B::fresh().await.import(records.clone(), false, at(10)).await;
    let wanted = Imported { added: records.len() as u64, kept: 0, expired_keys: 2, unchecked_buyers: 1 };
    assert_eq!(done.expect("fits"), wanted);
}

pub async fn sequences_that_another_store_left_out_are_left_out_here<B: Backend>() {
    let (_original, mut records) = filled::<B>().await;
    for record in &mut records {
        record.sequence =
            if record.subject().is_some() { record.sequence.map(|sequence| sequence * 3 + 1_000) } else { None };
    }
    let (backend, done) = import(B::fresh().await, &records, false).await;
    done.expect("fits");
    let backend = backend.reopen().await;
    let store = backend.store();
    let sequences: Vec<_> = all_events(&**store).await.iter().map(|event| event.sequence).collect();
    let wanted: Vec<_> = records.iter().filter_map(|record| record.sequence).collect();
    assert_eq!(sequences, wanted);
    let after = sequences[sequences.len() - 2];
    assert_eq!(store.find_events(FindEvents::all(after, 10)).await.expect("works").events.len(), 1);
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
}

pub async fn every_import_begins_a_new_history_and_nothing_else_does<B: Backend>() {
    let backend = B::fresh().await;
    let first = history(&**backend.store()).await;
    let uuid = first.uuid();
    assert_eq!((uuid.get_version_num(), uuid.get_variant()), (4, uuid::Variant::RFC4122));
    one_of_everything(&**backend.store()).await;
    let records = everything(&**backend.store()).await;
    let (backend, done) = import(backend, &records, false).await;
    done.expect_err("not empty");
    assert_eq!(history(&**backend.store()).await, first, "an import that is refused changes nothing");
    let mut histories = vec![first];
    let mut backend = backend.reopen().await.crash().await;
    assert_eq!(history(&**backend.store()).await, first);
    // A merge of nothing too.
    for merged in [&records[..], &[]] {
        let done;
        (backend, done) = import(backend, merged, true).await;
        done.expect("fits");
        let new = history(&**backend.store()).await;
        backend = backend.crash().await.reopen().await;
        assert_eq!(history(&**backend.store()).await, new);
        histories.push(new);
    }
    let (copy, done) = import(B::fresh().await, &records, false).await;
    done.expect("fits");
    histories.push(history(&**copy.store()).await);
    histories.sort_unstable();
    histories.dedup();
    assert_eq!(histories.len(), 4);
    assert_eq!(everything(&**backend.store()).await, records);
}

/// A reader that has seen the last event is known, whatever was done to the store.
pub async fn the_end_is_that_of_the_last_event<B: Backend>() {
    let backend = B::fresh().await;
    assert_eq!(backend.store().find_events(FindEvents::all(0, 10)).await.expect("works").last, 0);
    one_of_everything(&**backend.store()).await;
    // The use of a key, which nobody waits for, is a change too: it is there once the store was closed.
    let backend = backend.reopen().await;
    let events = all_events(&**backend.store()).await;
    let seen = events.last().expect("many").sequence;
    let end = async |backend: &B| backend.store().find_events(FindEvents::all(seen, 10)).await.expect("works").last;
    let last = end(&backend).await;
    assert!((seen..seen + 10).contains(&last), "{seen} {last}");
    let backend = backend.reopen().await.crash().await;
    assert_eq!(end(&backend).await, last);
    backend.store().run(creation(1, 9_999, None, description(), 3)).await.expect("works");
    assert_eq!(end(&backend).await, last + 1);
    let records = everything(&**backend.store()).await;
    let (copy, done) = import(B::fresh().await, &records, false).await;
    done.expect("fits");
    let copied = all_events(&**copy.store()).await.last().expect("many").sequence;
    assert!(end(&copy).await >= copied && end(&copy.reopen().await).await >= copied);
}
