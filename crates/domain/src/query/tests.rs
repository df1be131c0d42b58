//! What lists and filters want.

use super::*;
use crate::EventId;
use crate::event::{Actor, ids};
use crate::offer::OfferType;
use crate::testing::samples::{application, at, buyer_id, offer, partner, put_partner};

#[test]
fn partners_are_found_by_a_part_of_their_name_and_by_their_client() {
    let of = put_partner(1, "Müller Brokers", Some("client"), 0);
    let partner = Partner { id: partner(1), name: of.name, oauth_client_id: of.oauth_client_id, created_at: at(0) };
    let wants = |name: Option<&str>, client: Option<&str>| {
        let (name, oauth_client_id) = (name.map(str::to_owned), client.map(str::to_owned));
        FindPartners { name, oauth_client_id, window: Window { after: None, limit: 1 } }.wants(&partner)
    };
    assert!(wants(None, None) && wants(Some("mÜLLER"), None) && wants(Some("brok"), Some("client")));
    assert!(!wants(Some("brokerz"), None) && !wants(None, Some("clien")) && !wants(Some("x"), Some("client")));
}

#[test]
fn cursors_of_buyers_are_read_as_they_are_written() {
    let cursor = BuyerCursor { partner: partner(1), buyer: buyer_id(2) };
    assert_eq!(BuyerCursor::parse(&cursor.to_string()), Some(cursor));
    for bad in ["", ":", &partner(1).to_string(), &format!("{}:", partner(1)), &format!("{cursor}:")] {
        assert_eq!(BuyerCursor::parse(bad), None, "{bad}");
    }
}

#[test]
fn cursors_of_offers_are_read_as_they_are_written() {
    let cursor = OfferCursor { application: application(1), offer: offer(2) };
    assert_eq!(OfferCursor::parse(&cursor.to_string()), Some(cursor));
    for bad in ["", ":", &application(1).to_string(), &format!("{}:", application(1)), &format!("{cursor}:")] {
        assert_eq!(OfferCursor::parse(bad), None, "{bad}");
    }
}

#[test]
fn offers_are_wanted_by_the_status_that_a_reader_sees() {
    let standing = Standing {
        status: Status::Offered,
        status_changed_at: at(0),
        offer_type: OfferType::Underwritten,
        expiry_at: Some(at(10)),
    };
    let wants = |status, end: Option<i64>, now| {
        let window = Window { after: None, limit: 1 };
        let expires_before = end.map(at);
        FindOffers { of: OffersOf::All, status, expires_before, now: at(now), window }.wants(&standing)
    };
    assert!(wants(Some(Status::Offered), None, 9) && !wants(Some(Status::Offered), None, 10));
    assert!(wants(Some(Status::Expired), None, 10) && !wants(Some(Status::Expired), None, 9));
    assert!(wants(None, Some(11), 0) && !wants(None, Some(10), 0));
    for (wanted, seen) in Status::ALL.iter().flat_map(|wanted| [(*wanted, 9), (*wanted, 10)]) {
        let window = Window { after: None, limit: 1 };
        let status = Some(wanted);
        let query = FindOffers { of: OffersOf::All, status, expires_before: None, now: at(seen), window };
        for status in Status::ALL.iter().copied() {
            assert!(
                query.may_be_stored_as(status) || !query.wants(&Standing { status, ..standing }),
                "{wanted} {status}"
            );
        }
    }
    let never = Standing { expiry_at: None, ..standing };
    let window = Window { after: None, limit: 1 };
    let query = FindOffers { of: OffersOf::All, status: None, expires_before: Some(at(11)), now: at(0), window };
    assert!(!query.wants(&never));
}

#[test]
fn a_set_of_types_says_which_statuses_it_has() {
    let types = EventTypes::those(|name| name == "offer.created" || name == "buyer.created");
    let found: Vec<_> = Status::ALL.iter().copied().filter(|status| types.contains_status(*status)).collect();
    assert_eq!(found, [Status::Offered]);
}

#[test]
fn each_part_of_a_filter_of_events_counts() {
    let operation = OperationId::from_bytes([9; 16]);
    let moved = Subject::Offer { application: application(1), offer: offer(2), status: Status::Expired };
    let event = Event {
        sequence: 1,
        id: EventId::from_bytes([1; 16]),
        occurred_at: at(5),
        partner: Some(partner(1)),
        subject: moved,
        actor: Actor::Clock,
        operation,
        replaced: None,
        reason: None,
    };
    let all = EventFilter::default();
    let expired = EventTypes::named("offer.expired").expect("a type");
    let yes = [
        all,
        EventFilter { scope: Scope::Partner(partner(1)), ..all },
        EventFilter { types: expired, ..all },
        EventFilter { application: Some(application(1)), offer: Some(offer(2)), ..all },
        EventFilter { operation: Some(operation), ..all },
        EventFilter { from: Some(at(5)), until: Some(at(6)), ..all },
    ];
    for filter in yes {
        assert!(filter.wants(&event), "{filter:?}");
        let of_event: Vec<_> = ids(event.partner, &event.subject, event.operation).collect();
        assert!(filter.ids().all(|id| of_event.contains(&id)), "{filter:?}");
    }
    let no = [
        EventFilter { scope: Scope::Partner(partner(2)), ..all },
        EventFilter { types: EventTypes::those(|name| name != "offer.expired"), ..all },
        EventFilter { types: expired.and(EventTypes::those(|name| name.starts_with("buyer."))), ..all },
        EventFilter { application: Some(application(2)), ..all },
        EventFilter { offer: Some(offer(1)), ..all },
        EventFilter { buyer: Some(buyer_id(1)), ..all },
        EventFilter { operation: Some(OperationId::from_bytes([8; 16])), ..all },
        EventFilter { from: Some(at(6)), ..all },
        EventFilter { until: Some(at(5)), ..all },
    ];
    for filter in no {
        assert!(!filter.wants(&event), "{filter:?}");
    }
}
