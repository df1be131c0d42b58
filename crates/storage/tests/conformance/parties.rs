//! Partners, keys, applications.

use super::exports::everything;
use super::samples::*;
use lendpay_domain::change::Change;
use lendpay_domain::command::{
    AddKeyOutcome, ExpireKeyOutcome, PutApplicationOutcome, PutPartnerOutcome, RevokeKeyOutcome,
};
use lendpay_domain::key::{Access, Area, Areas, KeyHash, KeyRecord};
use lendpay_domain::partner::Partner;
use lendpay_domain::{Store, StoreError};
use std::sync::Arc;

pub async fn partners_are_created_renamed_and_keep_their_client_ids_apart<S: Store>(store: &Arc<S>) {
    let is = |n, text: &str, client: Option<&str>, seconds| Partner {
        id: partner(n),
        name: name(text),
        oauth_client_id: client.map(str::to_owned),
        created_at: at(seconds),
    };
    let answer = store.run(put_partner(1, "a", Some("client"), 0)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Created(is(1, "a", Some("client"), 0))));
    let answer = store.run(put_partner(1, "ä", Some("client"), 5)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Updated(is(1, "ä", Some("client"), 0))));
    assert_eq!(store.run(put_partner(2, "b", Some("client"), 6)).await, Ok(PutPartnerOutcome::ClientTaken));
    let answer = store.run(put_partner(2, "b", None, 7)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Created(is(2, "b", None, 7))));
    assert_eq!(store.run(put_partner(2, "b", Some("client"), 8)).await, Ok(PutPartnerOutcome::ClientTaken));
    let answer = store.run(put_partner(1, "ä", None, 9)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Updated(is(1, "ä", None, 0))));
    let answer = store.run(put_partner(2, "b", Some("client"), 10)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Updated(is(2, "b", Some("client"), 7))), "the client id is free again");
}

pub async fn a_client_is_the_partner_that_has_its_id_now<S: Store>(store: &Arc<S>) {
    let put = |n, client: Option<&str>| store.run(put_partner(n, "a partner", client, 0));
    assert_eq!(store.find_client("client").await, Ok(None));
    put(1, Some("client")).await.expect("works");
    put(2, None).await.expect("works");
    assert_eq!(store.find_client("client").await, Ok(Some(partner(1))));
    for other in ["", "clien", "client ", "Client"] {
        assert_eq!(store.find_client(other).await, Ok(None), "{other:?}");
    }
    assert_eq!(put(2, Some("client")).await, Ok(PutPartnerOutcome::ClientTaken));
    assert_eq!(store.find_client("client").await, Ok(Some(partner(1))));
    put(1, Some("другой клиент")).await.expect("works");
    assert_eq!(store.find_client("client").await, Ok(None));
    assert_eq!(store.find_client("другой клиент").await, Ok(Some(partner(1))));
    // Both may be decided in one group: the id goes from one partner to another.
    let (freed, taken) = tokio::join!(put(1, None), put(2, Some("другой клиент")));
    freed.expect("works");
    if taken == Ok(PutPartnerOutcome::ClientTaken) {
        put(2, Some("другой клиент")).await.expect("works");
    }
    assert_eq!(store.find_client("другой клиент").await, Ok(Some(partner(2))));
}

pub async fn keys_come_back_as_they_were_added<S: Store>(store: &Arc<S>) {
    assert_eq!(store.run(add_key(key(1, 1))).await, Ok(AddKeyOutcome::NoPartner));
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(None));
    with_partner(&**store, 1).await;
    let mut other = key(1, 2);
    other.areas = Area::ALL.into_iter().collect();
    other.expires_at = None;
    let mut narrowed = key(1, 3);
    narrowed.access = Access::Read;
    let nothing = KeyRecord { areas: Areas::default(), ..narrowed.clone() };
    let nothing = KeyRecord { id: key(1, 4).id, hash: key(1, 4).hash, ..nothing };
    for record in [key(1, 1), other, narrowed, nothing] {
        assert_eq!(store.run(add_key(record.clone())).await, Ok(AddKeyOutcome::Added));
        assert_eq!(store.find_key(record.hash).await, Ok(Some(record)));
    }
    assert_eq!(store.find_key(KeyHash::of("")).await, Ok(None));
}

pub async fn revoked_keys_stay_revoked<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_partner(&**store, 2).await;
    store.run(add_key(key(1, 1))).await.expect("works");
    let revoke = |p, n, seconds| store.run(revoke(p, n, seconds));
    assert_eq!(revoke(2, 1, 2).await, Ok(RevokeKeyOutcome::NotFound), "another partner's");
    assert_eq!(revoke(1, 2, 2).await, Ok(RevokeKeyOutcome::NotFound));
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    assert_eq!(revoke(1, 1, 3).await, Ok(RevokeKeyOutcome::Revoked));
    let mut revoked = key(1, 1);
    revoked.revoked_at = Some(at(3));
    assert_eq!(store.find_key(revoked.hash).await, Ok(Some(revoked.clone())));
    assert_eq!(revoke(1, 1, 4).await, Ok(RevokeKeyOutcome::Revoked));
    store.run(add_key(key(1, 1))).await.expect("works");
    assert_eq!(store.find_key(revoked.hash).await, Ok(Some(revoked)), "revoked when it was, and for good");
}

pub async fn a_keys_expiry_comes_forward<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    store.run(add_key(key(1, 1))).await.expect("works");
    let expire = |n, end| store.run(expire(1, n, end, 2));
    assert_eq!(expire(2, 5).await, Ok(ExpireKeyOutcome::NotFound));
    assert_eq!(expire(1, 20).await, Ok(ExpireKeyOutcome::EndsEarlier));
    // It is in the cache of those that have one.
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    assert_eq!(expire(1, 5).await, Ok(ExpireKeyOutcome::Expires));
    let wanted = KeyRecord { expires_at: Some(at(5)), ..key(1, 1) };
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(wanted.clone())), "at once");
    assert_eq!(expire(1, 5).await, Ok(ExpireKeyOutcome::Expires));
    assert_eq!(expire(1, 10).await, Ok(ExpireKeyOutcome::EndsEarlier));
    store.run(add_key(key(1, 1))).await.expect("works");
    let changes: Vec<_> = everything(&**store).await.into_iter().map(|record| record.change).collect();
    let set = Change::KeyExpirySet { partner: partner(1), key: key_id(1), at: at(5) };
    assert_eq!(changes.iter().filter(|change| **change == set).count(), 1);
    store.run(revoke(1, 1, 3)).await.expect("works");
    assert_eq!(expire(1, 4).await, Ok(ExpireKeyOutcome::EndsEarlier));
    let wanted = KeyRecord { revoked_at: Some(at(3)), ..wanted };
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(wanted)));
}

/// Keys are made with random ids and secrets: a second one is a fault of whoever makes them, and changes nothing.
pub async fn a_second_key_with_an_id_or_a_hash_is_refused<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_partner(&**store, 2).await;
    store.run(add_key(key(1, 1))).await.expect("works");
    store.run(add_key(key(1, 3))).await.expect("works");
    let with_hash = |p, n, hash: KeyHash| KeyRecord { hash, ..key(p, n) };
    for taken in [
        with_hash(1, 1, key(1, 2).hash),
        with_hash(1, 1, key(1, 3).hash),
        with_hash(1, 2, key(1, 1).hash),
        with_hash(2, 2, key(1, 1).hash),
        with_hash(2, 1, key(1, 1).hash),
    ] {
        assert_eq!(store.run(add_key(taken)).await, Err(StoreError::Unavailable));
    }
    // The store works on, and has what it had.
    store.check().await.expect("works");
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    assert_eq!(store.find_key(key(1, 2).hash).await, Ok(None));
    // Ids of keys are the partner's own.
    let other = with_hash(2, 1, key(1, 2).hash);
    assert_eq!(store.run(add_key(other.clone())).await, Ok(AddKeyOutcome::Added));
    assert_eq!(store.find_key(other.hash).await, Ok(Some(other)));
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    let keys = everything(&**store).await.into_iter().filter(|record| matches!(record.change, Change::KeyAdded(_)));
    assert_eq!(keys.count(), 3);
}

pub async fn applications_have_one_owner<S: Store>(store: &Arc<S>) {
    let put = |n, p| store.run(put_application(n, p));
    assert_eq!(put(7, 1).await, Ok(PutApplicationOutcome::NoPartner));
    with_partner(&**store, 1).await;
    with_partner(&**store, 2).await;
    assert_eq!(put(7, 1).await, Ok(PutApplicationOutcome::Created));
    assert_eq!(put(7, 1).await, Ok(PutApplicationOutcome::Unchanged));
    assert_eq!(put(7, 2).await, Ok(PutApplicationOutcome::OwnedByAnother));
}

pub async fn a_key_is_found_by_its_id<S: Store>(store: &Arc<S>) {
    for (p, n) in [(1, 1), (2, 2), (2, 3)] {
        if n < 3 {
            with_partner(&**store, p).await;
        }
        store.run(add_key(key(p, n))).await.expect("works");
    }
    for (p, n) in [(1, 1), (2, 2), (2, 3)] {
        let found = store.key_with_id(key_id(n)).await.expect("works").map(|found| found.key);
        assert_eq!(found, Some(key(p, n)));
    }
    assert_eq!(store.key_with_id(key_id(9)).await, Ok(None));
}
