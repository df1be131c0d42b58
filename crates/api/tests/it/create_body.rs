//! Contract 2.6: what a create body must be.

use crate::context::samples::buyer;
use crate::context::{BUYERS, Context};
use futures_util::stream;
use serde_json::json;
use std::io;

/// The most that a body may have.
const LIMIT: usize = 65_536;

/// Sees to it that each body is 400 with one message, and creates nothing.
async fn are_no_buyers(bodies: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    let context = Context::new().await;
    for body in bodies {
        let body = body.as_ref();
        let call = context.partner_a().post(BUYERS).header("content-type", "application/json").body(body);
        let answer = call.send().await;
        assert_eq!(answer.status, 400, "{:?} {answer:?}", String::from_utf8_lossy(body));
        assert_eq!(answer.errors().len(), 1, "{answer:?}");
    }
    assert_eq!(context.events().await, []);
}

/// A body with a value nested so that the whole body has this many levels.
fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("{{\"unknown\":{}1{}}}", open.repeat(levels - 1), close.repeat(levels - 1))
}

/// A good body of exactly this many bytes.
fn padded(length: usize) -> Vec<u8> {
    let frame = r#"{"name":"x","padding":""}"#.len();
    format!(r#"{{"name":"x","padding":"{}"}}"#, "p".repeat(length - frame)).into_bytes()
}

#[tokio::test]
async fn not_json_is_400() {
    are_no_buyers([
        "",
        " ",
        "x",
        "{",
        "{\"name\":\"a\"",
        "{name:1}",
        "{'name':'a'}",
        "{}{}",
        "{},",
        "<buyer/>",
        "name=a",
    ])
    .await;
    are_no_buyers(["{\"name\":\"a\",}", "{\"name\":01}", "{\"name\":NaN}", "{}//", "{\"name\":\"a\u{1}\"}"]).await;
}

#[tokio::test]
async fn not_an_object_is_400() {
    are_no_buyers(["null", "true", "0", "1.5", "\"text\"", "[]", "[{}]", "[null,null,null,null,null]"]).await;
}

#[tokio::test]
async fn not_utf_8_is_400() {
    are_no_buyers([
        &b"{\"name\":\"\xff\"}"[..],
        b"{\"unknown\":\"\xc3\x28\"}",
        b"\xff\xfe{\0}\0",
        b"{\"\xed\xa0\x80\":1}",
    ])
    .await;
}

#[tokio::test]
async fn a_lone_surrogate_is_400_in_any_field() {
    are_no_buyers([r#"{"name":"\ud800"}"#, r#"{"unknown":"\udc00x"}"#, r#"{"\ud800":1}"#]).await;
    are_no_buyers([r#"{"bankAccount":{"iban":"\ud800\ud800"}}"#]).await;
}

#[tokio::test]
async fn a_duplicate_member_is_400_at_any_depth() {
    are_no_buyers([
        r#"{"name":"a","name":"a"}"#,
        r#"{"name":null,"n\u0061me":"b"}"#,
        r#"{"unknown":1,"unknown":2}"#,
        r#"{"bankAccount":{"bic":"BUKBGB22","bic":"BUKBGB22"}}"#,
        r#"{"bankAccount":null,"bankAccount":{}}"#,
        r#"{"unknown":[{"a":{"b":1,"b":1}}]}"#,
    ])
    .await;
}

#[tokio::test]
async fn more_than_32_levels_are_400_even_inside_an_unknown_field() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        are_no_buyers([33, 34, 127, 128, 5_000].map(|levels| nested(open, close, levels))).await;
        let context = Context::new().await;
        for levels in [2, 31, 32] {
            let answer = context.partner_a().post(BUYERS).body(nested(open, close, levels)).send().await;
            assert_eq!(answer.status, 201, "{levels} {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_wrong_type_is_400_with_its_path() {
    let context = Context::new().await;
    let strings = [
        "name",
        "registrationNumber",
        "countryCode",
        "bankAccount.currencyCode",
        "bankAccount.accountName",
        "bankAccount.sortCode",
        "bankAccount.accountNumber",
        "bankAccount.bic",
        "bankAccount.accountType",
        "bankAccount.iban",
    ];
    let wrong = [json!(1), json!(0.5), json!(true), json!([]), json!(["x"]), json!({})];
    let mut cases = Vec::new();
    for path in strings {
        cases.extend(wrong.iter().map(|value| (path, value.clone())));
    }
    cases.extend([json!([]), json!([{}]), json!("x"), json!(1), json!(true)].map(|value| ("bankAccount", value)));
    let numbers = [json!("0"), json!(0.5), json!(false), json!([]), json!({}), json!(2_147_483_648_i64)];
    cases.extend(numbers.map(|value| ("type", value)));
    for (path, value) in cases {
        let payload = match path.split_once('.') {
            Some((outer, inner)) => json!({ outer: { inner: value } }),
            None => json!({ path: value }),
        };
        let answer = context.partner_a().create(&payload).await;
        assert_eq!(answer.status, 400, "{payload}");
        let errors = answer.errors();
        assert!(errors.len() == 1 && errors[0].starts_with(&format!("{path}: ")), "{payload} {errors:?}");
    }
    assert_eq!(context.events().await, []);
}

#[tokio::test]
async fn an_array_for_an_object_is_400_also_inside_bank_account() {
    are_no_buyers([
        r#"["Acme","1","GB",0,null]"#,
        r#"{"bankAccount":["GBP","Acme","202015","12345678","BUKBGB22","Current","GB33BUKB20201555555555"]}"#,
    ])
    .await;
}

#[tokio::test]
async fn a_content_type_other_than_json_is_415() {
    let context = Context::new().await;
    for content_type in [
        "text/plain",
        "text/json",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "json",
        "",
    ] {
        let call = context.partner_a().post(BUYERS).header("content-type", content_type).body(buyer().to_string());
        let answer = call.send().await;
        assert_eq!(answer.status, 415, "{content_type:?} {answer:?}");
    }
    assert_eq!(context.events().await, []);
}

#[tokio::test]
async fn any_spelling_of_json_is_a_good_content_type() {
    let context = Context::new().await;
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        "application/vnd.partner.v1+json",
    ] {
        let call = context.partner_a().post(BUYERS).header("content-type", content_type).body(buyer().to_string());
        assert_eq!(call.send().await.status, 201, "{content_type}");
    }
}

#[tokio::test]
async fn a_body_of_64_kib_is_fine_with_and_without_a_length() {
    let context = Context::new().await;
    let call = || context.partner_a().post(BUYERS);
    assert_eq!(call().header("content-length", "65536").body(padded(LIMIT)).send().await.status, 201);
    let chunks = padded(LIMIT).chunks(1_000).map(|chunk| Ok(chunk.to_vec())).collect::<Vec<_>>();
    assert_eq!(call().stream(stream::iter(chunks)).send().await.status, 201);
}

#[tokio::test]
async fn a_body_of_64_kib_and_one_byte_is_413_with_and_without_a_length() {
    let context = Context::new().await;
    let call = || context.partner_a().post(BUYERS);
    call().header("content-length", "65537").body(padded(LIMIT + 1)).send().await.is_error(413, None);
    let chunks = padded(LIMIT + 1).chunks(1_000).map(|chunk| Ok(chunk.to_vec())).collect::<Vec<_>>();
    call().stream(stream::iter(chunks)).send().await.is_error(413, None);
    assert_eq!(context.events().await, []);
}

#[tokio::test]
async fn a_body_that_goes_on_and_on_is_413() {
    let context = Context::new().await;
    let endless = stream::repeat_with(|| Ok(vec![b' '; 16_384]));
    context.partner_a().post(BUYERS).stream(endless).send().await.is_error(413, None);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_400() {
    let context = Context::new().await;
    let broken = stream::iter([Ok(b"{\"name\":".to_vec()), Err(io::Error::other("connection reset by peer"))]);
    let answer = context.partner_a().post(BUYERS).stream(broken).send().await;
    answer.is_error(400, None);
    assert!(!answer.text().contains("connection reset"), "{answer:?}");
}
