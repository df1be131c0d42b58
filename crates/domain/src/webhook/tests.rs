//! What an endpoint is and gets.

use super::*;
use crate::event::Actor;
use crate::offer::Status;
use crate::testing::samples::*;
use crate::{EventId, OperationId};

fn event(partner: Option<PartnerId>, subject: Subject) -> Event {
    let (id, operation) = (EventId::from_bytes([1; 16]), OperationId::from_bytes([2; 16]));
    Event {
        sequence: 7,
        id,
        occurred_at: at(0),
        partner,
        subject,
        actor: Actor::Operator,
        operation,
        replaced: None,
        reason: None,
    }
}

/// An event of each type, of partner `p`.
fn all(p: u64) -> Vec<Event> {
    let (application, offer) = (application(p), offer(p));
    let reached = Status::ALL.iter().map(|status| Subject::Offer { application, offer, status: *status });
    let others = [
        Subject::Buyer(buyer_id(p)),
        Subject::Terms { application, offer },
        Subject::PartnerCreated,
        Subject::PartnerUpdated,
        Subject::KeyCreated(key_id(p)),
        Subject::KeyExpirySet(key_id(p)),
        Subject::KeyRevoked(key_id(p)),
        Subject::ApplicationCreated(application),
        Subject::BuyerRead(buyer_id(p)),
    ];
    let steps = Step::ALL.into_iter().map(|step| Subject::Webhook(endpoint_id(p), step));
    reached.chain(others).chain(steps).map(|subject| event(Some(partner(p)), subject)).collect()
}

fn gets(endpoint: &Endpoint, events: &[Event]) -> Vec<&'static str> {
    let filter = endpoint.filter();
    events.iter().filter(|event| filter.wants(event)).map(|event| event.subject.event_type()).collect()
}

#[test]
fn a_partner_gets_its_own_events_that_it_may_see_and_the_lender_gets_all() {
    let of_partner =
        ["offer.created", "offer.expired", "offer.accepted", "offer.declined", "offer.advanced", "offer.archived"];
    let found = gets(&endpoint(1, 1), &all(1));
    assert_eq!(found.len(), 7);
    assert!(of_partner.iter().chain(&["buyer.created"]).all(|name| found.contains(name)), "{found:?}");
    assert_eq!(gets(&endpoint(1, 1), &all(2)), [""; 0]);
    let lenders = Endpoint { owner: Owner::Lender, ..endpoint(1, 1) };
    assert_eq!(gets(&lenders, &all(1)).len(), Subject::TYPES.len());
    let of_nobody = event(None, Subject::Webhook(endpoint_id(3), Step::Created));
    assert_eq!(gets(&lenders, std::slice::from_ref(&of_nobody)), ["webhook.created"]);
    assert_eq!(gets(&endpoint(1, 1), &[of_nobody]), [""; 0]);
}

#[test]
fn types_that_are_wanted_narrow_what_an_owner_may_get() {
    let types = EventTypes::of_names(["buyer.created", "key.created"]);
    assert_eq!(gets(&Endpoint { types, ..endpoint(1, 1) }, &all(1)), ["buyer.created"]);
    let lenders = Endpoint { types, owner: Owner::Lender, ..endpoint(1, 1) };
    assert_eq!(gets(&lenders, &all(1)), ["buyer.created", "key.created"]);
    assert_eq!(EventTypes::of_names(["buyer.created", "no.type"]), None);
    assert!(EventTypes::ALL.names().eq(Subject::TYPES));
}

#[test]
fn each_event_is_in_order_with_those_of_its_offer_or_buyer() {
    for event in all(1) {
        let lane = match event.subject.event_type().split('.').next().expect("a first part") {
            "offer" => Lane::Offer(application(1), offer(1)),
            "buyer" => Lane::Buyer(buyer_id(1)),
            "webhook" => Lane::Endpoint(endpoint_id(1)),
            _ => Lane::Partner(partner(1)),
        };
        assert_eq!(Lane::of(&event), lane, "{event:?}");
    }
}

#[test]
fn names_are_read_as_they_are_written() {
    for state in State::ALL {
        let (name, why) = state.names();
        assert_eq!(State::named(name, why), Some(state));
    }
    for (name, why) in [("active", Some("gone")), ("disabled", None), ("", None)] {
        assert_eq!(State::named(name, why), None);
    }
    for step in Step::ALL {
        assert_eq!(Step::named(step.event_type()), Some(step));
    }
    assert_eq!(Step::named("offer.created"), None);
}

#[test]
fn one_to_sixteen_may_be_under_way() {
    for number in 0..=255 {
        assert_eq!(InFlight::new(number).map(InFlight::get), (1..=16).contains(&number).then_some(number));
    }
}

#[test]
fn a_secret_is_short_and_never_shown() {
    assert_eq!(Sealed::new(vec![0; Sealed::LONGEST + 1]), None);
    assert_eq!(format!("{:?}", Sealed::new(vec![7; 4])), "Some(Sealed(…))");
    assert!(!format!("{:?}", endpoint(1, 1)).contains("[0, "));
}
