//! Partners, keys and applications on the wire (contract 2.9).

use super::fields::{self, Fields, Value};
use super::page::page_of;
use super::time::Time;
use super::wire_type;
use lendpay_domain::key::{self, Areas, KeyInUse, KeyRecord};
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, PartnerId, Timestamp, partner, query};
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A body that the operator sends.
pub(crate) trait FromFields: Sized {
    /// What is read.
    type Value;
    /// Whether it must be there; one that need not be is read as an object without members.
    const REQUIRED: bool = true;
    /// Reads what was sent at the moment `now`; `None` if something is wrong.
    fn read(fields: &mut Fields, now: Timestamp) -> Option<Self::Value>;
}

/// A partner, to be created or renamed.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "PutPartnerRequest")]
pub struct NewPartner {
    /// What you call it: a text of 1 to 256 characters.
    pub name: String,
    /// The client id that the authorization server knows it by: a text of 1 to 256 characters. Absent or null: none.
    #[oai(nullable)]
    pub oauth_client_id: Option<String>,
}

impl FromFields for NewPartner {
    type Value = (Name, Option<String>);

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<Self::Value> {
        let name = fields.required("name", |value| fields::parsed(value, Name::from_input));
        let client = fields.optional("oauthClientId", |value| fields::parsed(value, Name::from_input));
        Some((name?, client.map(|client| client.as_str().to_owned())))
    }
}

/// A partner.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Partner {
    /// The identifier of the partner.
    pub id: Uuid,
    /// What you call it.
    pub name: String,
    /// The client id that the authorization server knows it by; null when it has none.
    #[oai(nullable)]
    pub oauth_client_id: Option<String>,
    /// When it was created.
    pub created_at: Time,
}

impl From<partner::Partner> for Partner {
    fn from(partner: partner::Partner) -> Self {
        Self {
            id: partner.id.uuid(),
            name: partner.name.as_str().to_owned(),
            oauth_client_id: partner.oauth_client_id,
            created_at: Time(partner.created_at),
        }
    }
}

page_of! {
    Partner,
    /// A page of partners, in the order of their identifiers. With a filter a page may be short, or empty, and yet have a
    /// `next`.
    PartnerList
}

/// A part of the service that a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area(pub key::Area);

wire_type!(Area, "Area", named: MetaSchema {
    description: Some("A part of the service that a key may be used for."),
    enum_items: key::Area::ALL.iter().map(|area| area.name().into()).collect(),
    ..MetaSchema::new("string")
});

impl Serialize for Area {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Area {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = String::deserialize(deserializer)?;
        fields::one_of(Some(&value), &key::Area::ALL, key::Area::name).map(Self).map_err(serde::de::Error::custom)
    }
}

/// What a key may do in its areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(pub key::Access);

wire_type!(Access, "Access", named: MetaSchema {
    description: Some("What a key may do in its areas: `full` is everything, `read` is reading only."),
    enum_items: key::Access::ALL.iter().map(|access| access.name().into()).collect(),
    ..MetaSchema::new("string")
});

impl Serialize for Access {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        access(Some(&String::deserialize(deserializer)?)).map(Self).map_err(serde::de::Error::custom)
    }
}

fn access(value: Option<&str>) -> Result<key::Access, String> {
    fields::one_of(value, &key::Access::ALL, key::Access::name)
}

/// A key, to be made.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "CreateKeyRequest")]
pub struct NewKey {
    /// What you call it: a text of 1 to 256 characters.
    pub name: String,
    /// What it may be used for: at least one area.
    #[oai(validator(min_items = 1))]
    pub areas: Vec<Area>,
    pub access: Option<Access>,
    /// From this moment on, which must be in the future, it is refused. Absent or null: never.
    #[oai(nullable)]
    pub expires_at: Option<Time>,
}

impl FromFields for NewKey {
    type Value = (Name, Areas, key::Access, Option<Timestamp>);

    fn read(fields: &mut Fields, now: Timestamp) -> Option<Self::Value> {
        let name = fields.required("name", |value| fields::parsed(value, Name::from_input));
        let areas = fields.required("areas", areas);
        let access = fields.given("access", |value| access(value.as_str())).unwrap_or_default();
        let expires_at = fields.optional("expiresAt", |value| future(value, now));
        Some((name?, areas?, access, expires_at))
    }
}

/// When a key is to expire.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "PutKeyExpiryRequest")]
pub struct NewExpiry {
    /// From this moment on, which must be in the future, the key is refused.
    pub expires_at: Time,
}

impl FromFields for NewExpiry {
    type Value = Timestamp;

    fn read(fields: &mut Fields, now: Timestamp) -> Option<Timestamp> {
        fields.required("expiresAt", |value| future(value, now))
    }
}

fn future(value: Value, now: Timestamp) -> Result<Timestamp, &'static str> {
    fields::time(value).and_then(|at| if at > now { Ok(at) } else { Err("must be in the future") })
}

fn areas(value: Value) -> Result<Areas, String> {
    let list = match value {
        Value::List(list) if !list.is_empty() => list,
        _ => return Err("must be an array of at least one area".to_owned()),
    };
    list.iter().map(|area| fields::one_of(area.as_str(), &key::Area::ALL, key::Area::name)).collect()
}

/// A key that has just been made: the only answer that shows it.
#[derive(Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct MadeKey {
    /// The identifier of the key.
    pub key_id: Uuid,
    /// The key itself. It is shown once and kept nowhere.
    pub key: String,
    /// What you call it.
    pub name: String,
    /// What it may be used for.
    pub areas: Vec<Area>,
    pub access: Access,
    /// When it was made.
    pub created_at: Time,
    /// From this moment on it is refused; null when it does not expire.
    #[oai(nullable)]
    pub expires_at: Option<Time>,
}

impl MadeKey {
    /// The answer that shows a key.
    pub fn new(key: &key::ApiKey, record: &KeyRecord) -> Self {
        Self {
            key_id: record.id.uuid(),
            key: key.reveal().to_owned(),
            name: record.name.as_str().to_owned(),
            areas: record.areas.iter().map(Area).collect(),
            access: Access(record.access),
            created_at: Time(record.created_at),
            expires_at: record.expires_at.map(Time),
        }
    }
}

/// A key, without the key itself.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// The identifier of the key.
    pub key_id: Uuid,
    /// What you call it.
    pub name: String,
    /// What it may be used for.
    pub areas: Vec<Area>,
    pub access: Access,
    /// When it was made.
    pub created_at: Time,
    /// From this moment on it is refused; null when it does not expire.
    #[oai(nullable)]
    pub expires_at: Option<Time>,
    /// When it was revoked; null when it was not.
    #[oai(nullable)]
    pub revoked_at: Option<Time>,
    /// When it was last used, to the hour; null when it never was.
    #[oai(nullable)]
    pub last_used_at: Option<Time>,
}

/// A key with its partner, without the key itself.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct OwnedKey {
    /// The identifier of its partner.
    pub partner_id: Uuid,
    #[oai(flatten)]
    #[serde(flatten)]
    pub key: Key,
}

impl From<KeyInUse> for OwnedKey {
    fn from(key: KeyInUse) -> Self {
        Self { partner_id: key.key.partner.uuid(), key: key.into() }
    }
}

impl From<KeyInUse> for Key {
    fn from(KeyInUse { key, last_used_at }: KeyInUse) -> Self {
        Self {
            key_id: key.id.uuid(),
            name: key.name.as_str().to_owned(),
            areas: key.areas.iter().map(Area).collect(),
            access: Access(key.access),
            created_at: Time(key.created_at),
            expires_at: key.expires_at.map(Time),
            revoked_at: key.revoked_at.map(Time),
            // A use is noted by its minute, which may have begun before the key.
            last_used_at: last_used_at.map(|at| Time(at.max(key.created_at))),
        }
    }
}

page_of! {
    Key,
    /// A page of a partner's keys, in the order in which they were made.
    KeyList
}

/// An application, to be given to a partner.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "PutApplicationRequest")]
pub struct NewApplication {
    /// The identifier of its owner.
    pub partner_id: Uuid,
}

impl FromFields for NewApplication {
    type Value = PartnerId;

    fn read(fields: &mut Fields, _now: Timestamp) -> Option<Self::Value> {
        fields.required("partnerId", |value| fields::id(value, PartnerId::parse))
    }
}

/// An application.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Application {
    /// The identifier of the application.
    pub id: Uuid,
    /// The identifier of its owner.
    pub partner_id: Uuid,
}

impl Application {
    /// An application of a partner.
    pub const fn new(id: ApplicationId, partner: PartnerId) -> Self {
        Self { id: id.uuid(), partner_id: partner.uuid() }
    }
}

impl From<query::Application> for Application {
    fn from(application: query::Application) -> Self {
        Self::new(application.id, application.partner)
    }
}

page_of! {
    Application,
    /// A page of applications, in the order of their identifiers. With a filter a page may be short, or empty, and yet
    /// have a `next`.
    ApplicationList
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::key::{ApiKey, Area};
    use lendpay_domain::{KeyId, PartnerId};

    #[test]
    fn a_key_is_used_no_earlier_than_it_was_made() {
        let at = |seconds| Timestamp::from_timestamp(seconds, 0).expect("in range");
        let made = KeyRecord {
            id: KeyId::new(Uuid::from_u128(1)),
            partner: PartnerId::new(Uuid::from_u128(2)),
            hash: ApiKey::from_random([1; 32]).hash(),
            name: Name::parse("x").expect("a name"),
            areas: Area::ALL.into_iter().collect(),
            access: key::Access::Full,
            created_at: at(90),
            expires_at: None,
            revoked_at: None,
        };
        for (noted, shown) in [(60, 90), (120, 120)] {
            let key = Key::from(KeyInUse { key: made.clone(), last_used_at: Some(at(noted)) });
            assert_eq!(key.last_used_at.map(|time| time.0), Some(at(shown)));
        }
    }
}
