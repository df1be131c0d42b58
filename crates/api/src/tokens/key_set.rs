//! An authorization server's keys (RFC 7517), and signatures by them.
//!
//! The algorithms are RS256, PS256, ES256 and EdDSA, and each key works with those of its own type only: a token that
//! is signed by HMAC with a public key, or not at all, meets no key.

use super::claims::Claims;
use super::refusal::Refusal;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation};
use serde::Deserialize;
use serde_json::Value;

/// The keys that tokens are verified with.
#[derive(Default)]
pub(super) struct KeySet {
    keys: Vec<Key>,
    /// Grows when the keys change.
    pub generation: u64,
}

struct Key {
    jwk: Jwk,
    key: DecodingKey,
    algorithms: &'static [Algorithm],
}

/// A JWK Set. Its keys are read one by one, so that one that is broken spoils no other.
#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl KeySet {
    /// Reads a JWK Set. Without a key in it nothing is accepted any more; one with keys of which none is usable is a
    /// mistake.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let document: Document =
            serde_json::from_slice(text).map_err(|_| "the key set is no JSON object with a list of keys".to_owned())?;
        let keys: Vec<_> = document.keys.iter().filter_map(Key::read).collect();
        if keys.is_empty() && !document.keys.is_empty() {
            return Err("the key set has no key for RS256, PS256, ES256 or EdDSA".to_owned());
        }
        let unusable = document.keys.len() - keys.len();
        if unusable > 0 {
            tracing::debug!(unusable, "the issuer's key set has keys that tokens cannot be verified with");
        }
        Ok(Self { keys, generation: 0 })
    }

    pub fn has_the_keys_of(&self, other: &Self) -> bool {
        self.keys.iter().map(|key| &key.jwk).eq(other.keys.iter().map(|key| &key.jwk))
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is a key that the token may be signed with. If not, the issuer may have a new one.
    pub fn knows(&self, header: &Header) -> bool {
        match &header.kid {
            Some(id) => self.keys.iter().any(|key| key.jwk.common.key_id.as_ref() == Some(id)),
            None => self.keys.iter().any(|key| key.algorithms.contains(&header.alg)),
        }
    }

    /// Checks the signature of a token, and reads its claims.
    pub fn verify(&self, token: &str, header: &Header) -> Result<Claims, Refusal> {
        let mut validation = Validation::new(header.alg);
        // Claims are checked by `claims`, with the time of the request.
        validation.required_spec_claims.clear();
        (validation.validate_exp, validation.validate_nbf, validation.validate_aud) = (false, false, false);
        let mut refusal = Refusal::UnknownKey;
        for key in &self.keys {
            // A token that names no key may be signed with any.
            let named = header.kid.is_none() || header.kid == key.jwk.common.key_id;
            if !named || !key.algorithms.contains(&header.alg) {
                continue;
            }
            match jsonwebtoken::decode::<Claims>(token, &key.key, &validation) {
                Ok(data) => return Ok(data.claims),
                Err(error) => {
                    refusal = match error.kind() {
                        ErrorKind::Json(_) | ErrorKind::Utf8(_) | ErrorKind::Base64(_) => Refusal::Malformed,
                        _ => Refusal::Signature,
                    };
                }
            }
        }
        Err(refusal)
    }
}

impl Key {
    fn read(value: &Value) -> Option<Self> {
        let jwk = Jwk::deserialize(value).ok()?;
        if jwk.common.public_key_use.as_ref().is_some_and(|use_| *use_ != PublicKeyUse::Signature)
            || jwk.common.key_operations.as_ref().is_some_and(|all| !all.contains(&KeyOperations::Verify))
        {
            return None;
        }
        let algorithms: &'static [Algorithm] = match (&jwk.algorithm, jwk.common.key_algorithm) {
            (AlgorithmParameters::RSA(_), None) => &[Algorithm::RS256, Algorithm::PS256],
            (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::RS256)) => &[Algorithm::RS256],
            (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::PS256)) => &[Algorithm::PS256],
            (AlgorithmParameters::EllipticCurve(key), None | Some(KeyAlgorithm::ES256))
                if key.curve == EllipticCurve::P256 =>
            {
                &[Algorithm::ES256]
            }
            (AlgorithmParameters::OctetKeyPair(key), None | Some(KeyAlgorithm::EdDSA))
                if key.curve == EllipticCurve::Ed25519 =>
            {
                &[Algorithm::EdDSA]
            }
            _ => return None,
        };
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some(Self { jwk, key, algorithms })
    }
}

/// Reads the header of a token, as far as it says whether the token can be one of ours.
pub(super) fn header(token: &str) -> Result<Header, Refusal> {
    let header = jsonwebtoken::decode_header(token).map_err(|error| match error.kind() {
        // The crate knows no other algorithms; `none` is among those that it does not.
        ErrorKind::Json(error) if error.is_data() => Refusal::Algorithm,
        _ => Refusal::Malformed,
    })?;
    if !matches!(header.alg, Algorithm::RS256 | Algorithm::PS256 | Algorithm::ES256 | Algorithm::EdDSA) {
        return Err(Refusal::Algorithm);
    }
    // RFC 9068 section 4, and RFC 7519 section 5.1 for the older form; the prefix and the case are free.
    let kind = header.typ.as_deref().unwrap_or_default().to_ascii_lowercase();
    if !matches!(kind.strip_prefix("application/").unwrap_or(&kind), "at+jwt" | "jwt") {
        return Err(Refusal::Type);
    }
    // RFC 7515 section 4.1.11: what must be understood and is not makes the token invalid.
    if header.crit.is_some() {
        return Err(Refusal::Critical);
    }
    Ok(header)
}
