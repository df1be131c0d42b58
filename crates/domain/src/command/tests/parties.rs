//! Partners, keys and applications in every state.

use super::super::{
    AddKeyOutcome, DecideError, ExpireKeyOutcome, PutApplicationOutcome, PutPartnerOutcome, RevokeKeyOutcome, Stamp,
    UseKey,
};
use super::{World, ask, by, world};
use crate::Timestamp;
use crate::change::{Change, Record};
use crate::key::{KeyHash, KeyRecord};
use crate::partner::Partner;
use crate::testing::samples::*;

/// Two partners, the first with a client id, keys 1 (valid) and 2 (revoked) and application 1; the second with key 3.
fn parties() -> World {
    world([
        partner_put(1, Some("one")),
        partner_put(2, None),
        application_put(1),
        Change::KeyAdded(key(1, 1)),
        Change::KeyAdded(key(1, 2)),
        Change::KeyRevoked { partner: partner(1), key: key_id(2), at: at(2) },
        Change::KeyAdded(key(2, 3)),
    ])
}

#[test]
fn a_partner_is_put_with_every_client_id() {
    let world = parties();
    let is = |p, text: &str, client: Option<&str>, seconds| Partner {
        id: partner(p),
        name: name(text),
        oauth_client_id: client.map(str::to_owned),
        created_at: at(seconds),
    };
    // Partner, name, client id; whether it is taken, was there, and changes.
    for (p, text, client, taken, there, changes) in [
        (1, "a partner", Some("one"), false, true, false),
        (1, "a partner", Some("new"), false, true, true),
        (1, "a partner", None, false, true, true),
        (1, "renamed", Some("one"), false, true, true),
        (2, "a partner", None, false, true, false),
        (2, "a partner", Some("one"), true, true, false),
        (2, "renamed", Some("one"), true, true, false),
        (2, "a partner", Some("new"), false, true, true),
        (2, "renamed", None, false, true, true),
        (3, "a partner", None, false, false, true),
        (3, "a partner", Some("new"), false, false, true),
        (3, "a partner", Some("one"), true, false, false),
    ] {
        let command = put_partner(p, text, client, 50);
        let decision = ask(&world, &command).expect("decided");
        let partner = is(p, text, client, if there { 0 } else { 50 });
        let put = by(command.stamp, Change::PartnerPut(partner.clone()));
        let outcome = match (taken, there) {
            (true, _) => PutPartnerOutcome::ClientTaken,
            (false, true) => PutPartnerOutcome::Updated(partner),
            (false, false) => PutPartnerOutcome::Created(partner),
        };
        assert_eq!(decision.outcome, outcome, "{p} {text} {client:?}");
        assert_eq!(decision.changes, if changes { vec![put] } else { vec![] }, "{p} {text} {client:?}");
    }
}

#[test]
fn a_key_is_added_with_every_id_and_hash() {
    let world = parties();
    let with_hash = |p, n, text: &str| KeyRecord { hash: KeyHash::of(text), ..key(p, n) };
    let id = Err(DecideError::Contradiction("the id of a new key is taken"));
    let hash = Err(DecideError::Contradiction("the hash of a new key is taken"));
    for (added, wanted) in [
        (key(9, 9), Ok((AddKeyOutcome::NoPartner, false))),
        (with_hash(9, 1, "lendpay_1"), Ok((AddKeyOutcome::NoPartner, false))),
        (key(1, 9), Ok((AddKeyOutcome::Added, true))),
        // Ids are the partner's own.
        (with_hash(2, 1, "new"), Ok((AddKeyOutcome::Added, true))),
        // A repetition changes nothing, whatever else it says; a revoked key stays revoked.
        (key(1, 1), Ok((AddKeyOutcome::Added, false))),
        (KeyRecord { expires_at: None, ..key(1, 1) }, Ok((AddKeyOutcome::Added, false))),
        (key(1, 2), Ok((AddKeyOutcome::Added, false))),
        (with_hash(1, 1, "new"), id),
        (with_hash(1, 1, "lendpay_2"), id),
        (with_hash(1, 9, "lendpay_1"), hash),
        (with_hash(1, 9, "lendpay_3"), hash),
        (with_hash(2, 1, "lendpay_1"), hash),
    ] {
        let command = add_key(added.clone());
        let wanted = wanted.map(|(outcome, changes)| {
            let change = by(command.stamp, Change::KeyAdded(added.clone()));
            (outcome, if changes { vec![change] } else { vec![] })
        });
        let decided = ask(&world, &command).map(|decision| (decision.outcome, decision.changes));
        assert_eq!(decided, wanted, "{added:?}");
    }
}

#[test]
fn a_key_is_revoked_once_by_its_partner() {
    let world = parties();
    for (p, n, outcome, changes) in [
        (1, 1, RevokeKeyOutcome::Revoked, true),
        (1, 2, RevokeKeyOutcome::Revoked, false),
        (1, 3, RevokeKeyOutcome::NotFound, false),
        (2, 3, RevokeKeyOutcome::Revoked, true),
        (2, 1, RevokeKeyOutcome::NotFound, false),
        (9, 1, RevokeKeyOutcome::NotFound, false),
    ] {
        let command = revoke(p, n, 40);
        let decision = ask(&world, &command).expect("decided");
        let revoked = Change::KeyRevoked { partner: partner(p), key: key_id(n), at: at(40) };
        let wanted = if changes { vec![by(command.stamp, revoked)] } else { vec![] };
        assert_eq!((decision.outcome, decision.changes), (outcome, wanted), "{p} {n}");
    }
}

#[test]
fn a_keys_expiry_comes_forward_and_never_goes_back() {
    let mut world = parties();
    world
        .apply(&Change::KeyAdded(KeyRecord { expires_at: None, ..key(1, 4) }), Clone::clone, Clone::clone)
        .expect("fits");
    for (p, n, end, outcome, changes) in [
        // Key 1 expires at 10.
        (1, 1, 9, ExpireKeyOutcome::Expires, true),
        (1, 1, 10, ExpireKeyOutcome::Expires, false),
        (1, 1, 11, ExpireKeyOutcome::EndsEarlier, false),
        // Key 2 is revoked.
        (1, 2, 9, ExpireKeyOutcome::EndsEarlier, false),
        (1, 2, 10, ExpireKeyOutcome::EndsEarlier, false),
        // Key 4 does not expire.
        (1, 4, 1_000_000, ExpireKeyOutcome::Expires, true),
        (1, 3, 9, ExpireKeyOutcome::NotFound, false),
        (2, 1, 9, ExpireKeyOutcome::NotFound, false),
        (9, 1, 9, ExpireKeyOutcome::NotFound, false),
    ] {
        let command = expire(p, n, end, 4);
        let decision = ask(&world, &command).expect("decided");
        let set = Change::KeyExpirySet { partner: partner(p), key: key_id(n), at: at(end) };
        let wanted = if changes { vec![by(command.stamp, set.clone())] } else { vec![] };
        assert_eq!((decision.outcome, decision.changes), (outcome, wanted), "{p} {n} {end}");
        if changes {
            let mut world = parties();
            world.apply(&Change::KeyAdded(key(1, 4)), Clone::clone, Clone::clone).expect("fits");
            world.apply(&set, Clone::clone, Clone::clone).expect("fits");
            let key = world.tables.keys[&(partner(p), key_id(n))].clone();
            assert!(key.is_valid(at(end) - chrono::TimeDelta::nanoseconds(1)) && !key.is_valid(at(end)));
        }
    }
}

#[test]
fn an_application_has_one_owner() {
    let world = parties();
    for (n, p, outcome) in [
        (1, 1, PutApplicationOutcome::Unchanged),
        (1, 2, PutApplicationOutcome::OwnedByAnother),
        (1, 9, PutApplicationOutcome::NoPartner),
        (2, 1, PutApplicationOutcome::Created),
        (2, 2, PutApplicationOutcome::Created),
        (2, 9, PutApplicationOutcome::NoPartner),
    ] {
        let command = put_application(n, p);
        let decision = ask(&world, &command).expect("decided");
        let put = Change::ApplicationPut { application: application(n), partner: partner(p) };
        let created = outcome == PutApplicationOutcome::Created;
        let wanted = if created { vec![by(command.stamp, put)] } else { vec![] };
        assert_eq!((decision.outcome, decision.changes), (outcome, wanted), "{n} {p}");
    }
}

#[test]
fn a_use_is_noted_once_an_hour_and_never_backwards() {
    let hour = |n: i64| Timestamp::from_timestamp(n * 3_600, 0).expect("in range");
    let in_hour = |n: i64, nanoseconds: u32| {
        Timestamp::from_timestamp(n * 3_600 + if nanoseconds > 0 { 3_599 } else { 0 }, nanoseconds).expect("in range")
    };
    let (used, unused, unknown) = (key(1, 1).hash, key(1, 2).hash, KeyHash::of("unknown"));
    let mut world = parties();
    let use_of = |key, at| Record { sequence: None, cause: None, change: Change::KeyUsed { key, at } };
    let before = use_of(used, hour(100)).change;
    world.apply(&before, Clone::clone, Clone::clone).expect("fits");
    for (key, at, noted) in [
        (unknown, in_hour(101, 5), None),
        // A revoked key is there.
        (unused, in_hour(101, 5), Some(hour(101))),
        (unused, in_hour(-1, 999_999_999), Some(hour(-1))),
        (used, in_hour(99, 999_999_999), None),
        (used, in_hour(100, 0), None),
        (used, in_hour(100, 999_999_999), None),
        (used, in_hour(101, 0), Some(hour(101))),
        (used, in_hour(101, 999_999_999), Some(hour(101))),
    ] {
        let decision = ask(&world, &UseKey { key, at }).expect("decided");
        let wanted: Vec<_> = noted.map(|hour| use_of(key, hour)).into_iter().collect();
        assert_eq!(decision.changes, wanted, "{at}");
    }
}

/// Whoever gives a command is the actor of its changes.
#[test]
fn changes_carry_the_stamp_of_their_command() {
    let stamp = Stamp { actor: crate::event::Actor::OAuthClient, ..numbered(77, 5) };
    let mut command = put_application(2, 1);
    command.stamp = stamp;
    let decision = ask(&parties(), &command).expect("decided");
    let cause = decision.changes[0].cause.expect("there");
    let of_command = (stamp.event, stamp.at, stamp.actor, stamp.operation);
    assert_eq!((cause.event, cause.at, cause.actor, cause.operation), of_command);
}
