//! Every record in every state: added, left as it was, or rejected.

use super::*;
use crate::buyer::Description;
use crate::offer::Terms;
use crate::testing::imports::{
    base, buyer, buyer_read, created, endpoint_deleted, endpoint_put, faulty, faulty_unless_kept, moved, numbered_from,
    progress, repeated, terms_replaced,
};
use crate::testing::samples::*;
use crate::view::{Nothing, Overlay};

type World = Overlay<Nothing<Terms, Description>>;

/// Imports into a store that holds the changes of `before`.
fn import(before: Vec<Change>, records: &[Record], merge: bool) -> Result<Imported, (usize, &'static str)> {
    let mut world: World = Overlay::new(Nothing::default());
    let apply = |world: &mut World, change: &Change| {
        world.apply(change, Terms::clone, Description::clone).expect("what is admitted fits");
    };
    before.iter().for_each(|change| apply(&mut world, change));
    let mut admission = Admission::new(merge, at(5));
    for (n, record) in records.iter().enumerate() {
        match admission.admit(record, &world) {
            Ok(Admitted::Keep) => {}
            Ok(Admitted::Add { sequence }) => {
                assert_eq!(sequence, record.sequence.filter(|_| !merge));
                apply(&mut world, &record.change);
            }
            Err(AdmitError::Rejected(why)) => return Err((n, why)),
            Err(AdmitError::View(error)) => panic!("{error}"),
        }
    }
    Ok(admission.done())
}

#[test]
fn every_reason_to_reject_is_given_at_the_record_that_does_not_fit() {
    for (merge, before) in [(false, vec![]), (true, vec![]), (true, base())] {
        for case in faulty() {
            let last = case.records.len() - 1;
            let found = import(before.clone(), &case.records, merge);
            assert_eq!(found, Err((last, case.problem)), "{} {merge} {}", case.name, before.len());
        }
    }
    for (merge, before) in [(false, vec![]), (true, vec![])] {
        for case in faulty_unless_kept() {
            let found = import(before.clone(), &case.records, merge);
            assert_eq!(found, Err((case.records.len() - 1, case.problem)), "{} {merge}", case.name);
        }
    }
    for case in repeated() {
        assert_eq!(import(vec![], &case.records, false), Err((case.records.len() - 1, case.problem)));
    }
}

#[test]
fn a_merge_leaves_what_was_there_as_it_is() {
    for case in faulty_unless_kept().into_iter().chain(repeated()) {
        let kept = case.records.len() as u64;
        assert_eq!(import(base(), &case.records, true), Ok(Imported { kept, ..Imported::default() }), "{}", case.name);
    }
    // Each kind of record, of a subject that was there and of one that was not.
    let later = [
        Change::KeyRevoked { partner: partner(1), key: key_id(1), at: at(3) },
        Change::KeyExpirySet { partner: partner(1), key: key_id(1), at: at(3) },
        terms_replaced(offer_key(1, 1)),
        moved(offer_key(1, 1), Status::Archived),
        buyer_read(1, 1),
        endpoint_put(1, 1, Step::Paused),
        progress(1, 5),
        endpoint_deleted(1, 1),
    ];
    for change in base().into_iter().chain(later) {
        let records = [record(1, change.clone())];
        assert_eq!(import(base(), &records, true), Ok(Imported { kept: 1, ..Imported::default() }), "{change:?}");
        let first =
            matches!(change, Change::ApplicationPut { .. } | Change::OfferCreated { .. } | Change::BuyerCreated { .. });
        if first {
            let rejected = Err((0, "its subject is there already"));
            assert_eq!(import(base(), &records, false), rejected, "{change:?}");
        }
    }
    let of_another = crate::change::OfferKey { partner: partner(2), ..offer_key(1, 1) };
    for change in [moved(of_another, Status::Archived), created(of_another)] {
        assert!(import(base(), &[record(1, change)], true).is_err());
    }
}

/// Every text in this module's source that rejects a record is the problem of a case.
#[test]
fn no_reason_to_reject_is_without_a_case() {
    let cases = faulty().into_iter().chain(faulty_unless_kept()).chain(repeated());
    let problems: HashSet<_> = cases.map(|case| case.problem).collect();
    let source = include_str!("../import.rs");
    let mut reasons = HashSet::new();
    for start in ["reject(\"", "Rejected(\""] {
        for part in source.split(start).skip(1) {
            reasons.insert(part.split('"').next().expect("the text ends"));
        }
    }
    assert!(reasons.len() > 10, "{reasons:?}");
    assert_eq!(problems, reasons);
}

#[test]
fn what_one_import_adds_it_may_change_again() {
    let mut changes = base();
    changes.extend([
        partner_put(1, Some("another client")),
        // The client id is free again.
        partner_put(2, Some("client 1")),
        Change::KeyAdded(KeyRecord { revoked_at: Some(at(2)), ..key(1, 1) }),
        Change::KeyExpirySet { partner: partner(2), key: key_id(2), at: at(6) },
        Change::KeyRevoked { partner: partner(2), key: key_id(2), at: at(3) },
        Change::KeyUsed { key: key(1, 1).hash, at: at(9) },
        terms_replaced(offer_key(1, 1)),
        moved(offer_key(1, 1), Status::CustomerAccepted),
        moved(offer_key(1, 1), Status::Archived),
        buyer_read(1, 1),
        endpoint_put(1, 1, Step::Paused),
        endpoint_deleted(1, 1),
    ]);
    let records = numbered_from(1, changes);
    for merge in [false, true] {
        let done = import(vec![], &records, merge).expect("fits");
        // A merge takes no progress of deliveries.
        let kept = u64::from(merge);
        assert_eq!(done, Imported { added: records.len() as u64 - kept, kept, ..Imported::default() });
    }
}

#[test]
fn expired_keys_and_unchecked_buyers_are_counted_not_rejected() {
    let mut changes = base();
    let expired = KeyRecord { expires_at: Some(at(5)), ..key(1, 7) };
    changes.push(Change::KeyAdded(expired));
    // Of a key that had not expired; then of one that had, which counts once.
    changes.push(Change::KeyExpirySet { partner: partner(1), key: key_id(1), at: at(4) });
    changes.push(Change::KeyExpirySet { partner: partner(1), key: key_id(7), at: at(4) });
    changes.push(buyer(1, 7, Description { country_code: Some("XX".into()), ..description() }));
    let done = import(vec![], &numbered_from(1, changes), false).expect("fits");
    assert_eq!((done.expired_keys, done.unchecked_buyers), (2, 1));
}

/// What an early version exported: no causes but those of events, and sequences of events only.
#[test]
fn causes_and_sequences_may_be_missing_where_early_versions_had_no_event() {
    let mut records = numbered_from(1, base());
    for record in records.iter_mut().filter(|record| !record.change.always_has_cause()) {
        (record.sequence, record.cause) = (None, None);
    }
    assert!(import(vec![], &records, false).is_ok());
}
