//! Must hold 10, contract 2.2: what log lines have, and what they never have.

use crate::context::samples::{buyer, terms};
use crate::context::{Answer, BUYERS, Context, Fault, Step, logs, path};
use lendpay_domain::StoreError;
use lendpay_domain::key::ApiKey;
use poem::http::Method;
use serde_json::{Value, json};

/// The template of accept.
const ACCEPT: &str = "/lending/applications/{applicationId}/offers/{offerId}/accept";

/// The one line that tells of a whole request.
fn line(answer: &Answer) -> Value {
    let mut lines = logs::of(answer.operation());
    lines.retain(|line| line["target"] == "lendpay::request");
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

/// Sees to it that the line of a request tells this.
fn tells(answer: &Answer, method: &str, route: &str, partner: Option<&str>) {
    let line = line(answer);
    assert_eq!(line["method"], method, "{line}");
    assert_eq!(line["route"], route, "{line}");
    assert_eq!(line["status"], answer.status, "{line}");
    assert!(line["duration_us"].is_u64(), "{line}");
    assert_eq!(line["operation"], answer.operation(), "{line}");
    assert_eq!(line.get("partner").and_then(Value::as_str), partner, "{line}");
}

#[tokio::test]
async fn a_requests_line_has_method_route_status_duration_partner_and_operation() {
    let context = Context::new().await;
    let partner = context.a().id.to_string();
    let placed = context.offer(terms()).await;
    tells(&context.partner_a().accept(placed).await, "POST", ACCEPT, Some(&partner));
    tells(&context.partner_a().create(&buyer()).await, "POST", BUYERS, Some(&partner));
    tells(&context.anonymous().get("/docs").send().await, "GET", "/docs", None);
}

#[tokio::test]
async fn failures_are_told_the_same_way() {
    let context = Context::new().await;
    let partner = context.a().id.to_string();
    let (a, nobody) = (context.partner_a(), context.anonymous());
    tells(&a.post(&path("x", "%FF")).send().await, "POST", ACCEPT, Some(&partner));
    tells(&a.create(&json!([])).await, "POST", BUYERS, Some(&partner));
    tells(&context.lending_only().await.create(&buyer()).await, "POST", BUYERS, Some(&partner));
    tells(&nobody.create(&buyer()).await, "POST", BUYERS, None);
    tells(&nobody.post(BUYERS).body(vec![b' '; 65_537]).send().await, "POST", BUYERS, None);
    tells(&nobody.get(BUYERS).send().await, "GET", BUYERS, None);
    tells(&nobody.call(Method::OPTIONS, BUYERS).send().await, "OPTIONS", BUYERS, None);
    tells(&nobody.get("/no/where").send().await, "GET", "-", None);
    for fault in [Fault::Error(StoreError::Unavailable), Fault::Panic] {
        context.store().rig(Some((Step::Command, fault)));
        tells(&a.create(&buyer()).await, "POST", BUYERS, Some(&partner));
    }
}

/// The ids of the path are in the line; the path itself, and what is no id in it, are not.
#[tokio::test]
async fn a_line_has_the_ids_and_never_the_path_itself() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    for fault in
        [None, Some(Fault::Error(StoreError::Overloaded)), Some(Fault::Error(StoreError::Corrupt)), Some(Fault::Panic)]
    {
        context.store().rig(fault.map(|fault| (Step::Command, fault)));
        let answer = context.partner_a().post(&format!("{}?token=query-secret", placed.path())).send().await;
        let line = line(&answer);
        assert_eq!(line["application"], placed.application.to_string(), "{line}");
        assert_eq!(line["offer"], placed.offer.to_string(), "{line}");
        let lines: String = logs::of(answer.operation()).iter().map(Value::to_string).collect();
        let (path, offer) = (placed.path(), format!("offers/{}", placed.offer));
        for part in [path.as_str(), &offer, "query-secret"] {
            assert!(!lines.contains(part), "{fault:?} {lines}");
        }
    }
    context.store().rig(None);
    let answer = context.partner_a().post(&path("path-secret", placed.offer)).send().await;
    let line = line(&answer);
    assert_eq!((line.get("application"), &line["offer"]), (None, &json!(placed.offer.to_string())), "{line}");
    assert!(!logs::of(answer.operation()).iter().any(|line| line.to_string().contains("path-secret")));
}

#[tokio::test]
async fn a_line_says_who_called_and_why_it_was_refused() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let (accepted, declined) =
        (context.partner_a().accept(placed).await, context.partner_a().decline(placed).await);
    let created = context.partner_a().create(&json!({})).await;
    let nobody = context.anonymous().create(&json!({})).await;
    let of = |answer: &Answer, field: &str| line(answer).get(field).and_then(Value::as_str).map(str::to_owned);
    let codes = [&accepted, &declined, &created, &nobody].map(|answer| of(answer, "error_code"));
    assert_eq!(codes, [None, Some("OfferAccepted".to_owned()), None, Some("InvalidApiKey".to_owned())]);
    let event = context.events().await.pop().expect("of the buyer");
    for answer in [&accepted, &declined, &created] {
        assert_eq!(of(answer, "actor"), Some(event.actor.to_string()));
    }
    assert_eq!((of(&created, "buyer"), of(&nobody, "actor")), (created.json()["id"].as_str().map(str::to_owned), None));
}

#[tokio::test]
async fn no_bank_detail_and_no_key_is_in_any_log_line_error_or_event() {
    // Values that no other test uses.
    let (iban, number) = ("GB94BARC10201530093459", "30093459");
    let (bad_iban, bad_number) = ("GB95BARC10201530093458", "30093-458");
    let unknown = ApiKey::from_random(lendpay_api::key_bits());
    let context = Context::new().await;
    let mut good = buyer();
    good["bankAccount"]["iban"] = iban.into();
    good["bankAccount"]["sortCode"] = "102015".into();
    good["bankAccount"]["bic"] = "BARCGB22".into();
    good["bankAccount"]["accountNumber"] = number.into();
    let mut bad = good.clone();
    bad["bankAccount"]["iban"] = bad_iban.into();
    bad["bankAccount"]["accountNumber"] = bad_number.into();
    let cut = good.to_string().replace("}}", "");
    let twice = format!(r#"{{"{iban}":"{number}","{iban}":1}}"#);
    let placed = context.offer(terms()).await;

    let a = context.partner_a();
    let mut answers = Vec::new();
    answers.push(a.create(&good).await);
    answers.push(a.create_once(number, &good).await);
    answers.push(a.create_once(number, &json!({})).await);
    answers.push(a.create(&bad).await);
    answers.push(a.create(&json!(iban)).await);
    answers.push(a.create(&json!({ "type": iban, "bankAccount": number })).await);
    answers.push(a.post(BUYERS).body(cut).send().await);
    answers.push(a.post(BUYERS).body(twice).send().await);
    answers.push(a.post(BUYERS).header("content-type", "text/plain").body(good.to_string()).send().await);
    answers.push(a.post(&placed.path()).json(&good).send().await);
    answers.push(a.post(&path(iban, number)).json(&good).send().await);
    answers.push(a.get(&format!("/{iban}/{}", context.a().key)).send().await);
    answers.push(context.holder(unknown.reveal()).create(&good).await);
    answers.push(a.post(BUYERS).header("x-service-apikey", unknown.reveal()).json(&good).send().await);
    let bearer = format!("Bearer {}", unknown.reveal());
    answers.push(context.anonymous().post(BUYERS).header("authorization", &bearer).json(&good).send().await);
    for step in Step::OF_CHANGES {
        for fault in [Fault::Error(StoreError::Corrupt), Fault::Error(StoreError::Overloaded), Fault::Panic] {
            context.store().rig(Some((step, fault)));
            answers.push(a.create(&good).await);
        }
    }
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    let wanted =
        [201, 201, 422, 400, 400, 400, 400, 400, 415, 200, 404, 404, 401, 401, 401, 500, 503, 500, 500, 503, 500];
    assert_eq!(statuses, wanted);

    let mut seen: Vec<_> = answers.iter().map(|answer| format!("{answer:?}")).collect();
    seen.push(logs::all());
    seen.push(format!("{:?}", context.events().await));
    for answer in &answers {
        assert!(logs::all().contains(answer.operation()), "the log is being kept");
    }
    for secret in [iban, number, bad_iban, bad_number, &context.a().key, &context.b().key, unknown.reveal()] {
        for text in &seen {
            let at = text.find(secret).unwrap_or(text.len());
            assert!(at == text.len(), "{secret} in …{}", &text[at.saturating_sub(300)..]);
        }
    }
}

#[tokio::test]
async fn what_is_logged_about_a_panic_names_the_operation() {
    let context = Context::new().await;
    context.store().rig(Some((Step::FindKey, Fault::Panic)));
    let answer = context.partner_a().create(&buyer()).await;
    let lines = logs::of(answer.operation());
    assert!(lines.iter().any(|line| line["level"] == "ERROR"), "{lines:?}");
}
