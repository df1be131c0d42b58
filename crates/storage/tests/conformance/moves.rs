//! Accepts and the operator's moves, one at a time.

use super::exports::everything;
use super::samples::*;
use lendpay_domain::Store;
use lendpay_domain::change::Record;
use lendpay_domain::command::{MoveOffer, MoveOutcome, Stamp};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::life_cycle::{Action, IllegalMove, Verdict};
use lendpay_domain::offer::{Offer, OfferType, Status, Terms};
use lendpay_domain::query::{EventFilter, FindEvents};
use lendpay_domain::text::Reason;
use std::sync::Arc;

fn event_of(offer: &Offer, sequence: u64, stamp: &Stamp, status: Status) -> Event {
    Event {
        sequence,
        id: stamp.event,
        occurred_at: stamp.at,
        partner: Some(offer.partner),
        subject: Subject::Offer { application: offer.application, offer: offer.id, status },
        actor: stamp.actor,
        operation: stamp.operation,
        replaced: None,
        reason: None,
    }
}

pub async fn an_accept_can_be_repeated<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let first = with_offer(&**store, 1, 1, terms()).await;
    let last = all_events(&**store).await.pop().expect("its creation").sequence;
    let command = accept(1, 1, 5);
    let wanted = Offer { status: Status::CustomerAccepted, status_changed_at: at(5), ..first };
    assert_eq!(store.run(command.clone()).await, Ok(MoveOutcome::Done(wanted.clone())));
    // Long after the expiry, too: what is accepted stays so.
    for seconds in [5, 6, 5_000] {
        assert_eq!(store.run(accept(1, 1, seconds)).await, Ok(MoveOutcome::Unchanged(wanted.clone())));
        assert_eq!(store.find_offer(application(1), offer(1), at(seconds)).await, Ok(Some(wanted.clone())));
    }
    let events = store.find_events(FindEvents::all(last, 10)).await.expect("works").events;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0], event_of(&wanted, events[0].sequence, &command.stamp, Status::CustomerAccepted));
    let advanced = done(store.run(go(1, Action::Advance, 7)).await.expect("works"));
    assert_eq!(store.run(accept(1, 1, 8)).await, Ok(MoveOutcome::Unchanged(advanced)));
}

pub async fn another_partners_offer_does_not_exist<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_partner(&**store, 2).await;
    let mine = with_offer(&**store, 1, 1, terms()).await;
    let theirs = MoveOffer { partner: Some(partner(2)), ..accept(1, 1, 5) };
    assert_eq!(store.run(theirs).await, Ok(MoveOutcome::NotFound));
    let expired = MoveOffer { partner: Some(partner(2)), ..accept(1, 1, 5_000) };
    assert_eq!(store.run(expired).await, Ok(MoveOutcome::NotFound));
    let elsewhere = MoveOffer { application: application(2), ..accept(1, 1, 5) };
    assert_eq!(store.run(elsewhere).await, Ok(MoveOutcome::NotFound));
    assert_eq!(store.run(accept(1, 2, 5)).await, Ok(MoveOutcome::NotFound));
    let command = MoveOffer { application: application(2), ..go(1, Action::Decline, 5) };
    assert_eq!(store.run(command).await, Ok(MoveOutcome::NotFound));
    assert_eq!(store.find_offer(application(1), offer(1), at(5)).await, Ok(Some(mine)));
    assert_eq!(types_after(&**store, 0).await, ["offer.created"]);
}

pub async fn expiry_before_at_and_after_its_moment<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let expiry = at(1_000);
    for (n, late) in [(1, -1), (2, 0), (3, 1)] {
        let first = with_offer(&**store, 1, n, terms()).await;
        let last = all_events(&**store).await.pop().expect("its creation").sequence;
        let mut command = accept(1, n, 0);
        command.stamp.at = expiry + chrono::Duration::nanoseconds(late);
        let seen = store.find_offer(application(1), offer(n), command.stamp.at).await;
        let answer = store.run(command.clone()).await;
        let events = store.find_events(FindEvents::all(last, 10)).await.expect("works").events;
        if late < 0 {
            assert_eq!(seen, Ok(Some(first)));
            assert_eq!(done(answer.expect("works")).status, Status::CustomerAccepted);
            assert_eq!(events.len(), 1);
            continue;
        }
        let expired = Offer { status: Status::Expired, status_changed_at: expiry, ..first };
        assert_eq!(seen, Ok(Some(expired.clone())), "a reader sees it before it is stored");
        let illegal = IllegalMove { from: Status::Expired, to: Status::CustomerAccepted, indicative: false };
        assert_eq!(answer, Ok(MoveOutcome::Illegal(illegal)));
        let mut expiry_stamp = command.stamp;
        expiry_stamp.at = expiry;
        expiry_stamp.actor = Actor::Clock;
        assert_eq!(events, [event_of(&expired, events[0].sequence, &expiry_stamp, Status::Expired)]);
        // Stored: a reader whose clock is behind sees it as well, and nothing is found twice.
        assert_eq!(store.find_offer(application(1), offer(n), at(0)).await, Ok(Some(expired)));
        assert_eq!(store.run(accept(1, n, 2_000)).await, Ok(MoveOutcome::Illegal(illegal)));
        assert_eq!(store.find_events(FindEvents::all(last, 10)).await.map(|page| page.events.len()), Ok(1));
    }
}

pub async fn an_expiry_and_an_archive_are_two_events<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let first = with_offer(&**store, 1, 1, terms()).await;
    let last = all_events(&**store).await.pop().expect("its creation").sequence;
    let command = go(1, Action::Archive, 2_000);
    let archived = done(store.run(command.clone()).await.expect("works"));
    assert_eq!(archived, Offer { status: Status::Archived, status_changed_at: at(2_000), ..first });
    let events = store.find_events(FindEvents::all(last, 10)).await.expect("works").events;
    assert_eq!(events.len(), 2);
    let mut expiry_stamp = command.stamp;
    (expiry_stamp.at, expiry_stamp.actor) = (at(1_000), Actor::Clock);
    assert_eq!(events[0], event_of(&archived, events[0].sequence, &expiry_stamp, Status::Expired));
    let mut archive = command.stamp;
    archive.event = archive.event.sibling();
    assert_eq!(events[1], event_of(&archived, events[1].sequence, &archive, Status::Archived));
}

/// Every status, action and type of offer; the domain says what must come out.
pub async fn every_move_answers_as_the_life_cycle_says<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let ways: [&[Action]; 5] =
        [&[], &[Action::Accept], &[Action::Decline], &[Action::Accept, Action::Advance], &[Action::Archive]];
    let mut n = 0;
    for &offer_type in OfferType::ALL {
        for way in ways {
            for action in Action::ALL {
                n += 1;
                with_offer(&**store, 1, n, Terms { offer_type, ..terms() }).await;
                for &step in way {
                    store.run(go(n, step, 2)).await.expect("works");
                }
                let before = store.find_offer(application(1), offer(n), at(3)).await.expect("works").expect("there");
                let last = all_events(&**store).await.pop().expect("its creation").sequence;
                let wanted = match before.standing().decide(action, at(4)).verdict {
                    Verdict::Moves(change) => MoveOutcome::Done(Offer {
                        status: change.status,
                        status_changed_at: change.at,
                        ..before.clone()
                    }),
                    Verdict::Stands => MoveOutcome::Unchanged(before.clone()),
                    Verdict::Illegal(illegal) => MoveOutcome::Illegal(illegal),
                };
                assert_eq!(store.run(go(n, action, 4)).await, Ok(wanted.clone()), "{before:?} {action:?}");
                let after = store.find_offer(application(1), offer(n), at(5)).await.expect("works").expect("there");
                let events = store.find_events(FindEvents::all(last, 10)).await.expect("works").events.len();
                match wanted {
                    MoveOutcome::Done(offer) => assert_eq!(after, offer),
                    MoveOutcome::Unchanged(_) | MoveOutcome::Illegal(_) | MoveOutcome::NotFound => {
                        assert_eq!(after, before);
                    }
                }
                assert_eq!(events, usize::from(after != before));
            }
        }
    }
}

pub async fn accepting_one_offer_leaves_the_others_alone<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_offer(&**store, 1, 1, terms()).await;
    let other = with_offer(&**store, 1, 2, terms()).await;
    done(store.run(accept(1, 1, 5)).await.expect("works"));
    assert_eq!(store.find_offer(application(1), offer(2), at(6)).await, Ok(Some(other)));
}

pub async fn a_reason_is_kept_in_the_event<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let reason = Reason::from_input("„Zinsen zu hoch“, said on the telephone").ok();
    for (n, reason) in [(1, reason), (2, None)] {
        with_offer(&**store, 1, n, terms()).await;
        let declined = MoveOffer { reason: reason.clone(), ..go(n, Action::Decline, 5) };
        store.run(declined).await.expect("works");
        store.run(go(n, Action::Archive, 6)).await.expect("works");
        let filter = EventFilter { offer: Some(offer(n)), ..EventFilter::default() };
        let page = store.find_events(FindEvents { after: 0, limit: 10, filter }).await.expect("works");
        let reasons: Vec<_> = page.events.into_iter().map(|event| event.reason).collect();
        assert_eq!(reasons, [None, reason, None]);
    }
    let exported = everything(&**store).await.iter().filter_map(Record::event).collect::<Vec<_>>();
    assert_eq!(exported, all_events(&**store).await);
}
