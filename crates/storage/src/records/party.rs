//! Partners, their keys and their applications.

use super::codes::{areas_code, areas_of};
use super::{Time, times};
use crate::codec::CodecError;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::partner::Partner;
use lendpay_domain::text::Name;
use lendpay_domain::{KeyId, PartnerId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartnerRecord<'a> {
    name: &'a str,
    pub oauth_client_id: Option<&'a str>,
    created_at: Time,
}

impl<'a> From<&'a Partner> for PartnerRecord<'a> {
    fn from(partner: &'a Partner) -> Self {
        // Destructured, so that a new field cannot be forgotten here. The id is the value's key.
        let Partner { id: _, name, oauth_client_id, created_at } = partner;
        Self { name: name.as_str(), oauth_client_id: oauth_client_id.as_deref(), created_at: (*created_at).into() }
    }
}

impl PartnerRecord<'_> {
    pub(crate) fn partner(&self, id: PartnerId) -> Result<Partner, CodecError> {
        Ok(Partner {
            id,
            name: name(self.name)?,
            oauth_client_id: self.oauth_client_id.map(str::to_owned),
            created_at: self.created_at.try_into()?,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyRow<'a> {
    pub id: [u8; 16],
    pub partner: [u8; 16],
    name: &'a str,
    areas: u8,
    created_at: Time,
    expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
}

impl<'a> From<&'a KeyRecord> for KeyRow<'a> {
    fn from(key: &'a KeyRecord) -> Self {
        // Destructured, so that a new field cannot be forgotten here. The hash is the value's key.
        let KeyRecord { id, partner, hash: _, name, areas, created_at, expires_at, revoked_at } = key;
        Self {
            id: id.to_bytes(),
            partner: partner.to_bytes(),
            name: name.as_str(),
            areas: areas_code(*areas),
            created_at: (*created_at).into(),
            expires_at: expires_at.map(Time::from),
            revoked_at: revoked_at.map(Time::from),
        }
    }
}

impl KeyRow<'_> {
    pub(crate) fn key(&self, hash: KeyHash) -> Result<KeyRecord, CodecError> {
        Ok(KeyRecord {
            id: KeyId::from_bytes(self.id),
            partner: PartnerId::from_bytes(self.partner),
            hash,
            name: name(self.name)?,
            areas: areas_of(self.areas)?,
            created_at: self.created_at.try_into()?,
            expires_at: times(self.expires_at)?,
            revoked_at: times(self.revoked_at)?,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ApplicationRecord {
    pub partner: [u8; 16],
}

fn name(text: &str) -> Result<Name, CodecError> {
    Name::parse(text).map_err(|_| CodecError::Damaged)
}
