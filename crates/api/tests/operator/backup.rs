//! The log over HTTP, and what is remembered of copies.

use crate::context::{Answer, Context, OPERATOR_KEY, moment, offer, terms};
use lendpay_domain::log::CopyKind;
use serde_json::{Value, json};

const LOG: &str = "/operator/log";
const NOTE: &str = "/operator/log/backup";

async fn filled() -> Context {
    let context = Context::new().await;
    context.partner(1).await;
    for n in 0..50 {
        context.call("PUT", &offer(1, n), &terms()).await.is(201);
    }
    context
}

async fn log(context: &Context, query: &str) -> Answer {
    context.send("GET", &format!("{LOG}{query}"), &[("x-operator-key", OPERATOR_KEY)], "").await
}

fn as_of(time: &str) -> Value {
    json!({ "asOf": time })
}

#[tokio::test]
async fn the_log_can_be_copied_from_any_byte_on() {
    let context = filled().await;
    let whole = log(&context, "").await;
    if crate::log(&context.store).is_none() {
        whole.is_error(409, "NoLog");
        context.call("PUT", NOTE, &as_of("2023-11-14T22:00:00Z")).await.is_error(409, "NoLog");
        return;
    }
    let header = |answer: &Answer, name: &str| answer.headers[name].to_str().expect("ASCII").to_owned();
    assert_eq!((whole.status, header(&whole, "content-type")), (200, "application/octet-stream".to_owned()));
    assert!(whole.bytes.starts_with(b"lendpay") && whole.bytes.len() > 5_000);
    assert_eq!(header(&whole, "log-as-of"), "2023-11-14T22:13:20.123456Z");
    let end = whole.bytes.len();
    for from in [0, 1, 64, 5_000, end - 1, end, end + 1, 9_007_199_254_740_991] {
        let part = log(&context, &format!("?from={from}")).await;
        assert_eq!((part.status, header(&part, "log-end")), (200, end.to_string()), "{from}");
        assert_eq!(part.bytes, whole.bytes.get(from..).unwrap_or_default(), "{from}");
    }
    for from in ["", "-1", "x", "1.5", "9007199254740992", "99999999999999999999"] {
        let refused = log(&context, &format!("?from={from}")).await.is_error(400, "InvalidData");
        assert_eq!(refused["errors"], json!(["from: must be a whole number from 0 to 9007199254740991"]), "{from}");
    }
    context.call("PUT", &offer(1, 50), &terms()).await.is(201);
    let longer = log(&context, "").await;
    assert!(longer.bytes.len() > end && longer.bytes.starts_with(&whole.bytes), "it only grows");
}

#[tokio::test]
async fn the_last_backup_and_the_last_export_are_remembered() {
    let context = filled().await;
    let Some(log) = crate::log(&context.store) else { return };
    let last = || [CopyKind::Backup, CopyKind::Export].map(|kind| log.last_copy(kind));
    assert_eq!(last(), [None, None]);
    for (time, problem) in [
        ("2023-11-14T22:13:20.123457Z", "asOf: must not be in the future"),
        ("yesterday", "asOf: must be an RFC 3339 date-time"),
    ] {
        let refused = context.call("PUT", NOTE, &as_of(time)).await.is_error(400, "InvalidData");
        assert_eq!(refused["errors"], json!([problem]));
    }
    assert_eq!(last(), [None, None]);
    context.call("PUT", NOTE, &as_of("2023-11-14T22:13:10.123456Z")).await.is(204);
    assert_eq!(last(), [Some(moment(-10)), None]);
    context.set_time(60);
    context.send("GET", "/operator/export", &[("x-operator-key", OPERATOR_KEY)], "").await;
    assert_eq!(last(), [Some(moment(-10)), Some(moment(60))]);
}
