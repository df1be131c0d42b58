//! Tokens that are not acceptable, and those that only look so: 401 and never 500, in each area's own shape.

use crate::fake_issuer::FakeIssuer;
use crate::party::Service;
use crate::signer::{Signer, claims, claims_with, in_seconds};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

struct Case {
    issuer: FakeIssuer,
    /// Its key is published.
    signer: Signer,
    service: Service,
}

impl Case {
    fn new() -> Self {
        let (signer, other) = (Signer::es256("good"), Signer::eddsa("other"));
        let mut broken = Signer::es256("broken").public();
        broken["x"] = json!("not base64!");
        let issuer = FakeIssuer::start(vec![json!("no key"), broken, signer.public(), other.public()]);
        let mut service = Service::with_issuer(&["northwind"], &issuer.url, &[]);
        service.wait_for_keys();
        Self { issuer, signer, service }
    }

    fn good(&self) -> String {
        self.signer.token(&claims(&self.issuer.url))
    }

    fn with(&self, name: &str, value: Value) -> String {
        self.signer.token(&claims_with(&self.issuer.url, name, value))
    }
}

/// A token with one of its three parts changed.
fn altered(token: &str, part: usize, change: impl Fn(&str) -> String) -> String {
    let mut parts: Vec<_> = token.split('.').map(str::to_owned).collect();
    parts[part] = change(&parts[part]);
    parts.join(".")
}

/// Text with another letter in the middle.
fn other_letter(text: &str) -> String {
    let middle = text.len() / 2;
    let letter = if text.as_bytes()[middle] == b'A' { 'B' } else { 'A' };
    format!("{}{letter}{}", &text[..middle], &text[middle + 1..])
}

#[test]
fn good_tokens_are_accepted_in_every_form() {
    let case = Case::new();
    let skewed = [("exp", json!(in_seconds(-30))), ("nbf", json!(in_seconds(30)))];
    let audiences = [("aud", json!(["https://other.example", crate::party::AUDIENCE]))];
    for (name, value) in skewed.into_iter().chain(audiences) {
        assert!(case.service.accepts(&case.with(name, value)), "{name}");
    }
    let mut azp = claims_with(&case.issuer.url, "azp", json!("northwind"));
    azp.as_object_mut().expect("an object").remove("client_id");
    assert!(case.service.accepts(&case.signer.token(&azp)));
    let mut jwt = case.signer.header();
    jwt.typ = Some("JWT".to_owned());
    assert!(case.service.accepts(&case.signer.token_with(&jwt, &claims(&case.issuer.url))));
    for scheme in ["bearer", "Bearer", "BEARER"] {
        let value = format!("{scheme} {}", case.good());
        assert!(case.service.accepts_headers(&[("authorization", &value)]), "{scheme}");
    }
}

#[test]
fn bad_claims() {
    let case = Case::new();
    for (name, value) in [
        ("exp", json!(in_seconds(-120))),
        ("exp", Value::Null),
        ("exp", json!("tomorrow")),
        ("nbf", json!(in_seconds(120))),
        ("iss", json!("https://issuer.example")),
        ("iss", json!(format!("{}/", case.issuer.url))),
        ("iss", Value::Null),
        ("aud", json!("https://other.example")),
        ("aud", json!(["https://other.example", "another"])),
        ("aud", json!([])),
        ("aud", Value::Null),
        ("client_id", json!("a stranger")),
        ("client_id", json!("")),
        ("client_id", Value::Null),
        ("client_id", json!(7)),
    ] {
        assert!(!case.service.accepts(&case.with(name, value.clone())), "{name} {value}");
    }
    let mut without = claims(&case.issuer.url);
    without.as_object_mut().expect("an object").remove("exp");
    assert!(!case.service.accepts(&case.signer.token(&without)), "no exp");
    for payload in [json!([]), json!("x"), json!(null)] {
        assert!(!case.service.accepts(&case.signer.token(&payload)), "{payload}");
    }
    assert!(case.service.accepts(&case.good()));
}

#[test]
fn bad_signatures_and_headers() {
    let case = Case::new();
    let (good, all) = (case.good(), claims(&case.issuer.url));
    assert!(!case.service.accepts(&altered(&good, 0, other_letter)), "header");
    assert!(!case.service.accepts(&altered(&good, 1, other_letter)), "payload");
    assert!(!case.service.accepts(&altered(&good, 2, other_letter)), "signature");
    assert!(!case.service.accepts(&altered(&good, 2, |_| String::new())), "no signature");
    assert!(!case.service.accepts(&altered(&good, 2, |part| part[..part.len() - 4].to_owned())), "a short signature");
    let mine = altered(&good, 1, |_| altered_payload(&all));
    assert!(!case.service.accepts(&mine), "another payload with the same signature");

    let stranger = Signer::es256("good");
    assert!(!case.service.accepts(&stranger.token(&all)), "the id of a key is no key");
    let unknown = Signer::es256("unknown");
    assert!(!case.service.accepts(&unknown.token(&all)));
    for (id, kind) in [(Some("broken"), Some("at+jwt")), (Some("good"), None), (Some("good"), Some("logout+jwt"))] {
        let mut header = case.signer.header();
        (header.kid, header.typ) = (id.map(str::to_owned), kind.map(str::to_owned));
        assert!(!case.service.accepts(&case.signer.token_with(&header, &all)), "{id:?} {kind:?}");
    }
    assert!(case.service.accepts(&good));
}

/// The payload of a token for another client.
fn altered_payload(claims: &Value) -> String {
    let mut claims = claims.clone();
    claims["client_id"] = json!("another");
    let key = EncodingKey::from_secret(b"any");
    let token = jsonwebtoken::encode(&Header::default(), &claims, &key).expect("a token");
    token.split('.').nth(1).expect("a payload").to_owned()
}

#[test]
fn algorithms_that_need_no_private_key() {
    let case = Case::new();
    let all = claims(&case.issuer.url);
    let public = case.signer.public();
    let hmac_key = |text: &[u8]| EncodingKey::from_secret(text);
    let secrets = [
        public.to_string().into_bytes(),
        public["x"].as_str().expect("text").as_bytes().to_vec(),
        format!("{}{}", public["x"], public["y"]).into_bytes(),
        Vec::new(),
    ];
    for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
        for secret in &secrets {
            let mut header = Header { alg: algorithm, ..case.signer.header() };
            let token = jsonwebtoken::encode(&header, &all, &hmac_key(secret)).expect("a token");
            assert!(!case.service.accepts(&token), "{algorithm:?}");
            header.kid = None;
            let token = jsonwebtoken::encode(&header, &all, &hmac_key(secret)).expect("a token");
            assert!(!case.service.accepts(&token), "{algorithm:?}");
        }
    }
    // {"alg":"none","typ":"at+jwt"}, and other ways to write it; jsonwebtoken cannot make these.
    let payload = case.good().split('.').nth(1).expect("a payload").to_owned();
    for header in [
        "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0",
        "eyJhbGciOiJOb25lIiwidHlwIjoiYXQrand0In0",
        "eyJhbGciOiIiLCJ0eXAiOiJhdCtqd3QifQ",
        "eyJ0eXAiOiJhdCtqd3QifQ",
    ] {
        for token in [format!("{header}.{payload}."), format!("{header}.{payload}"), format!("{header}.{payload}.AAAA")]
        {
            assert!(!case.service.accepts(&token), "{token}");
        }
    }
    // The key of one algorithm with another.
    let header = Header { alg: Algorithm::EdDSA, ..case.signer.header() };
    let token = Signer::eddsa("good").token_with(&header, &all);
    assert!(!case.service.accepts(&token));
}

#[test]
fn what_is_no_jwt_and_headers_that_are_no_bearer_token() {
    let case = Case::new();
    let good = case.good();
    let long = case.with("x", json!("x".repeat(15_000)));
    assert!(long.len() > 20_000, "{}", long.len());
    for text in [
        "x",
        ".",
        "..",
        "...",
        "a.b.c",
        "e30.e30.",
        "e30.e30.e30",
        "bnVsbA.bnVsbA.bnVsbA",
        "?",
        "=",
        "%",
        "Bearer",
        &"a".repeat(20 * 1024),
        &long,
        &format!("{good}.{good}"),
        &format!("{good} {good}"),
        &format!("{good},{good}"),
        &good[1..],
        &good[..good.len() / 2],
    ] {
        assert!(!case.service.accepts(text), "{text:.80}");
    }
    let bearer = format!("Bearer {good}");
    for value in [
        "Bearer",
        "Bearer ",
        "",
        "Basic bm9ydGh3aW5kOnNlY3JldA==",
        &good,
        &format!("Token {good}"),
        &format!("Bearer\t{good}"),
    ] {
        assert!(!case.service.accepts_headers(&[("authorization", value)]), "{value:.80}");
    }
    for other in [&*bearer, "Basic bm9ydGh3aW5kOnNlY3JldA==", "Bearer x"] {
        for pair in [[&*bearer, other], [other, &*bearer]] {
            assert!(!case.service.accepts_headers(&pair.map(|value| ("authorization", value))), "two headers");
        }
    }
    assert!(case.service.accepts(&good));
    assert!(case.service.accepts(&case.with("x", json!("x".repeat(8_000)))), "a long one that is good");
}
