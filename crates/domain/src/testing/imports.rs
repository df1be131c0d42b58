//! One import for each reason to reject one.

use super::samples::*;
use crate::buyer::Description;
use crate::change::{Cause, Change, OfferKey, Record};
use crate::import::{SEQUENCE_LIMIT, TEXT_LIMIT};
use crate::key::{KeyHash, KeyRecord};
use crate::offer::Status;
use crate::webhook::progress::ASIDE;
use crate::webhook::{Endpoint, Noted, Owner, Secrets, State, Step};
use crate::{OfferId, PartnerId};

/// An import that is rejected.
#[derive(Debug)]
pub struct Faulty {
    /// What is wrong with it.
    pub name: &'static str,
    /// The records. All but the last fit.
    pub records: Vec<Record>,
    /// Why it is rejected, with `merge` or without.
    pub problem: &'static str,
}

/// Two partners with an application and a key each, an offer and a buyer of partner 1, the use of a key, endpoint 1 of
/// partner 1 and endpoint 2 of the lender: what every import begins with here.
pub fn base() -> Vec<Change> {
    vec![
        partner_put(1, Some("client 1")),
        partner_put(2, None),
        Change::KeyAdded(key(1, 1)),
        Change::KeyAdded(key(2, 2)),
        Change::KeyUsed { key: key(1, 1).hash, at: at(1) },
        application_put(1),
        application_put(2),
        created(offer_key(1, 1)),
        buyer(1, 1, description()),
        endpoint_put(1, 1, Step::Created),
        progress(1, 3),
        Change::EndpointPut {
            endpoint: Endpoint { owner: Owner::Lender, ..without_secrets(1, 2) }.into(),
            step: Step::Created,
        },
    ]
}

/// Gives the changes sequences and causes, as an export would.
pub fn numbered_from(first: u64, changes: impl IntoIterator<Item = Change>) -> Vec<Record> {
    (first..).zip(changes).map(|(n, change)| record(n, change)).collect()
}

/// The change that creates an offer.
pub fn created(offer: OfferKey) -> Change {
    Change::OfferCreated { offer, terms: terms(), at: at(1) }
}

/// The change that gives such an offer other terms.
pub fn terms_replaced(offer: OfferKey) -> Change {
    Change::TermsReplaced { offer, terms: bare_terms(), before: Some(Box::new(terms())) }
}

/// The change that moves an offer.
pub fn moved(offer: OfferKey, status: Status) -> Change {
    Change::OfferMoved { offer, status, at: at(2) }
}

/// The change that partner `p` creates buyer `n`.
pub fn buyer(p: u64, n: u64, description: Description) -> Change {
    let (partner, buyer, description) = (partner(p), buyer_id(n), description.into());
    Change::BuyerCreated { partner, buyer, description, fingerprint: None, at: at(1) }
}

/// Endpoint `n` of partner `p` as an export has it.
fn without_secrets(p: u64, n: u64) -> Endpoint {
    Endpoint { secrets: Secrets::default(), ..endpoint(p, n) }
}

/// The change that puts such an endpoint.
pub fn endpoint_put(p: u64, n: u64, step: Step) -> Change {
    Change::EndpointPut { endpoint: without_secrets(p, n).into(), step }
}

/// The change that deletes it.
pub fn endpoint_deleted(p: u64, n: u64) -> Change {
    let endpoint = Endpoint { set: State::Deleted, ..without_secrets(p, n) };
    Change::EndpointPut { endpoint: endpoint.into(), step: Step::Deleted }
}

/// The change that endpoint `n` has come to a sequence; the event before is set aside.
pub fn progress(n: u64, cursor: u64) -> Change {
    let aside = vec![aside(cursor - 1)];
    Change::DeliveriesNoted(vec![Noted { aside, ..Noted::beginning(endpoint_id(n), cursor) }])
}

/// One import for each reason that a record is rejected, whatever the store holds. The ids of the records are those of
/// [`base`].
pub fn faulty() -> Vec<Faulty> {
    let mut all = Vec::new();
    let mut add = |name, changes: Vec<Change>, change: &dyn Fn(&mut Record), problem| {
        let mut records = numbered_from(1, base().into_iter().chain(changes));
        change(records.last_mut().expect("never empty"));
        all.push(Faulty { name, records, problem });
    };
    let as_it_is: &dyn Fn(&mut Record) = &|_| {};
    let archived = || moved(offer_key(1, 1), Status::Archived);
    let of_another = OfferKey { partner: partner(2), ..offer_key(1, 1) };

    for (name, change) in
        [("an offer", created(offer_key(1, 2))), ("a move", archived()), ("a buyer", buyer(1, 2, description()))]
    {
        let problem = "its event is missing";
        add(name, vec![change.clone()], &|record| record.cause = None, problem);
        add(name, vec![change.clone()], &|record| record.sequence = None, problem);
        let late = |cause: Cause| Cause { at: at(99), ..cause };
        let problem = "its event is of another time";
        add(name, vec![change], &|record| record.cause = record.cause.map(late), problem);
    }
    let problem = "its event is missing";
    add("terms", vec![terms_replaced(offer_key(1, 1))], &|record| record.cause = None, problem);
    for (name, change) in [
        ("a partner", partner_put(3, None)),
        ("a key", Change::KeyAdded(key(1, 3))),
        ("a revocation", Change::KeyRevoked { partner: partner(1), key: key_id(1), at: at(2) }),
    ] {
        add(name, vec![change], &|record| record.sequence = None, "its event is missing");
    }
    let problem = "its sequence is too large";
    add("2^63", vec![archived()], &|record| record.sequence = Some(SEQUENCE_LIMIT), problem);
    add("2^64 - 1", vec![partner_put(3, None)], &|record| record.sequence = Some(u64::MAX), problem);
    let problem = "its sequence is not greater than before";
    add("the same sequence", vec![archived()], &|record| record.sequence = record.sequence.map(|n| n - 1), problem);
    add("a lower sequence", vec![partner_put(3, None)], &|record| record.sequence = Some(1), problem);
    add("sequence 0", vec![archived()], &|record| record.sequence = Some(0), problem);

    let problem = "its partner is not there";
    let nobody = PartnerId::from_bytes(bytes(9));
    add("a key of nobody", vec![Change::KeyAdded(key(9, 9))], as_it_is, problem);
    add("an application of nobody", vec![application_put(9)], as_it_is, problem);
    add("a buyer of nobody", vec![buyer(9, 9, description())], as_it_is, problem);

    let problem = "another partner has its client id";
    add("a new partner with a client id", vec![partner_put(3, Some("client 1"))], as_it_is, problem);

    let with_hash = |key: KeyRecord, text| KeyRecord { hash: KeyHash::of(text), ..key };
    let problem = "another key has its id";
    add("a second key with an id", vec![Change::KeyAdded(with_hash(key(1, 1), "new"))], as_it_is, problem);
    let problem = "another key has its hash";
    add("a second key with a hash", vec![Change::KeyAdded(with_hash(key(1, 8), "lendpay_1"))], as_it_is, problem);
    add("a hash of another partner", vec![Change::KeyAdded(with_hash(key(2, 8), "lendpay_1"))], as_it_is, problem);

    let problem = "its key is not there";
    let revoked = |p, n| Change::KeyRevoked { partner: partner(p), key: key_id(n), at: at(3) };
    add("an unknown key is revoked", vec![revoked(1, 9)], as_it_is, problem);
    add("a key of another partner is revoked", vec![revoked(2, 1)], as_it_is, problem);
    let expires = Change::KeyExpirySet { partner: partner(1), key: key_id(9), at: at(3) };
    add("an unknown key gets an expiry", vec![expires], as_it_is, problem);
    let unknown = Change::KeyUsed { key: KeyHash::of("unknown"), at: at(3) };
    add("an unknown key is used", vec![unknown], as_it_is, problem);

    let problem = "its application is not there";
    add("an offer without application", vec![created(offer_key(9, 1))], as_it_is, problem);
    let problem = "its application belongs to another partner";
    let stranger = OfferKey { offer: OfferId::from_bytes(bytes(2)), ..of_another };
    add("an offer for the application of another partner", vec![created(stranger)], as_it_is, problem);
    add("an offer of nobody", vec![created(OfferKey { partner: nobody, ..stranger })], as_it_is, problem);

    let problem = "its offer is not there";
    add("a move of an unknown offer", vec![moved(offer_key(1, 9), Status::Archived)], as_it_is, problem);
    add("terms of an unknown offer", vec![terms_replaced(offer_key(1, 9))], as_it_is, problem);
    add("an offer under another application", vec![moved(offer_key(2, 1), Status::Archived)], as_it_is, problem);
    let problem = "its offer belongs to another partner";
    add("a move of an offer of another partner", vec![moved(of_another, Status::Archived)], as_it_is, problem);
    add("terms of an offer of another partner", vec![terms_replaced(of_another)], as_it_is, problem);

    let problem = "its endpoint is not there";
    add("an unknown endpoint is paused", vec![endpoint_put(1, 9, Step::Paused)], as_it_is, problem);
    add("an unknown endpoint is deleted", vec![endpoint_deleted(1, 9)], as_it_is, problem);
    add("progress of an unknown endpoint", vec![progress(9, 3)], as_it_is, problem);
    let deleted = vec![endpoint_put(2, 3, Step::Created), endpoint_deleted(2, 3), endpoint_put(2, 3, Step::Paused)];
    add("a deleted endpoint is paused", deleted, as_it_is, problem);
    let problem = "its endpoint has another owner";
    add("an endpoint of another partner is paused", vec![endpoint_put(2, 1, Step::Paused)], as_it_is, problem);
    add("the lender's endpoint is deleted", vec![endpoint_deleted(1, 2)], as_it_is, problem);
    add("an endpoint of nobody", vec![endpoint_put(9, 9, Step::Created)], as_it_is, "its partner is not there");
    let problem = "it holds more than can be stored";
    let many = |n| Noted { done: (0..4 * ASIDE as u64).collect(), ..Noted::beginning(endpoint_id(n), 3) };
    add("progress that is too long", vec![Change::DeliveriesNoted(vec![many(1), many(2)])], as_it_is, problem);

    let problem = "its cursor is too large";
    let far = Change::DeliveriesNoted(vec![Noted::beginning(endpoint_id(1), SEQUENCE_LIMIT)]);
    add("progress past all sequences", vec![far], as_it_is, problem);
    let problem = "more events are set aside than can be";
    let many = Noted { aside: (1..=ASIDE as u64 + 1).map(aside).collect(), ..Noted::beginning(endpoint_id(1), 9_999) };
    add("too many events are set aside", vec![Change::DeliveriesNoted(vec![many])], as_it_is, problem);

    let problem = "it holds more text than can be stored";
    let long = Description { name: Some("x".repeat(TEXT_LIMIT + 1)), ..Description::default() };
    add("a long buyer", vec![buyer(1, 2, long)], as_it_is, problem);
    all
}

/// Imports that are rejected unless their offer was there before: then `merge` leaves its records out.
pub fn faulty_unless_kept() -> Vec<Faulty> {
    let mut all = Vec::new();
    let mut add = |name, changes: Vec<Change>, problem| {
        let records = numbered_from(1, base().into_iter().chain(changes));
        all.push(Faulty { name, records, problem });
    };
    let offer = offer_key(1, 1);
    let problem = "its offer is no longer Offered";
    for &status in &[Status::CustomerAccepted, Status::CustomerDeclined, Status::Expired, Status::Archived] {
        add("terms that are fixed", vec![moved(offer, status), terms_replaced(offer)], problem);
    }
    let problem = "its offer cannot come to this status from the one that it has";
    for way in [
        &[Status::Offered][..],
        &[Status::Advanced],
        &[Status::Expired, Status::CustomerAccepted],
        &[Status::CustomerAccepted, Status::Expired],
        &[Status::CustomerAccepted, Status::CustomerAccepted],
        &[Status::Archived, Status::Archived],
    ] {
        add("a move that is not allowed", way.iter().map(|status| moved(offer, *status)).collect(), problem);
    }
    let advanced = [Status::CustomerAccepted, Status::Advanced].map(|status| moved(offer, status));
    add("an indicative offer is advanced", [vec![terms_replaced(offer)], advanced.into()].concat(), problem);
    all
}

/// Imports that bring a subject twice: rejected without `merge`; with it the second is left out.
pub fn repeated() -> Vec<Faulty> {
    let name = "a subject twice";
    let problem = "its subject is there already";
    [application_put(1), created(offer_key(1, 1)), buyer(1, 1, description())]
        .map(|change| Faulty { name, records: numbered_from(1, base().into_iter().chain([change])), problem })
        .into()
}
