//! Partners and their keys.

use super::codes::{rights_code, rights_of};
use super::{Time, times};
use crate::codec::CodecError;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::partner::Partner;
use lendpay_domain::text::Name;
use lendpay_domain::{KeyId, PartnerId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartnerRecord<'a> {
    id: [u8; 16],
    name: &'a str,
    oauth_client_id: Option<&'a str>,
    created_at: Time,
}

impl<'a> From<&'a Partner> for PartnerRecord<'a> {
    fn from(partner: &'a Partner) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Partner { id, name, oauth_client_id, created_at } = partner;
        Self {
            id: id.to_bytes(),
            name: name.as_str(),
            oauth_client_id: oauth_client_id.as_deref(),
            created_at: (*created_at).into(),
        }
    }
}

impl TryFrom<PartnerRecord<'_>> for Partner {
    type Error = CodecError;

    fn try_from(record: PartnerRecord<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            id: PartnerId::from_bytes(record.id),
            name: name(record.name)?,
            oauth_client_id: record.oauth_client_id.map(str::to_owned),
            created_at: record.created_at.try_into()?,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyRow<'a> {
    id: [u8; 16],
    partner: [u8; 16],
    hash: [u8; 32],
    name: &'a str,
    rights: u8,
    created_at: Time,
    expires_at: Option<Time>,
    revoked_at: Option<Time>,
}

impl<'a> From<&'a KeyRecord> for KeyRow<'a> {
    fn from(key: &'a KeyRecord) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let KeyRecord { id, partner, hash, name, areas, access, created_at, expires_at, revoked_at } = key;
        Self {
            id: id.to_bytes(),
            partner: partner.to_bytes(),
            hash: hash.to_bytes(),
            name: name.as_str(),
            rights: rights_code(*areas, *access),
            created_at: (*created_at).into(),
            expires_at: expires_at.map(Time::from),
            revoked_at: revoked_at.map(Time::from),
        }
    }
}

impl TryFrom<KeyRow<'_>> for KeyRecord {
    type Error = CodecError;

    fn try_from(row: KeyRow<'_>) -> Result<Self, CodecError> {
        let (areas, access) = rights_of(row.rights)?;
        Ok(Self {
            id: KeyId::from_bytes(row.id),
            partner: PartnerId::from_bytes(row.partner),
            hash: KeyHash::from_bytes(row.hash),
            name: name(row.name)?,
            areas,
            access,
            created_at: row.created_at.try_into()?,
            expires_at: times(row.expires_at)?,
            revoked_at: times(row.revoked_at)?,
        })
    }
}

fn name(text: &str) -> Result<Name, CodecError> {
    Name::parse(text).map_err(|_| CodecError::Damaged)
}
