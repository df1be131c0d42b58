//! Offers: what is put comes back.

use super::exports::everything;
use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::command::{PutOffer, PutOfferOutcome};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Replaced, Subject};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Details, Duration, Offer, OfferType, Status, Terms};
use std::sync::Arc;

pub async fn an_offer_comes_back_exactly<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let extreme = Terms {
        details: Details::parse(&"🏦".repeat(Details::MAX)).expect("the longest"),
        annual_percentage_rate: Rate::new("0.1234567890123456789012345678".parse().expect("digits")).expect("a rate"),
        interest_rate: Some(Rate::new("0.10".parse().expect("digits")).expect("a rate")),
        amount: Some(Amount::new("1000000000000000".parse().expect("digits")).expect("an amount")),
        duration: Some(Duration::SixYears),
        ..terms()
    };
    for (n, terms) in (1..).zip([terms(), bare_terms(), extreme]) {
        let stamp = operator(1);
        let put = PutOffer { application: application(1), offer: offer(n), terms: terms.clone(), stamp };
        let wanted = Offer {
            id: offer(n),
            application: application(1),
            partner: partner(1),
            terms,
            status: Status::Offered,
            status_changed_at: stamp.at,
        };
        assert_eq!(store.run(put).await, Ok(PutOfferOutcome::Created(wanted.clone())));
        let found = store.find_offer(application(1), offer(n), at(2)).await.expect("works").expect("there");
        assert_eq!(found, wanted);
        // Decimals are equal whatever their scale; the scale is kept too.
        assert_eq!(format!("{:?}", found.terms), format!("{:?}", wanted.terms));
    }
    assert_eq!(store.find_offer(application(1), offer(99), at(2)).await, Ok(None));
    assert_eq!(store.find_offer(application(2), offer(1), at(2)).await, Ok(None));
}

pub async fn terms_are_replaced_while_offered_and_fixed_afterwards<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let first = with_offer(&**store, 1, 1, terms()).await;
    let put = |terms| store.run(PutOffer { application: application(1), offer: offer(1), terms, stamp: operator(5) });
    let wanted = Offer { terms: bare_terms(), ..first.clone() };
    assert_eq!(put(bare_terms()).await, Ok(PutOfferOutcome::Replaced(wanted.clone())));
    assert_eq!(store.find_offer(application(1), offer(1), at(2)).await, Ok(Some(wanted)));
    let underwritten = Terms { offer_type: OfferType::Underwritten, ..bare_terms() };
    assert!(matches!(put(underwritten.clone()).await, Ok(PutOfferOutcome::Replaced(_))));
    for (action, status) in [
        (Action::Accept, Status::CustomerAccepted),
        (Action::Advance, Status::Advanced),
        (Action::Archive, Status::Archived),
    ] {
        done(store.run(go(1, action, 6)).await.expect("works"));
        assert_eq!(put(terms()).await, Ok(PutOfferOutcome::Fixed { status, equal: false }));
        assert_eq!(put(underwritten.clone()).await, Ok(PutOfferOutcome::Fixed { status, equal: true }));
    }
    let types = types_after(&**store, 0).await;
    let replaced = "offer.terms_replaced";
    assert_eq!(
        types,
        ["offer.created", replaced, replaced, "offer.accepted", "offer.advanced", "offer.archived"],
        "what changes nothing is no event"
    );
    let events = all_events(&**store).await;
    let told: Vec<_> = events.iter().filter_map(|event| event.replaced.as_deref()).cloned().collect();
    let (first, second) = (terms(), bare_terms());
    assert_eq!(
        told,
        [Replaced { before: first, after: second.clone() }, Replaced { before: second, after: underwritten }],
        "as they were"
    );
    let subject = Subject::Terms { application: application(1), offer: offer(1) };
    assert_eq!(events.iter().filter(|event| event.subject == subject).count(), 2);
}

/// Terms that were put are put again: by one after the other, and by many at once.
pub async fn equal_terms_change_nothing<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let first = with_offer(&**store, 1, 1, terms()).await;
    let before = everything(&**store).await;
    let put = || store.run(put_offer(1, 1, terms(), 5));
    assert_eq!(put().await, Ok(PutOfferOutcome::Unchanged(first.clone())));
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let store = Arc::clone(store);
            tokio::spawn(async move { store.run(put_offer(1, 1, terms(), 6)).await })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.expect("no caller panics"), Ok(PutOfferOutcome::Unchanged(first.clone())));
    }
    assert_eq!(everything(&**store).await, before);
}

pub async fn an_offer_needs_its_application<S: Store>(store: &Arc<S>) {
    let put = PutOffer { application: application(1), offer: offer(1), terms: terms(), stamp: operator(0) };
    assert_eq!(store.run(put).await, Ok(PutOfferOutcome::NoApplication));
    assert_eq!(store.find_offer(application(1), offer(1), at(0)).await, Ok(None));
    assert_eq!(all_events(&**store).await, []);
}

pub async fn new_terms_find_an_offer_expired<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_offer(&**store, 1, 1, terms()).await;
    let stamp = operator(1_000);
    let put = PutOffer { application: application(1), offer: offer(1), terms: bare_terms(), stamp };
    assert_eq!(store.run(put).await, Ok(PutOfferOutcome::Fixed { status: Status::Expired, equal: false }));
    let event = all_events(&**store).await.pop().expect("the expiry");
    assert_eq!((event.actor, event.occurred_at, event.id), (Actor::Clock, at(1_000), stamp.event));
    assert!(matches!(event.subject, Subject::Offer { status: Status::Expired, .. }));
}
