//! An authorization server, as far as the service sees one.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use lendpay_api::{KeySource, OAuth, Tokens};
use lendpay_domain::Timestamp;
use serde_json::json;
use std::sync::Arc;

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://api.example";

pub struct Issuer(EncodingKey);

struct Published(String);

impl KeySource for Published {
    fn fetch(&self) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        std::future::ready(Ok(self.0.clone().into_bytes())).boxed()
    }
}

impl Issuer {
    pub fn new() -> Self {
        let random = aws_lc_rs::rand::SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        Self(EncodingKey::from_ec_der(der.as_ref()))
    }

    /// The service's side of it, which fetches keys for as long as the test runs.
    pub fn oauth(&self) -> OAuth {
        let mut jwk = Jwk::from_encoding_key(&self.0, Algorithm::ES256).expect("a public key");
        jwk.common.key_id = Some("one".to_owned());
        let source = Published(json!({ "keys": [jwk] }).to_string());
        let tokens = Arc::new(Tokens::new(ISSUER.to_owned(), AUDIENCE.to_owned(), source));
        let kept = Arc::clone(&tokens);
        tokio::spawn(async move { match kept.keep_keys().await {} });
        OAuth { tokens, token_url: format!("{ISSUER}/token") }
    }

    /// A token that a client gets at a moment.
    pub fn token(&self, client: &str, scope: &str, at: Timestamp) -> String {
        let claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "exp": at.timestamp() + 300, "client_id": client, "scope": scope,
        });
        let mut header = Header::new(Algorithm::ES256);
        (header.kid, header.typ) = (Some("one".to_owned()), Some("at+jwt".to_owned()));
        jsonwebtoken::encode(&header, &claims, &self.0).expect("a token")
    }
}
