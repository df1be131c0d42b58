//! Tokens and key sets that are damaged: refused, never a panic.

use super::key_set::{KeySet, header};
use crate::fuzz::JSON_WORDS;
use lendpay_domain::testing::fuzz::{config, mutated, seeds};
use proptest::prelude::*;

const TOKENS: [&str; 2] =
    ["eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImEifQ.eyJpc3MiOiJhIn0.c2ln", "eyJhbGciOiJub25lIn0.e30."];
const TOKEN_WORDS: &[&[u8]] = &[b".", b"..", b"=", b"e30", b"eyJhbGciOiJSUzI1NiJ9", b"_", b"\xff"];

const KEY_SETS: [&str; 2] = [
    r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","use":"sig","alg":"ES256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#,
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"b","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tokens(token in mutated(seeds(&TOKENS), TOKEN_WORDS)) {
        let _ = header(&String::from_utf8_lossy(&token));
    }

    #[test]
    fn key_sets(text in mutated(seeds(&KEY_SETS), JSON_WORDS)) {
        if let Ok(set) = KeySet::read(&text) {
            prop_assert!(set.has_the_keys_of(&set));
        }
    }
}
