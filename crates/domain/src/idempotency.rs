//! Retrying a creation without creating twice (contract 2.5).
//!
//! The buyer's id is derived from the partner and the key. So the buyer itself says that the key was used: no other
//! record is kept, and the key is known for as long as the buyer exists.

use crate::{BuyerId, PartnerId};
use sha2::{Digest as _, Sha256};

/// A key that a partner chose for one creation: 1–255 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The most characters of one.
    pub const MAX: usize = 255;

    /// Checks length and characters (`!` to `~`).
    pub fn parse(text: &str) -> Option<Self> {
        let visible = text.bytes().all(|b| b.is_ascii_graphic());
        ((1..=Self::MAX).contains(&text.len()) && visible).then(|| Self(text.to_owned()))
    }

    /// The id of the buyer that `partner` creates with this key: a UUID of version 8 over SHA-256.
    pub fn buyer_id(&self, partner: PartnerId) -> BuyerId {
        let mut hash = Sha256::new();
        hash.update(b"lendpay buyer 1");
        hash.update(partner.to_bytes());
        hash.update(self.0.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        BuyerId::new(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// The digest of a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Wraps a digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_1_to_255_visible_ascii_characters() {
        for text in ["a", "!~", "0b7d-11", &"k".repeat(255)] {
            assert!(IdempotencyKey::parse(text).is_some(), "{text}");
        }
        for text in ["", " ", "a b", "a\t", "é", "\u{7f}", &"k".repeat(256)] {
            assert_eq!(IdempotencyKey::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_key_names_one_buyer_of_one_partner() {
        let key = |text| IdempotencyKey::parse(text).expect("visible");
        let (a, b) = (PartnerId::from_bytes([1; 16]), PartnerId::from_bytes([2; 16]));
        assert_eq!(key("x").buyer_id(a), key("x").buyer_id(a));
        assert_ne!(key("x").buyer_id(a), key("y").buyer_id(a));
        assert_ne!(key("x").buyer_id(a), key("x").buyer_id(b));
        assert_eq!(key("x").buyer_id(a).uuid().get_version_num(), 8);
        // Stored ids must stay what they are: a change of the rule would forget every key.
        assert_eq!(key("x").buyer_id(a).to_string(), "3c208e59-b5f0-8d19-a5b0-d4322c52712c");
    }
}
