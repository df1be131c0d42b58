//! Offers: what is put comes back.

use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::command::{PutOffer, PutOfferOutcome};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Subject};
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
    put(underwritten).await.expect("works");
    for (action, status) in [
        (Action::Accept, Status::CustomerAccepted),
        (Action::Advance, Status::Advanced),
        (Action::Archive, Status::Archived),
    ] {
        done(store.run(go(1, action, 6)).await.expect("works"));
        assert_eq!(put(terms()).await, Ok(PutOfferOutcome::Fixed(status)));
    }
    assert_eq!(
        types_after(&**store, 0).await,
        ["offer.created", "offer.accepted", "offer.advanced", "offer.archived"],
        "new terms are no event"
    );
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
    assert_eq!(store.run(put).await, Ok(PutOfferOutcome::Fixed(Status::Expired)));
    let event = all_events(&**store).await.pop().expect("the expiry");
    assert_eq!((event.actor, event.occurred_at, event.id), (Actor::Clock, at(1_000), stamp.event));
    assert!(matches!(event.subject, Subject::Offer { status: Status::Expired, .. }));
}
