//! Partners, keys, applications.

use super::samples::*;
use lendpay_domain::key::{Area, KeyHash};
use lendpay_domain::partner::Partner;
use lendpay_domain::store::{
    AddKey, AddKeyOutcome, PutApplication, PutApplicationOutcome, PutPartner, PutPartnerOutcome, RevokeKey,
    RevokeKeyOutcome,
};
use lendpay_domain::{KeyId, Store};
use std::sync::Arc;

pub async fn partners_are_created_renamed_and_keep_their_client_ids_apart<S: Store>(store: &Arc<S>) {
    let put = |n, text: &str, client: Option<&str>, seconds| PutPartner {
        id: partner(n),
        name: name(text),
        oauth_client_id: client.map(str::to_owned),
        at: at(seconds),
    };
    let is = |n, text: &str, client: Option<&str>, seconds| Partner {
        id: partner(n),
        name: name(text),
        oauth_client_id: client.map(str::to_owned),
        created_at: at(seconds),
    };
    let answer = store.put_partner(put(1, "a", Some("client"), 0)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Created(is(1, "a", Some("client"), 0))));
    let answer = store.put_partner(put(1, "ä", Some("client"), 5)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Updated(is(1, "ä", Some("client"), 0))));
    assert_eq!(store.put_partner(put(2, "b", Some("client"), 6)).await, Ok(PutPartnerOutcome::ClientTaken));
    let answer = store.put_partner(put(2, "b", None, 7)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Created(is(2, "b", None, 7))));
    assert_eq!(store.put_partner(put(2, "b", Some("client"), 8)).await, Ok(PutPartnerOutcome::ClientTaken));
    let answer = store.put_partner(put(1, "ä", None, 9)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Updated(is(1, "ä", None, 0))));
    let answer = store.put_partner(put(2, "b", Some("client"), 10)).await;
    assert_eq!(answer, Ok(PutPartnerOutcome::Updated(is(2, "b", Some("client"), 7))), "the client id is free again");
}

pub async fn a_client_is_the_partner_that_has_its_id_now<S: Store>(store: &Arc<S>) {
    let put = |n, client: Option<&str>| {
        let oauth_client_id = client.map(str::to_owned);
        store.put_partner(PutPartner { id: partner(n), name: name("a partner"), oauth_client_id, at: at(0) })
    };
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
    assert_eq!(store.add_key(AddKey { key: key(1, 1) }).await, Ok(AddKeyOutcome::NoPartner));
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(None));
    with_partner(&**store, 1).await;
    let mut other = key(1, 2);
    other.areas = Area::ALL.into_iter().collect();
    other.expires_at = None;
    for record in [key(1, 1), other] {
        assert_eq!(store.add_key(AddKey { key: record.clone() }).await, Ok(AddKeyOutcome::Added));
        assert_eq!(store.find_key(record.hash).await, Ok(Some(record)));
    }
    assert_eq!(store.find_key(KeyHash::of("")).await, Ok(None));
}

pub async fn revoked_keys_stay_revoked<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    with_partner(&**store, 2).await;
    store.add_key(AddKey { key: key(1, 1) }).await.expect("works");
    let revoke = |p, n, seconds| {
        let command = RevokeKey { partner: partner(p), key: KeyId::from_bytes(bytes(n)), at: at(seconds) };
        store.revoke_key(command)
    };
    assert_eq!(revoke(2, 1, 2).await, Ok(RevokeKeyOutcome::NotFound), "another partner's");
    assert_eq!(revoke(1, 2, 2).await, Ok(RevokeKeyOutcome::NotFound));
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    assert_eq!(revoke(1, 1, 3).await, Ok(RevokeKeyOutcome::Revoked));
    let mut revoked = key(1, 1);
    revoked.revoked_at = Some(at(3));
    assert_eq!(store.find_key(revoked.hash).await, Ok(Some(revoked.clone())));
    assert_eq!(revoke(1, 1, 4).await, Ok(RevokeKeyOutcome::Revoked));
    store.add_key(AddKey { key: key(1, 1) }).await.expect("works");
    assert_eq!(store.find_key(revoked.hash).await, Ok(Some(revoked)), "revoked when it was, and for good");
}

pub async fn applications_have_one_owner<S: Store>(store: &Arc<S>) {
    let put = |n, p| store.put_application(PutApplication { id: application(n), partner: partner(p) });
    assert_eq!(put(7, 1).await, Ok(PutApplicationOutcome::NoPartner));
    with_partner(&**store, 1).await;
    with_partner(&**store, 2).await;
    assert_eq!(put(7, 1).await, Ok(PutApplicationOutcome::Created));
    assert_eq!(put(7, 1).await, Ok(PutApplicationOutcome::Unchanged));
    assert_eq!(put(7, 2).await, Ok(PutApplicationOutcome::OwnedByAnother));
}
