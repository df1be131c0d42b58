//! Creating a buyer: new, again, with a key that was used, with an id that is taken.

use super::super::{CreateBuyer, CreateBuyerOutcome, DecideError, ReadBuyer};
use super::{ask, by, world};
use crate::buyer::{Buyer, Description};
use crate::change::Change;
use crate::testing::samples::*;

fn other() -> Description {
    Description { name: Some("other".into()), ..description() }
}

fn created(command: &CreateBuyer) -> Change {
    Change::BuyerCreated {
        partner: command.partner,
        buyer: command.id,
        description: command.buyer.description().clone(),
        fingerprint: command.fingerprint,
        at: command.stamp.at,
    }
}

fn buyer_of(command: &CreateBuyer) -> Buyer {
    let (id, partner, description) = (command.id, command.partner, command.buyer.clone().into_description());
    Buyer { id, partner, description, created_at: command.stamp.at }
}

#[test]
fn a_creation_meets_every_buyer_that_may_have_its_id() {
    let taken = DecideError::Contradiction("the id of a new buyer is taken");
    // What is there: nothing, or the creation of a partner with a key or none; then what comes.
    let key = Some("k");
    for (there, comes, is) in [
        (None, (1, key, description()), "created"),
        (None, (1, None, description()), "created"),
        (Some((1, key, description())), (1, key, description()), "replayed"),
        (Some((1, key, description())), (1, key, other()), "key reused"),
        (Some((1, key, description())), (1, None, description()), "taken"),
        (Some((1, None, description())), (1, key, description()), "taken"),
        (Some((1, None, description())), (1, None, description()), "taken"),
        // The same id at another partner: another buyer.
        (Some((2, key, description())), (1, key, description()), "created"),
        (Some((2, None, description())), (1, None, description()), "created"),
    ] {
        let case = format!("{there:?} {comes:?}");
        let (p, key, description) = comes;
        let command = creation(p, 1, key, description, 50);
        let before = there.map(|(p, key, description)| {
            // With the same id, however unlikely.
            CreateBuyer { id: command.id, ..creation(p, 1, key, description, 3) }
        });
        let partners = [1, 2].map(|p| partner_put(p, None));
        let world = world(partners.into_iter().chain(before.iter().map(created)));
        let decided = ask(&world, &command).map(|decision| (decision.outcome, decision.changes));
        let earlier = || buyer_of(before.as_ref().expect("there"));
        let wanted = match is {
            "created" => {
                let outcome = CreateBuyerOutcome::Created(buyer_of(&command));
                Ok((outcome, vec![by(command.stamp, created(&command))]))
            }
            "replayed" => Ok((CreateBuyerOutcome::Replayed(earlier()), vec![])),
            "key reused" => Ok((CreateBuyerOutcome::KeyReused, vec![])),
            _ => Err(taken),
        };
        assert_eq!(decided, wanted, "{case}");
    }
}

#[test]
fn keys_of_partners_do_not_meet_and_no_key_means_a_new_buyer() {
    let (first, second) = (creation(1, 1, Some("k"), description(), 3), creation(2, 1, Some("k"), description(), 3));
    assert_ne!(first.id, second.id);
    let partners = || [1, 2].map(|p| partner_put(p, None)).into_iter();
    let decision = ask(&world(partners().chain([created(&first)])), &second).expect("decided");
    assert_eq!(decision.outcome, CreateBuyerOutcome::Created(buyer_of(&second)));
    let (third, fourth) = (creation(1, 1, None, description(), 3), creation(1, 2, None, description(), 3));
    assert_eq!((third.id, third.fingerprint), (buyer_id(1), None));
    let decision = ask(&world(partners().chain([created(&third)])), &fourth).expect("decided");
    assert_eq!(decision.outcome, CreateBuyerOutcome::Created(buyer_of(&fourth)));
}

#[test]
fn a_creation_needs_its_partner() {
    let refused = Err(DecideError::Contradiction("the partner of a new buyer does not exist"));
    for key in [None, Some("k")] {
        let command = creation(1, 1, key, description(), 3);
        assert_eq!(ask(&world([]), &command), refused);
        assert_eq!(ask(&world([partner_put(2, None)]), &command), refused);
        assert!(ask(&world([partner_put(1, None)]), &command).is_ok());
    }
}

#[test]
fn a_buyer_is_read_in_full_by_an_event_and_one_that_is_not_there_by_none() {
    let there = creation(1, 1, None, description(), 1);
    let world = world([partner_put(1, None), partner_put(2, None), created(&there)]);
    for (p, n) in [(1, 1), (1, 2), (2, 1)] {
        let command = ReadBuyer { partner: partner(p), id: buyer_id(n), stamp: operator(5) };
        let decision = ask(&world, &command).expect("decided");
        let read = by(command.stamp, Change::BuyerRead { partner: partner(p), buyer: buyer_id(n) });
        let wanted = if (p, n) == (1, 1) { (Some(buyer_of(&there)), vec![read]) } else { (None, vec![]) };
        assert_eq!((decision.outcome, decision.changes), wanted);
    }
}
