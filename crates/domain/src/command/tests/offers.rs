//! Offers: every status, action, type, expiry and caller.

use super::super::{Command as _, DecideError, ExpireOffers, MoveOffer, MoveOutcome, PutOfferOutcome, Stamp};
use super::{World, ask, by, clock, world};
use crate::Timestamp;
use crate::buyer::Description;
use crate::change::{Change, OfferKey};
use crate::decimal::{Amount, Rate};
use crate::life_cycle::{Action, IllegalMove};
use crate::offer::{Details, Offer, OfferType, Status, Terms};
use crate::testing::samples::*;
use crate::text::Reason;
use crate::view::{HeldTerms, Known, Nothing, Overlay};
use chrono::TimeDelta;

/// When the offers of the tables expire, if they do.
fn expiry() -> Timestamp {
    at(1_000)
}

/// When they reached the status that they have.
fn changed() -> Timestamp {
    at(7)
}

/// Offer 1 of partner 1 in a status. Partner 2 has an application without offers.
fn with_offer(status: Status, terms: Terms) -> World {
    let offer = offer_key(1, 1);
    let created = Change::OfferCreated { offer, terms, at: changed() };
    let moved = Change::OfferMoved { offer, status, at: changed(), reason: None };
    let parties = [partner_put(1, None), partner_put(2, None), application_put(1), application_put(2)];
    world(parties.into_iter().chain([created, moved]))
}

/// Contract 2.1, written out by hand.
fn allowed(from: Status, action: Action, offer_type: OfferType) -> bool {
    match (from, action) {
        (Status::Offered, Action::Accept | Action::Decline | Action::Archive) => true,
        (Status::CustomerAccepted, Action::Advance) => offer_type == OfferType::Underwritten,
        (Status::CustomerAccepted | Status::Advanced | Status::CustomerDeclined | Status::Expired, Action::Archive) => {
            true
        }
        (
            Status::Offered
            | Status::CustomerAccepted
            | Status::Advanced
            | Status::CustomerDeclined
            | Status::Expired
            | Status::Archived,
            _,
        ) => false,
    }
}

/// The clock does what a caller finds on the way, and nothing else.
#[test]
fn an_expiry_is_recorded_of_an_offer_that_is_offered_once_its_time_has_come() {
    let nanosecond = TimeDelta::nanoseconds(1);
    for &status in Status::ALL {
        for expiry_at in [None, Some(expiry())] {
            for now in [expiry() - nanosecond, expiry(), expiry() + nanosecond] {
                let world = with_offer(status, Terms { expiry_at, ..terms() });
                let stamp = Stamp { at: now, ..operator(0) };
                // There is one of them.
                let offers = [(1, 1), (1, 2), (2, 1), (9, 1)].map(|(a, n)| (application(a), offer(n)));
                let decision = ask(&world, &ExpireOffers::at(now, offers.into_iter(), || stamp)).expect("decided");
                let due = status == Status::Offered && expiry_at.is_some_and(|at| at <= now);
                let moved =
                    Change::OfferMoved { offer: offer_key(1, 1), status: Status::Expired, at: expiry(), reason: None };
                let wanted = if due { vec![by(clock(stamp, expiry()), moved)] } else { vec![] };
                assert_eq!(
                    (decision.outcome, decision.changes),
                    (usize::from(due), wanted),
                    "{status} {expiry_at:?} {now}"
                );
            }
        }
    }
}

#[test]
fn every_move_of_every_caller_before_at_and_after_expiry() {
    let nanosecond = TimeDelta::nanoseconds(1);
    let mut cases = 0;
    for &status in Status::ALL {
        for &offer_type in OfferType::ALL {
            for (expiry_at, now) in [
                (None, expiry()),
                (Some(expiry()), expiry() - nanosecond),
                (Some(expiry()), expiry()),
                (Some(expiry()), expiry() + nanosecond),
            ] {
                for action in Action::ALL {
                    for caller in [None, Some(partner(1)), Some(partner(2)), Some(partner(3))] {
                        cases += 1;
                        let terms = Terms { offer_type, expiry_at, ..terms() };
                        let world = with_offer(status, terms.clone());
                        let mut stamp = operator(0);
                        stamp.at = now;
                        let (application, offer) = (application(1), offer(1));
                        let reason = Reason::from_input("as the customer asked").ok();
                        let command =
                            MoveOffer { partner: caller, application, offer, action, reason: reason.clone(), stamp };
                        let case = format!("{status} {offer_type} {expiry_at:?} {now} {action:?} {caller:?}");
                        let decision = ask(&world, &command).expect("decided");
                        if caller.is_some_and(|caller| caller != partner(1)) {
                            assert_eq!((decision.outcome, decision.changes), (MoveOutcome::NotFound, vec![]), "{case}");
                            continue;
                        }
                        let moved =
                            |status, at, reason| Change::OfferMoved { offer: offer_key(1, 1), status, at, reason };
                        let (mut changes, mut mine, mut from) = (vec![], stamp, status);
                        if status == Status::Offered && expiry_at.is_some_and(|expiry| expiry <= now) {
                            from = Status::Expired;
                            changes.push(by(clock(stamp, expiry()), moved(from, expiry(), None)));
                            mine.event = mine.event.sibling();
                        }
                        let is = |status, status_changed_at| {
                            let (id, partner, terms) = (offer, partner(1), terms.clone());
                            Offer { id, application, partner, terms, status, status_changed_at }
                        };
                        let to = action.target();
                        let outcome = if allowed(from, action, offer_type) {
                            changes.push(by(mine, moved(to, now, reason)));
                            MoveOutcome::Done(is(to, now))
                        } else if match action {
                            Action::Accept => matches!(from, Status::CustomerAccepted | Status::Advanced),
                            Action::Decline => caller.is_some() && from == Status::CustomerDeclined,
                            Action::Advance | Action::Archive => false,
                        } {
                            MoveOutcome::Unchanged(is(from, changed()))
                        } else {
                            let indicative = from == Status::CustomerAccepted && action == Action::Advance;
                            MoveOutcome::Illegal(IllegalMove { from, to, indicative })
                        };
                        assert_eq!((decision.outcome, decision.changes), (outcome, changes), "{case}");
                    }
                }
            }
        }
    }
    assert_eq!(cases, 6 * 2 * 4 * 4 * 4);
}

/// Contract 2.1: `statusChangedAt` is the time of the last status change. A clock that goes back does not make it
/// earlier.
#[test]
fn a_move_is_not_before_the_last_change() {
    let world = with_offer(Status::Offered, terms());
    let offer = offer_key(1, 1);
    for (now, moved_at) in [(at(6), changed()), (changed(), changed()), (at(8), at(8))] {
        let command = MoveOffer { stamp: Stamp { at: now, ..operator(0) }, ..accept(1, 1, 0) };
        let decision = ask(&world, &command).expect("decided");
        let MoveOutcome::Done(done) = decision.outcome else { panic!("{:?}", decision.outcome) };
        assert_eq!(done.status_changed_at, moved_at);
        let moved = Change::OfferMoved { offer, status: Status::CustomerAccepted, at: moved_at, reason: None };
        assert_eq!(decision.changes, [by(Stamp { at: moved_at, ..command.stamp }, moved)]);
    }
}

/// An offer whose expiry had passed when it was created stays Expired, whatever the clock says later.
#[test]
fn a_clock_that_goes_back_does_not_revive_an_offer() {
    let world = with_offer(Status::Offered, Terms { expiry_at: Some(at(5)), ..terms() });
    let expired = Change::OfferMoved { offer: offer_key(1, 1), status: Status::Expired, at: at(5), reason: None };
    for now in [at(3), at(5), at(9)] {
        let command = MoveOffer { stamp: Stamp { at: now, ..operator(0) }, ..accept(1, 1, 0) };
        let decision = ask(&world, &command).expect("decided");
        let to = Status::CustomerAccepted;
        let illegal = IllegalMove { from: Status::Expired, to, indicative: false };
        assert_eq!(decision.outcome, MoveOutcome::Illegal(illegal));
        assert_eq!(decision.changes, [by(clock(command.stamp, at(5)), expired.clone())]);
        let mut put = put_offer(1, 1, terms(), 0);
        put.stamp.at = now;
        assert_eq!(
            ask(&world, &put).expect("decided").outcome,
            PutOfferOutcome::Fixed { status: Status::Expired, equal: false }
        );
    }
}

#[test]
fn an_offer_that_is_not_there_is_not_found() {
    let world = with_offer(Status::Offered, terms());
    for caller in [None, Some(partner(1)), Some(partner(2))] {
        for (a, n) in [(1, 2), (2, 1), (9, 1)] {
            for action in Action::ALL {
                let (application, offer) = (application(a), offer(n));
                let (reason, stamp) = (None, operator(5));
                let command = MoveOffer { partner: caller, application, offer, action, reason, stamp };
                let decision = ask(&world, &command).expect("decided");
                assert_eq!((decision.outcome, decision.changes), (MoveOutcome::NotFound, vec![]));
            }
        }
    }
}

#[test]
fn terms_are_put_in_every_status_before_at_and_after_expiry() {
    let nanosecond = TimeDelta::nanoseconds(1);
    let offer = offer_key(1, 1);
    let mut equals = 0;
    for &status in Status::ALL {
        for (expiry_at, now) in [
            (None, expiry()),
            (Some(expiry()), expiry() - nanosecond),
            (Some(expiry()), expiry()),
            (Some(expiry()), expiry() + nanosecond),
        ] {
            // The new terms' own expiry does not matter: it is looked at by who comes next.
            for new in [bare_terms(), terms(), Terms { expiry_at: Some(at(0)), ..terms() }] {
                let world = with_offer(status, Terms { expiry_at, ..terms() });
                let mut command = put_offer(1, 1, new.clone(), 0);
                command.stamp.at = now;
                let stamp = command.stamp;
                let lapsed = status == Status::Offered && expiry_at.is_some_and(|expiry| expiry <= now);
                let old = Terms { expiry_at, ..terms() };
                let equal = new == old;
                let (outcome, changes) = if lapsed {
                    let expired = Change::OfferMoved { offer, status: Status::Expired, at: expiry(), reason: None };
                    let fixed = PutOfferOutcome::Fixed { status: Status::Expired, equal };
                    (fixed, vec![by(clock(stamp, expiry()), expired)])
                } else if status != Status::Offered {
                    (PutOfferOutcome::Fixed { status, equal }, vec![])
                } else if equal {
                    (PutOfferOutcome::Unchanged(offered(offer, new, changed())), vec![])
                } else {
                    let before = Some(Box::new(old));
                    let replaced = Change::TermsReplaced { offer, terms: new.clone(), before };
                    (PutOfferOutcome::Replaced(offered(offer, new, changed())), vec![by(stamp, replaced)])
                };
                equals += u32::from(equal);
                let decision = ask(&world, &command).expect("decided");
                assert_eq!((decision.outcome, decision.changes), (outcome, changes), "{status} {expiry_at:?} {now}");
            }
        }
    }
    assert_eq!(equals, 6 * 3, "in each status, before, at and after the expiry");
}

/// Each member counts; the scale of a decimal does not.
#[test]
fn terms_are_equal_when_every_member_is() {
    let decimal = |digits: &str| digits.parse().expect("digits");
    let same = Terms { amount: Some(Amount::new(decimal("25000.5500")).expect("an amount")), ..terms() };
    let world = with_offer(Status::Offered, terms());
    let outcome = ask(&world, &put_offer(1, 1, same.clone(), 9)).expect("decided").outcome;
    assert_eq!(outcome, PutOfferOutcome::Unchanged(offered(offer_key(1, 1), same, changed())));
    let rate = |digits| Rate::new(decimal(digits)).expect("a rate");
    for other in [
        Terms { details: Details::parse("Other").expect("short"), ..terms() },
        Terms { offer_type: OfferType::Indicative, ..terms() },
        Terms { annual_percentage_rate: rate("0.0906"), ..terms() },
        Terms { interest_rate: None, ..terms() },
        Terms { expiry_at: Some(at(1_000) + TimeDelta::nanoseconds(1)), ..terms() },
        Terms { redirect_url: None, ..terms() },
        Terms { amount: None, ..terms() },
        Terms { duration: None, ..terms() },
    ] {
        let decision = ask(&world, &put_offer(1, 1, other.clone(), 9)).expect("decided");
        assert!(matches!(decision.outcome, PutOfferOutcome::Replaced(_)), "{other:?}");
        let replaced = decision.changes[0].change.replaced().expect("both terms");
        assert_eq!((replaced.before, replaced.after), (terms(), other));
    }
}

/// A view that has only the place of the terms decides nothing, so that no event tells of other terms than there were.
#[test]
fn nothing_is_decided_about_terms_that_were_not_read() {
    #[derive(Clone, Debug, PartialEq)]
    struct Place(u64);
    impl HeldTerms for Place {
        fn whole(&self) -> Option<&Terms> {
            None
        }
    }
    let mut world = Overlay::new(Nothing::<Place, Description>::default());
    let created = Change::OfferCreated { offer: offer_key(1, 1), terms: terms(), at: at(1) };
    for change in [partner_put(1, None), application_put(1), created] {
        world.apply(&change, |_| Place(7), Description::clone).expect("fits");
    }
    let command = put_offer(1, 1, bare_terms(), 2);
    assert_eq!(command.terms(), Some((application(1), offer(1))));
    for (place, decided) in [(None, false), (Some(6), false), (Some(7), true)] {
        let read = place.map(|place| (Place(place), terms()));
        let decision = command.decide(&Known { view: &world, terms: read.as_ref() });
        let changes = decision.map(|decision| decision.changes);
        let replaced =
            Change::TermsReplaced { offer: offer_key(1, 1), terms: bare_terms(), before: Some(Box::new(terms())) };
        let wanted = if decided { Ok(vec![by(command.stamp, replaced)]) } else { Err(DecideError::Unread) };
        assert_eq!(changes, wanted, "{place:?}");
    }
    // A new offer has no terms to be read.
    let new = put_offer(1, 2, bare_terms(), 2);
    assert!(new.decide(&Known { view: &world, terms: None }).is_ok());
}

fn offered(key: OfferKey, terms: Terms, status_changed_at: Timestamp) -> Offer {
    let OfferKey { partner, application, offer: id } = key;
    Offer { id, application, partner, terms, status: Status::Offered, status_changed_at }
}

#[test]
fn an_offer_is_created_for_an_application_that_is_there() {
    let world = with_offer(Status::Offered, terms());
    // The same id under another application is another offer.
    for (a, n) in [(1, 2), (2, 1)] {
        let command = put_offer(a, n, terms(), 9);
        let offer = offer_key(a, n);
        let decision = ask(&world, &command).expect("decided");
        assert_eq!(decision.outcome, PutOfferOutcome::Created(offered(offer, terms(), at(9))));
        let created = Change::OfferCreated { offer, terms: terms(), at: at(9) };
        assert_eq!(decision.changes, [by(command.stamp, created)]);
    }
    let decision = ask(&world, &put_offer(9, 1, terms(), 9)).expect("decided");
    assert_eq!((decision.outcome, decision.changes), (PutOfferOutcome::NoApplication, vec![]));
}
