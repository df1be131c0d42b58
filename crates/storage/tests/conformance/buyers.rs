//! Buyers, and creating one twice.

use super::exports::everything;
use super::samples::*;
use lendpay_domain::buyer::{BankAccount, Buyer, Description};
use lendpay_domain::change::Record;
use lendpay_domain::command::{CreateBuyer, CreateBuyerOutcome, ReadBuyer};
use lendpay_domain::event::Subject;
use lendpay_domain::query::{EventFilter, FindEvents, Scope};
use lendpay_domain::{Store, StoreError};
use std::sync::Arc;

fn buyer_of(command: &CreateBuyer) -> Buyer {
    Buyer {
        id: command.id,
        partner: command.partner,
        description: command.buyer.clone().into_description(),
        created_at: command.stamp.at,
    }
}

pub async fn a_buyer_comes_back_exactly<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let empty_account = Description { bank_account: Some(BankAccount::default()), ..Description::default() };
    let odd = Description { name: Some(String::new()), kind: Some(0), ..Description::default() };
    for (n, description) in (1..).zip([description(), Description::default(), empty_account, odd]) {
        let command = creation(1, n, None, description, 3);
        let wanted = buyer_of(&command);
        assert_eq!(store.run(command.clone()).await, Ok(CreateBuyerOutcome::Created(wanted.clone())));
        assert_eq!(store.find_buyer(Scope::All, buyer_id(n)).await, Ok(Some(wanted)));
        let event = all_events(&**store).await.pop().expect("its creation");
        assert_eq!(event.subject, Subject::Buyer(command.id));
        assert_eq!((event.id, event.partner), (command.stamp.event, Some(command.partner)));
        assert_eq!((event.occurred_at, event.actor), (command.stamp.at, command.stamp.actor));
        assert_eq!(event.operation, command.stamp.operation);
    }
    assert_eq!(store.find_buyer(Scope::All, buyer_id(99)).await, Ok(None));
}

pub async fn a_creation_is_replayed_identically<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let first = creation(1, 1, Some("k"), description(), 3);
    let wanted = buyer_of(&first);
    assert_eq!(store.run(first).await, Ok(CreateBuyerOutcome::Created(wanted.clone())));
    for n in 2..5 {
        let again = creation(1, n, Some("k"), description(), 100);
        assert_eq!(store.run(again).await, Ok(CreateBuyerOutcome::Replayed(wanted.clone())));
    }
    assert_eq!(types_after(&**store, 0).await, ["buyer.created"]);
}

pub async fn a_key_with_another_payload_is_told<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let first = creation(1, 1, Some("k"), description(), 3);
    store.run(first.clone()).await.expect("works");
    let other = Description { name: Some("other".into()), ..description() };
    let answer = store.run(creation(1, 2, Some("k"), other, 4)).await;
    assert_eq!(answer, Ok(CreateBuyerOutcome::KeyReused));
    assert_eq!(store.find_buyer(Scope::All, first.id).await, Ok(Some(buyer_of(&first))));
    assert_eq!(types_after(&**store, 0).await, ["buyer.created"]);
}

pub async fn partners_keys_do_not_meet<S: Store>(store: &Arc<S>) {
    for p in [1, 2] {
        with_partner(&**store, p).await;
        let command = creation(p, p, Some("k"), description(), 3);
        let wanted = buyer_of(&command);
        assert_eq!(store.run(command).await, Ok(CreateBuyerOutcome::Created(wanted)));
    }
}

pub async fn without_a_key_every_creation_is_new<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    for n in 1..4 {
        let command = creation(1, n, None, description(), 3);
        let wanted = buyer_of(&command);
        assert_eq!(store.run(command).await, Ok(CreateBuyerOutcome::Created(wanted)));
    }
    assert_eq!(types_after(&**store, 0).await.len(), 3);
}

/// A body of 64 KiB, kept as it was given.
pub async fn the_longest_buyer_is_kept<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    for n in 1..40 {
        let long = Description { name: Some("é🏭".repeat(10_900)), ..description() };
        let command = creation(1, n, Some(&n.to_string()), long, 3);
        let wanted = buyer_of(&command);
        assert_eq!(store.run(command.clone()).await, Ok(CreateBuyerOutcome::Created(wanted.clone())));
        assert_eq!(store.find_buyer(Scope::All, command.id).await, Ok(Some(wanted)));
    }
    assert_eq!(types_after(&**store, 0).await.len(), 39);
}

/// Nobody can cause it: ids are random, or follow from the partner and its key.
pub async fn an_id_is_one_buyer_of_a_partner<S: Store>(store: &Arc<S>) {
    for p in [1, 2] {
        with_partner(&**store, p).await;
    }
    // That of another partner is another buyer.
    let creations = [2, 1].map(|p| creation(p, 1, None, description(), 3));
    for command in &creations {
        assert_eq!(store.run(command.clone()).await, Ok(CreateBuyerOutcome::Created(buyer_of(command))));
    }
    // With a fingerprint, as a key's would be, and without.
    for p in [1, 2] {
        let again = creation(p, 1, None, description(), 4);
        let repeatable = CreateBuyer { fingerprint: Some(again.buyer.fingerprint()), ..again.clone() };
        for command in [again, repeatable] {
            assert_eq!(store.run(command).await, Err(StoreError::Unavailable), "{p}");
        }
    }
    let [second, first] = creations.map(|command| buyer_of(&command));
    for (scope, wanted) in
        [(Scope::Partner(partner(2)), &second), (Scope::Partner(partner(1)), &first), (Scope::All, &first)]
    {
        assert_eq!(store.find_buyer(scope, buyer_id(1)).await.as_ref(), Ok(&Some(wanted.clone())));
    }
    assert_eq!(store.find_buyer(Scope::Partner(partner(3)), buyer_id(1)).await, Ok(None));
    assert_eq!(types_after(&**store, 0).await, ["buyer.created", "buyer.created"]);
}

pub async fn a_buyer_needs_its_partner<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 2).await;
    for key in [None, Some("k")] {
        let command = creation(1, 1, key, description(), 3);
        assert_eq!(store.run(command.clone()).await, Err(StoreError::Unavailable));
        assert_eq!(store.find_buyer(Scope::All, command.id).await, Ok(None));
    }
    assert!(types_after(&**store, 0).await.is_empty());
    with_partner(&**store, 1).await;
    for key in [None, Some("k")] {
        let command = creation(1, 1, key, description(), 3);
        assert_eq!(store.run(command.clone()).await, Ok(CreateBuyerOutcome::Created(buyer_of(&command))));
    }
}

pub async fn a_read_in_full_is_an_event_and_changes_nothing<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let command = creation(1, 1, None, description(), 3);
    store.run(command.clone()).await.expect("works");
    let read = |n| ReadBuyer { partner: partner(1), id: buyer_id(n), stamp: operator(5) };
    assert_eq!(store.run(read(9)).await, Ok(None));
    assert_eq!(store.run(read(1)).await, Ok(Some(buyer_of(&command))));
    assert_eq!(types_after(&**store, 0).await, ["buyer.created", "buyer.read_in_full"]);
    let filter = EventFilter { buyer: Some(buyer_id(1)), ..EventFilter::default() };
    let page = store.find_events(FindEvents { after: 0, limit: 10, filter }).await.expect("works");
    let event = page.events.last().expect("two events");
    assert_eq!((event.subject, event.actor), (Subject::BuyerRead(buyer_id(1)), operator(5).actor));
    assert_eq!(store.find_buyer(Scope::All, buyer_id(1)).await, Ok(Some(buyer_of(&command))));
    let exported = everything(&**store).await.iter().filter_map(Record::event).collect::<Vec<_>>();
    assert_eq!(exported, all_events(&**store).await);
}
