//! No token in logs or errors, however much is logged.

use crate::fake_issuer::FakeIssuer;
use crate::party::{BUYERS, Service};
use crate::signer::{Signer, claims, claims_with, in_seconds};
use serde_json::json;

#[test]
fn no_part_of_a_token_is_in_any_log_line_or_error() {
    let (signer, stranger) = (Signer::es256("a"), Signer::es256("b"));
    let issuer = FakeIssuer::start(vec![signer.public()]);
    let mut service = Service::with_issuer(&["northwind"], &issuer.url, &["--log", "trace"]);
    service.wait_for_keys();
    let with = |name: &str, value| signer.token(&claims_with(&issuer.url, name, value));
    let tokens = [
        signer.token(&claims(&issuer.url)),
        stranger.token(&claims(&issuer.url)),
        with("exp", json!(in_seconds(-999))),
        with("aud", json!("another")),
        with("client_id", json!("a-client-that-nobody-is")),
        with("scope", json!("none")),
        "an.opaque-token-that-is-long-enough.to-be-found".to_owned(),
    ];
    let mut told = String::new();
    for token in &tokens {
        for headers in [
            &[("authorization", format!("Bearer {token}"))][..],
            &[("authorization", token.clone())],
            &[("authorization", format!("Bearer {token}")), ("authorization", format!("Bearer {token}"))],
        ] {
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            for path in [&service.offers[0], BUYERS] {
                let reply = service.post(path, &headers);
                told.push_str(&format!("{:?} {}\n", reply.headers, reply.body));
            }
        }
    }
    service.server.process.signal("TERM");
    let (status, log) = service.server.process.wait();
    assert_eq!(status.code(), Some(0));
    assert!(log.iter().any(|line| line.contains("a token is not accepted")), "the reasons are logged");
    told.push_str(&log.join("\n"));
    for token in &tokens {
        // The header of a token is no secret, and the same for all.
        for part in token.split('.').skip(1) {
            assert!(!told.contains(part), "{part}");
        }
    }
}
