//! Secrets that deliveries of webhooks are signed with, and the keys that these are encrypted with in the store.

use crate::sealing::{NONCE_LEN, SealingKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lendpay_domain::EndpointId;
use lendpay_domain::webhook::Sealed;
use std::fmt;

/// How many bytes a secret has. The Standard Webhooks specification asks for 24 to 64.
const SECRET: usize = 32;

/// A secret. Exists only from its creation to the answer that shows it.
pub struct WebhookSecret([u8; SECRET]);

impl WebhookSecret {
    /// What every secret begins with, as the Standard Webhooks specification says.
    pub const PREFIX: &'static str = "whsec_";

    /// Makes a secret of 256 random bits.
    pub const fn from_random(bits: [u8; SECRET]) -> Self {
        Self(bits)
    }

    /// The secret, to be shown once.
    pub fn reveal(&self) -> String {
        format!("{}{}", Self::PREFIX, STANDARD.encode(self.0))
    }
}

/// The keys that secrets are encrypted with: AES-256-GCM. The first seals, all of them open.
pub struct SecretKeys(Vec<SealingKey>);

/// Why a list of keys cannot be used. Never quotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSecretKeys {
    /// There is no key.
    None,
    /// A line, counted from 1, is no key.
    Line(usize),
}

impl fmt::Display for BadSecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("there is no key"),
            Self::Line(line) => write!(f, "line {line} is no key of 64 hexadecimal digits"),
        }
    }
}

impl std::error::Error for BadSecretKeys {}

impl SecretKeys {
    /// Reads keys, one of 64 hexadecimal digits a line. Empty lines, and those that begin with `#`, are passed over.
    ///
    /// # Errors
    /// If there is no key, or a line is none.
    pub fn parse(text: &str) -> Result<Self, BadSecretKeys> {
        let lines =
            (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !(line.is_empty() || line.starts_with('#')));
        let key = |(number, line): (usize, &str)| {
            crate::hex::read(line).map(SealingKey::new).ok_or(BadSecretKeys::Line(number))
        };
        let keys: Vec<_> = lines.map(key).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err(BadSecretKeys::None) } else { Ok(Self(keys)) }
    }

    /// Encrypts an endpoint's secret. `nonce` is random.
    pub fn seal(&self, endpoint: EndpointId, secret: &WebhookSecret, nonce: [u8; NONCE_LEN]) -> Sealed {
        Sealed::new(self.0[0].seal(&endpoint.to_bytes(), &secret.0, nonce)).expect("a secret is short")
    }

    /// The bytes of an endpoint's secret; `None` if it is not one that a key of these has encrypted for this endpoint.
    pub fn open(&self, endpoint: EndpointId, sealed: &Sealed) -> Option<Vec<u8>> {
        self.0.iter().find_map(|key| key.open(&endpoint.to_bytes(), sealed.bytes()))
    }
}

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKeys(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: EndpointId = EndpointId::from_bytes([1; 16]);
    const B: EndpointId = EndpointId::from_bytes([2; 16]);

    fn keys(digits: &[&str]) -> SecretKeys {
        SecretKeys::parse(&digits.iter().map(|digit| digit.repeat(64)).collect::<Vec<_>>().join("\n")).expect("keys")
    }

    #[test]
    fn a_secret_is_its_prefix_and_base64() {
        let secret = WebhookSecret::from_random([0xab; 32]).reveal();
        assert_eq!(secret, "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=");
    }

    #[test]
    fn what_the_first_key_has_sealed_every_list_with_that_key_opens() {
        let secret = WebhookSecret::from_random([7; 32]);
        let sealed = keys(&["a"]).seal(A, &secret, [9; 12]);
        for list in [&["a"][..], &["b", "a"], &["a", "b"]] {
            assert_eq!(keys(list).open(A, &sealed), Some(vec![7; 32]));
        }
        let newer = keys(&["b", "a"]).seal(A, &secret, [9; 12]);
        assert_eq!((keys(&["a"]).open(A, &newer), keys(&["b"]).open(A, &newer)), (None, Some(vec![7; 32])));
    }

    #[test]
    fn what_was_altered_or_belongs_to_another_endpoint_is_not_opened() {
        let keys = keys(&["a"]);
        let sealed = keys.seal(A, &WebhookSecret::from_random([7; 32]), [9; 12]);
        assert_eq!(keys.open(B, &sealed), None);
        for n in 0..sealed.bytes().len() {
            let mut bytes = sealed.bytes().to_vec();
            bytes[n] ^= 1;
            assert_eq!(keys.open(A, &Sealed::new(bytes).expect("short")), None, "byte {n}");
            assert_eq!(keys.open(A, &Sealed::new(sealed.bytes()[..n].to_vec()).expect("short")), None, "{n} bytes");
        }
    }

    #[test]
    fn a_list_has_a_key_a_line() {
        let good = format!("# of 2026\n\n  {}\n{}\n", "a".repeat(64), "B".repeat(64));
        assert_eq!(SecretKeys::parse(&good).map(|keys| keys.0.len()).ok(), Some(2));
        let short = format!("{}\n{}", "a".repeat(64), "b".repeat(63));
        for (text, problem) in
            [("", BadSecretKeys::None), ("# none\n", BadSecretKeys::None), (&short, BadSecretKeys::Line(2))]
        {
            assert_eq!(SecretKeys::parse(text).err(), Some(problem));
        }
        assert_eq!(format!("{:?}", keys(&["a"])), "SecretKeys(…)");
    }
}
