//! Many callers, one offer or one key: one legal history, and everyone is told the truth about it.

use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::command::{CreateBuyerOutcome, MoveOutcome, PutOfferOutcome};
use lendpay_domain::decimal::Amount;
use lendpay_domain::event::{Replaced, Subject};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Status, Terms};
use lendpay_domain::query::FindEvents;
use std::sync::Arc;

/// What one caller was told.
enum Told {
    Is(Action, Status),
    Illegal(Action, Status),
}

pub async fn accepts_declines_and_archives_of_one_offer<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    for round in 0..20 {
        with_offer(&**store, 1, round, terms()).await;
        let last = all_events(&**store).await.pop().expect("its creation").sequence;
        let callers: Vec<_> = (0..64)
            .map(|caller| {
                let store = Arc::clone(store);
                tokio::spawn(async move {
                    let action = [Action::Accept, Action::Decline, Action::Archive][(caller + round as usize) % 3];
                    let accepts = action == Action::Accept;
                    let command = if accepts { accept(1, round, 5) } else { go(round, action, 5) };
                    match store.run(command).await.expect("works") {
                        MoveOutcome::Done(offer) | MoveOutcome::Unchanged(offer) => Told::Is(action, offer.status),
                        MoveOutcome::Illegal(illegal) => Told::Illegal(action, illegal.from),
                        MoveOutcome::NotFound => panic!("it is there"),
                    }
                })
            })
            .collect();
        let mut told = Vec::new();
        for caller in callers {
            told.push(caller.await.expect("no caller panics"));
        }
        // The path, as the events have it, is legal and ends archived.
        let mut path = vec![Status::Offered];
        for event in store.find_events(FindEvents::all(last, 100)).await.expect("works").events {
            let Subject::Offer { status, .. } = event.subject else { panic!("{event:?}") };
            assert!(path.last().expect("never empty").successors().contains(&status), "{path:?} {status}");
            path.push(status);
        }
        let found = store.find_offer(application(1), offer(round), at(6)).await.expect("works").expect("there");
        assert_eq!(Some(&found.status), path.last());
        assert_eq!(found.status, Status::Archived, "64 callers hold an archive");
        // Every caller: done means that the path has it, illegal means that the path had made it so.
        let mut winners = [0; 2];
        for told in told {
            match told {
                Told::Is(action, status) => {
                    assert_eq!(status, action.target());
                    assert!(path.contains(&status), "{path:?} {status}");
                    match action {
                        Action::Decline => winners[0] += 1,
                        Action::Archive => winners[1] += 1,
                        // Any number of accepts may find it accepted.
                        Action::Accept | Action::Advance => {}
                    }
                }
                Told::Illegal(action, from) => {
                    assert!(path.contains(&from), "{path:?} {from}");
                    assert!(!from.successors().contains(&action.target()), "{from} {action:?}");
                }
            }
        }
        assert_eq!(winners, [usize::from(path.contains(&Status::CustomerDeclined)), 1], "{path:?}");
    }
}

pub async fn accepts_of_one_offer<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_offer(&**store, 1, 1, terms()).await;
    let callers: Vec<_> = (0..64)
        .map(|caller| {
            let store = Arc::clone(store);
            tokio::spawn(async move { store.run(accept(1, 1, caller)).await.expect("works") })
        })
        .collect();
    let (mut offers, mut winners) = (Vec::new(), 0);
    for caller in callers {
        match caller.await.expect("no caller panics") {
            MoveOutcome::Done(offer) => {
                offers.push(offer);
                winners += 1;
            }
            MoveOutcome::Unchanged(offer) => offers.push(offer),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(winners, 1);
    offers.dedup();
    assert_eq!(offers.len(), 1, "everyone gets the same offer, with the time of the first");
    assert_eq!(store.find_offer(application(1), offer(1), at(9)).await, Ok(offers.pop()));
    assert_eq!(types_after(&**store, 0).await, ["offer.created", "offer.accepted"]);
}

/// Each put replaces the terms that the one before it has set, and its event says so.
pub async fn puts_of_different_terms<S: Store>(store: &Arc<S>) {
    const CALLERS: u32 = 64;
    with_partner(&**store, 1).await;
    with_offer(&**store, 1, 1, terms()).await;
    let numbered = |n: u32| Terms { amount: Some(Amount::from_f64(f64::from(n)).expect("an amount")), ..terms() };
    let callers: Vec<_> = (0..CALLERS)
        .map(|n| {
            let store = Arc::clone(store);
            tokio::spawn(async move { store.run(put_offer(1, 1, numbered(n), 5)).await })
        })
        .collect();
    for (n, caller) in (0..).zip(callers) {
        match caller.await.expect("no caller panics") {
            Ok(PutOfferOutcome::Replaced(offer)) => assert_eq!(offer.terms, numbered(n)),
            other => panic!("{other:?}"),
        }
    }
    let events = all_events(&**store).await;
    let replaced: Vec<_> = events.iter().filter_map(|event| event.replaced.as_deref()).collect();
    assert_eq!(replaced.len(), CALLERS as usize);
    let mut last = terms();
    for Replaced { before, after } in replaced {
        assert_eq!(*before, last, "what was read before another put is not taken for what was there");
        last = after.clone();
    }
    let offer = store.find_offer(application(1), offer(1), at(6)).await.expect("works").expect("there");
    assert_eq!(offer.terms, last);
}

pub async fn creations_with_one_key<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let callers: Vec<_> = (0..64)
        .map(|n| {
            let store = Arc::clone(store);
            let command = creation(1, n, Some("one"), description(), n as i64);
            tokio::spawn(async move { store.run(command).await.expect("works") })
        })
        .collect();
    let (mut created, mut replayed) = (Vec::new(), Vec::new());
    for caller in callers {
        match caller.await.expect("no caller panics") {
            CreateBuyerOutcome::Created(buyer) => created.push(buyer),
            CreateBuyerOutcome::Replayed(buyer) => replayed.push(buyer),
            CreateBuyerOutcome::KeyReused => panic!("the payload is the same"),
        }
    }
    assert_eq!((created.len(), replayed.len()), (1, 63));
    assert!(replayed.iter().all(|buyer| *buyer == created[0]));
    assert_eq!(types_after(&**store, 0).await, ["buyer.created"]);
}
