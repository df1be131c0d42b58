//! What changes make of a view.

use super::*;
use crate::testing::commands::{Asked, IDS, meeting};
use crate::testing::samples::*;
use proptest::collection::vec;
use proptest::prelude::*;

type Whole = Overlay<Nothing<Terms, Description>>;

fn empty() -> Whole {
    Overlay::new(Nothing::default())
}

fn apply<V: View<Terms = Terms, Buyer = Description>>(view: &mut Overlay<V>, change: &Change) {
    view.apply(change, Terms::clone, Description::clone).expect("a decided change fits");
}

/// Every answer of a view about what the commands of the strategies are about.
fn answers(view: &impl View<Terms = Terms, Buyer = Description>, buyers: &[BuyerId]) -> Vec<String> {
    let mut all = Vec::new();
    for client in ["one", "two"] {
        all.push(format!("{:?}", view.client(client)));
    }
    for n in 0..IDS {
        let hash = KeyHash::of(&n.to_string());
        all.push(format!("{:?} {:?}", view.partner(partner(n)), view.application(application(n))));
        all.push(format!("{:?} {:?}", view.key_with_hash(hash), view.key_used(hash)));
        all.push(format!("{:?}", view.webhook(endpoint_id(n))));
        for m in 0..IDS {
            all.push(format!("{:?} {:?}", view.key(partner(n), key_id(m)), view.offer(application(n), offer(m))));
        }
    }
    for p in 0..IDS {
        all.extend(buyers.iter().map(|id| format!("{:?}", view.buyer(partner(p), *id))));
    }
    all
}

/// The changes that come of commands.
fn changes(commands: &[Asked]) -> Vec<Change> {
    let (mut world, mut all) = (empty(), Vec::new());
    for command in commands {
        for record in command.changes(&world).unwrap_or_default() {
            apply(&mut world, &record.change);
            all.push(record.change);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_change_that_is_applied_twice_is_applied_once(commands in vec(meeting(), 1..60)) {
        let (mut once, mut twice) = (empty(), empty());
        let mut buyers = Vec::new();
        for change in changes(&commands) {
            if let Change::BuyerCreated { buyer, .. } = change {
                buyers.push(buyer);
            }
            apply(&mut once, &change);
            apply(&mut twice, &change);
            apply(&mut twice, &change);
            prop_assert_eq!(answers(&once, &buyers), answers(&twice, &buyers));
        }
    }

    /// Wherever the changes are cut into a base and what lies over it, the answers are the same.
    #[test]
    fn an_overlay_answers_as_if_its_changes_were_in_the_base(commands in vec(meeting(), 1..60), cut in 0.0..1.0) {
        let changes = changes(&commands);
        let cut = (changes.len() as f64 * cut) as usize;
        let buyers = |change: &Change| if let Change::BuyerCreated { buyer, .. } = change { Some(*buyer) } else { None };
        let buyers: Vec<_> = changes.iter().filter_map(buyers).collect();
        let (mut whole, mut base) = (empty(), empty());
        changes.iter().for_each(|change| apply(&mut whole, change));
        changes[..cut].iter().for_each(|change| apply(&mut base, change));
        let mut overlay = Overlay::new(base);
        changes[cut..].iter().for_each(|change| apply(&mut overlay, change));
        prop_assert_eq!(answers(&overlay, &buyers), answers(&whole, &buyers));
    }
}

/// Within a group a client id can go from one partner to another: the base's answer is ignored once its owner has
/// changed.
#[test]
fn a_client_id_that_moves_within_a_group_is_found_at_its_new_owner() {
    let base = || {
        let mut base = empty();
        apply(&mut base, &partner_put(1, Some("client")));
        apply(&mut base, &partner_put(2, None));
        Overlay::new(base)
    };
    assert_eq!(base().client("client"), Ok(Some(partner(1))));
    let mut view = base();
    apply(&mut view, &partner_put(1, None));
    assert_eq!(view.client("client"), Ok(None));
    apply(&mut view, &partner_put(2, Some("client")));
    assert_eq!(view.client("client"), Ok(Some(partner(2))));
    // And back, and to another.
    apply(&mut view, &partner_put(2, Some("another")));
    assert_eq!((view.client("client"), view.client("another")), (Ok(None), Ok(Some(partner(2)))));
    apply(&mut view, &partner_put(1, Some("client")));
    assert_eq!(view.client("client"), Ok(Some(partner(1))));
    // Replayed in another order than decided, as when a log is applied to an index that is ahead of it.
    let mut view = base();
    apply(&mut view, &partner_put(2, Some("client")));
    apply(&mut view, &partner_put(1, None));
    assert_eq!(view.client("client"), Ok(Some(partner(2))), "the old owner does not take it away");
}

#[test]
fn a_hash_is_found_in_the_base_and_over_it() {
    let mut base = empty();
    apply(&mut base, &Change::KeyAdded(key(1, 1)));
    let mut view = Overlay::new(base);
    let (first, second) = (key(1, 1).hash, key(1, 2).hash);
    assert_eq!(view.key_with_hash(first), Ok(Some((partner(1), key_id(1)))));
    apply(&mut view, &Change::KeyRevoked { partner: partner(1), key: key_id(1), at: at(1) });
    apply(&mut view, &Change::KeyAdded(key(1, 2)));
    assert_eq!(view.key_with_hash(first), Ok(Some((partner(1), key_id(1)))));
    assert_eq!(view.key_with_hash(second), Ok(Some((partner(1), key_id(2)))));
    assert_eq!(view.key(partner(1), key_id(1)).map(|key| key.and_then(|key| key.revoked_at)), Ok(Some(at(1))));
}

#[test]
fn a_change_of_what_is_not_there_is_corrupt() {
    let offer = offer_key(1, 1);
    for change in [
        Change::KeyRevoked { partner: partner(1), key: key_id(1), at: at(1) },
        Change::KeyExpirySet { partner: partner(1), key: key_id(1), at: at(1) },
        Change::TermsReplaced { offer, terms: terms(), before: None },
        Change::OfferMoved { offer, status: crate::offer::Status::Archived, at: at(1), reason: None },
    ] {
        assert_eq!(empty().apply(&change, Terms::clone, Description::clone), Err(ViewError::Corrupt));
    }
}

/// Terms that are elsewhere, as in the embedded store.
#[test]
fn what_was_read_counts_only_at_its_place() {
    #[derive(Clone, Debug, PartialEq)]
    struct Place(u8);
    impl HeldTerms for Place {
        fn whole(&self) -> Option<&Terms> {
            None
        }
    }
    let view = Nothing::<Place, Description>::default();
    let read = (Place(1), terms());
    assert_eq!(view.terms(&Place(1)), None);
    let known = Known { view: &view, terms: Some(&read) };
    assert_eq!([known.terms(&Place(1)), known.terms(&Place(2))], [Some(&terms()), None]);
    assert_eq!(Known { view: &view, terms: None }.terms(&Place(1)), None);
    // A view that has the terms itself needs none that were read, and takes no others.
    let (own, other) = (empty(), (bare_terms(), terms()));
    assert_eq!(Known { view: &own, terms: Some(&other) }.terms(&bare_terms()), Some(&bare_terms()));
}
