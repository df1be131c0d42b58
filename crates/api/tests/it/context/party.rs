//! A partner with what it owns.

use lendpay_api::{key_bits, uuid};
use lendpay_domain::key::{ApiKey, Area, Areas, KeyRecord};
use lendpay_domain::store::{AddKey, AddKeyOutcome, PutApplication, PutApplicationOutcome, PutPartner, RevokeKey};
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, KeyId, PartnerId, Store, Timestamp};

pub struct Party {
    pub id: PartnerId,
    pub application: ApplicationId,
    /// A key for every area.
    pub key: String,
    /// The id of that key.
    pub key_id: KeyId,
}

/// A key, as it is shown once.
pub struct Shown {
    pub id: KeyId,
    pub secret: String,
}

impl Party {
    /// A new partner with a key for everything and an application.
    pub async fn settle(store: &impl Store, name: &str, at: Timestamp) -> Self {
        let id = PartnerId::new(uuid());
        let name = Name::parse(name).expect("a name");
        store.put_partner(PutPartner { id, name, oauth_client_id: None, at }).await.expect("the store works");
        let key = add_key(store, id, Area::ALL.into_iter().collect(), None, at).await;
        let application = new_application(store, id).await;
        Self { id, application, key: key.secret, key_id: key.id }
    }

    /// Another key.
    pub async fn new_key(&self, store: &impl Store, areas: Areas, expires: Option<Timestamp>, at: Timestamp) -> Shown {
        add_key(store, self.id, areas, expires, at).await
    }

    /// Another application.
    pub async fn new_application(&self, store: &impl Store) -> ApplicationId {
        new_application(store, self.id).await
    }

    /// Takes a key away.
    pub async fn revoke(&self, store: &impl Store, key: KeyId, at: Timestamp) {
        store.revoke_key(RevokeKey { partner: self.id, key, at }).await.expect("the store works");
    }
}

async fn add_key(
    store: &impl Store,
    partner: PartnerId,
    areas: Areas,
    expires_at: Option<Timestamp>,
    created_at: Timestamp,
) -> Shown {
    let (secret, id) = (ApiKey::from_random(key_bits()), KeyId::new(uuid()));
    let name = Name::parse("a key").expect("a name");
    let key = KeyRecord { id, partner, hash: secret.hash(), name, areas, created_at, expires_at, revoked_at: None };
    assert_eq!(store.add_key(AddKey { key }).await, Ok(AddKeyOutcome::Added));
    Shown { id, secret: secret.reveal().to_owned() }
}

async fn new_application(store: &impl Store, partner: PartnerId) -> ApplicationId {
    let id = ApplicationId::new(uuid());
    assert_eq!(store.put_application(PutApplication { id, partner }).await, Ok(PutApplicationOutcome::Created));
    id
}
