//! A partner with what it owns.

use lendpay_api::{event_id, key_bits, uuid};
use lendpay_domain::command::{
    AddKey, AddKeyOutcome, PutApplication, PutApplicationOutcome, PutPartner, RevokeKey, Stamp,
};
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Access, ApiKey, Area, Areas, KeyRecord};
use lendpay_domain::store::Commands;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, KeyId, OperationId, PartnerId, Timestamp};

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
    pub async fn settle(store: &impl Commands, name: &str, at: Timestamp) -> Self {
        let id = PartnerId::new(uuid());
        let name = Name::parse(name).expect("a name");
        store.run(PutPartner { id, name, oauth_client_id: None, stamp: by_operator(at) }).await.expect("the store works");
        let key = add_key(store, id, Area::ALL.into_iter().collect(), Access::Full, None, at).await;
        let application = new_application(store, id, at).await;
        Self { id, application, key: key.secret, key_id: key.id }
    }

    /// Another key.
    pub async fn new_key(&self, store: &impl Commands, areas: Areas, expires: Option<Timestamp>, at: Timestamp) -> Shown {
        add_key(store, self.id, areas, Access::Full, expires, at).await
    }

    /// Another key, which may only read.
    pub async fn narrowed_key(&self, store: &impl Commands, areas: Areas, at: Timestamp) -> Shown {
        add_key(store, self.id, areas, Access::Read, None, at).await
    }

    /// Gives the partner a client at the authorization server.
    pub async fn has_client(&self, store: &impl Commands, client: &str, at: Timestamp) {
        let (id, name) = (self.id, Name::parse("a partner").expect("a name"));
        let put = PutPartner { id, name, oauth_client_id: Some(client.to_owned()), stamp: by_operator(at) };
        store.run(put).await.expect("the store works");
    }

    /// Another application.
    pub async fn new_application(&self, store: &impl Commands, at: Timestamp) -> ApplicationId {
        new_application(store, self.id, at).await
    }

    /// Takes a key away.
    pub async fn revoke(&self, store: &impl Commands, key: KeyId, at: Timestamp) {
        store.run(RevokeKey { partner: self.id, key, stamp: by_operator(at) }).await.expect("the store works");
    }
}

async fn add_key(
    store: &impl Commands,
    partner: PartnerId,
    areas: Areas,
    access: Access,
    expires_at: Option<Timestamp>,
    created_at: Timestamp,
) -> Shown {
    let (secret, id) = (ApiKey::from_random(key_bits()), KeyId::new(uuid()));
    let name = Name::parse("a key").expect("a name");
    let key = KeyRecord { id, partner, hash: secret.hash(), name, areas, access, created_at, expires_at, revoked_at: None };
    assert_eq!(store.run(AddKey { key, stamp: by_operator(created_at) }).await, Ok(AddKeyOutcome::Added));
    Shown { id, secret: secret.reveal().to_owned() }
}

/// The operator's stamp.
pub fn by_operator(at: Timestamp) -> Stamp {
    let operation = OperationId::from_bytes(uuid().into_bytes());
    Stamp { at, event: event_id(), actor: Actor::Operator, operation }
}

async fn new_application(store: &impl Commands, partner: PartnerId, at: Timestamp) -> ApplicationId {
    let id = ApplicationId::new(uuid());
    let put = PutApplication { id, partner, stamp: by_operator(at) };
    assert_eq!(store.run(put).await, Ok(PutApplicationOutcome::Created));
    id
}
