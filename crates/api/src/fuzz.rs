//! Everything here that reads what others wrote, with damaged input: it answers or refuses, and never panics.

use crate::trace::TraceParent;
use crate::wire::buyer::description;
use crate::wire::fields::Fields;
use lendpay_domain::buyer_checks::{BuyerChecks, check};
use lendpay_domain::idempotency::IdempotencyKey;
use lendpay_domain::testing::fuzz::{config, mutated, seeds};
use lendpay_domain::{ApplicationId, OperationId};
use poem::http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

const BUYERS: [&str; 4] = [
    "{}",
    r#"{"name":"Northwind Bicycles Ltd","registrationNumber":"0123","countryCode":"GB","type":0,"bankAccount":null}"#,
    r#"{"bankAccount":{"currencyCode":"GBP","iban":"GB33 BUKB 2020 1555 5555 55","bic":"BUKBGB22","accountName":"é"}}"#,
    r#"{"x":[[{"y":[1e400,-0.0,true,null,"\ud83d\ude00"]}]],"bankAccount":{"sortCode":"20-20-15","accountNumber":"555555"}}"#,
];
pub(crate) const JSON_WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b":",
    b"null",
    b"1e999",
    b"-",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\0",
    b"\"type\":",
    b"\"bankAccount\":{",
    b"\"iban\":\"",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "ß".as_bytes(),
];

const TRACES: [&str; 3] = [
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
    "\"8e03978e-40d5-43e8-bc93-6894a57f9324\"",
];
const HEADER_WORDS: &[&[u8]] = &[b"-", b"\"", b"ff", b"00", b" ", b"\t", b"%", b"\xe9", b"0000000000000000"];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn buyers(body in mutated(seeds(&BUYERS), JSON_WORDS)) {
        match Fields::of(&body) {
            Ok(mut fields) => {
                let read = description(&mut fields);
                let contract = check(read.clone(), BuyerChecks::Contract);
                prop_assert!(check(read, BuyerChecks::Full).is_err() || contract.is_ok());
            }
            Err(problem) => prop_assert!(problem.len() < 120, "it quotes: {}", problem),
        }
    }

    #[test]
    fn headers_and_ids(text in mutated(seeds(&TRACES), HEADER_WORDS)) {
        if let Ok(value) = HeaderValue::from_bytes(&text) {
            let headers = HeaderMap::from_iter([(poem::http::HeaderName::from_static("traceparent"), value)]);
            if let Some(TraceParent { trace: id, .. }) = TraceParent::of(&headers) {
                prop_assert_eq!(OperationId::parse(&id.to_string()), Some(id));
            }
        }
        let text = String::from_utf8_lossy(&text);
        let _ = IdempotencyKey::parse(&text);
        if let Some(id) = ApplicationId::parse(&text) {
            prop_assert_eq!(ApplicationId::parse(&id.to_string()), Some(id));
        }
    }
}
