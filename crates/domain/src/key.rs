//! API keys (contract 2.2): 256 random bits, shown once, kept as a hash.

use crate::text::Name;
use crate::{KeyId, PartnerId, Timestamp};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A part of the service that a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// Everything under `/lending`.
    Lending,
    /// Everything under `/payments`.
    Payments,
}

impl Area {
    /// Every area.
    pub const ALL: [Self; 2] = [Self::Lending, Self::Payments];

    /// The name that operators write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lending => "lending",
            Self::Payments => "payments",
        }
    }

    /// The area whose callers see a type of event; `None` if only operators see it (contract 2.13, 2.14).
    pub fn of_event(name: &str) -> Option<Self> {
        match name {
            "offer.created" | "offer.accepted" | "offer.declined" | "offer.expired" | "offer.advanced"
            | "offer.archived" => Some(Self::Lending),
            "buyer.created" => Some(Self::Payments),
            _ => None,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Lending => 1,
            Self::Payments => 2,
        }
    }
}

/// A set of areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas(u8);

impl Areas {
    /// Whether `area` is in the set.
    pub const fn contains(self, area: Area) -> bool {
        self.0 & area.bit() != 0
    }

    /// The areas of the set, in the order of [`Area::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Area> {
        Area::ALL.into_iter().filter(move |area| self.contains(*area))
    }
}

impl FromIterator<Area> for Areas {
    fn from_iter<I: IntoIterator<Item = Area>>(areas: I) -> Self {
        Self(areas.into_iter().fold(0, |bits, area| bits | area.bit()))
    }
}

/// What a key may do in its areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    #[default]
    Full,
    /// Read, and change nothing.
    Read,
}

impl Access {
    /// Every kind of access.
    pub const ALL: [Self; 2] = [Self::Full, Self::Read];

    /// The name that operators write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Read => "read",
        }
    }
}

/// A key's secret. Exists only from its creation to the answer that shows it.
pub struct ApiKey(String);

impl ApiKey {
    /// What every key begins with, so that people and secret scanners recognise one.
    pub const PREFIX: &'static str = "lendpay_";

    /// What the keys of a sandbox begin with, which anybody may know (contract 2.16). Services that are no sandbox
    /// refuse them, also if their hashes got into a store by an import.
    pub const SANDBOX_PREFIX: &'static str = "lendpay_sandbox_";

    /// Makes a key of 256 random bits: the prefix and 64 hex digits.
    pub fn from_random(bits: [u8; 32]) -> Self {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(Self::PREFIX.len() + 64);
        text.push_str(Self::PREFIX);
        for byte in bits {
            write!(text, "{byte:02x}").expect("a string takes everything");
        }
        Self(text)
    }

    /// The secret, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash, which is what is stored.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(&self.0)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// SHA-256 of a key. The key has 256 random bits, so a salt or a slow hash would add nothing; looking up by the hash
/// takes the same time whatever was presented.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of what a caller presented.
    pub fn of(presented: &str) -> Self {
        Self(Sha256::digest(presented.as_bytes()).into())
    }

    /// Wraps a stored hash.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// A stored key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key's public id.
    pub id: KeyId,
    /// The partner that it acts for.
    pub partner: PartnerId,
    /// The hash that it is found by.
    pub hash: KeyHash,
    /// What the operator calls it.
    pub name: Name,
    /// What it may be used for.
    pub areas: Areas,
    /// What it may do there.
    pub access: Access,
    /// When it was created.
    pub created_at: Timestamp,
    /// From this moment on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl KeyRecord {
    /// Whether the key may still be used.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// The beginning of the hour of a moment. Uses of a key are noted to the hour, so that they cost at most one change an
/// hour.
pub fn hour_of(at: Timestamp) -> Timestamp {
    let hours = at.timestamp().div_euclid(3_600);
    Timestamp::from_timestamp(hours * 3_600, 0).expect("not greater than a moment that is in range")
}

/// A key with its last use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInUse {
    /// The key.
    pub key: KeyRecord,
    /// When it was last used, to the hour.
    pub last_used_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_prefix_and_64_hex_digits_and_debug_hides_it() {
        let key = ApiKey::from_random([0xab; 32]);
        assert_eq!(key.reveal(), format!("lendpay_{}", "ab".repeat(32)));
        assert!(!format!("{key:?} {:?}", key.hash()).contains("ab"));
        assert_eq!(key.hash(), KeyHash::of(key.reveal()));
    }

    #[test]
    fn areas_are_a_set() {
        for areas in [&[][..], &[Area::Lending], &[Area::Payments], &Area::ALL] {
            let set: Areas = areas.iter().copied().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), areas);
        }
    }

    #[test]
    fn a_key_ends_at_its_expiry_and_at_its_revocation() {
        let at = |s| Timestamp::from_timestamp(s, 0).expect("in range");
        let key = |expires_at, revoked_at| KeyRecord {
            id: KeyId::from_bytes([1; 16]),
            partner: PartnerId::from_bytes([2; 16]),
            hash: KeyHash::of("x"),
            name: Name::parse("x").expect("a name"),
            areas: Areas::default(),
            access: Access::Full,
            created_at: at(0),
            expires_at,
            revoked_at,
        };
        assert!(key(None, None).is_valid(at(100)));
        assert!(key(Some(at(101)), None).is_valid(at(100)));
        assert!(!key(Some(at(100)), None).is_valid(at(100)));
        assert!(!key(None, Some(at(99))).is_valid(at(100)));
    }
}
