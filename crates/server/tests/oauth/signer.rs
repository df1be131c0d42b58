//! Keys of our own, and tokens that are signed with them.

use crate::party::AUDIENCE;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

/// A key of an issuer.
pub struct Signer {
    pub id: String,
    pub algorithm: Algorithm,
    key: EncodingKey,
}

impl Signer {
    pub fn es256(id: &str) -> Self {
        let random = aws_lc_rs::rand::SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        Self { id: id.to_owned(), algorithm: Algorithm::ES256, key: EncodingKey::from_ec_der(der.as_ref()) }
    }

    pub fn eddsa(id: &str) -> Self {
        let random = aws_lc_rs::rand::SystemRandom::new();
        let der = Ed25519KeyPair::generate_pkcs8v1(&random).expect("a key");
        Self { id: id.to_owned(), algorithm: Algorithm::EdDSA, key: EncodingKey::from_ed_der(der.as_ref()) }
    }

    /// The public key as a JWK.
    pub fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public key");
        jwk.common.key_id = Some(self.id.clone());
        serde_json::to_value(jwk).expect("JSON")
    }

    pub fn header(&self) -> Header {
        let mut header = Header::new(self.algorithm);
        (header.kid, header.typ) = (Some(self.id.clone()), Some("at+jwt".to_owned()));
        header
    }

    pub fn token(&self, claims: &Value) -> String {
        self.token_with(&self.header(), claims)
    }

    pub fn token_with(&self, header: &Header, claims: &Value) -> String {
        jsonwebtoken::encode(header, claims, &self.key).expect("a token")
    }
}

/// Claims that are good, of a client that is a partner's.
pub fn claims(issuer: &str) -> Value {
    json!({
        "iss": issuer, "aud": AUDIENCE, "exp": in_seconds(300), "iat": in_seconds(0), "nbf": in_seconds(0),
        "sub": "northwind", "client_id": "northwind", "jti": uuid::Uuid::from_u128(1).to_string(),
        "scope": "lending.offers.accept payments.buyers.create",
    })
}

/// Claims that are good but for one.
pub fn claims_with(issuer: &str, name: &str, value: Value) -> Value {
    let mut claims = claims(issuer);
    claims[name] = value;
    claims
}

/// A moment from now.
pub fn in_seconds(seconds: i64) -> i64 {
    let now = UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    i64::try_from(now).expect("in range") + seconds
}
