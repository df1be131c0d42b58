//! The operator side, at a store that holds something for each operation.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use xshell::Shell;

use super::{Attack, json, must_have};
use crate::openapi;
use crate::service::{OPERATOR_KEY, Service};

const PARTNER: &str = "00000000-0000-4000-8000-000000000001";
const APPLICATION: &str = "00000000-0000-4000-8000-0000000000aa";

pub fn test(shell: &Shell, seed: u32) -> anyhow::Result<()> {
    let service = Service::start(shell, &shell.current_dir().join("target/conformance/data"))?;
    let environment = seeded(&service)?;
    let reached = Attack { side: "operator", base: &service.operator, seed, environment }.run(shell)?;
    let document = json(shell, Path::new("openapi/operator.json"))?;
    for operation in openapi::operations(&document) {
        let name = operation["operationId"].as_str().context("an operation has no operationId")?;
        let success = operation["responses"].as_object().into_iter().flat_map(|responses| responses.keys());
        let success: Vec<u64> =
            success.filter_map(|status| status.parse().ok()).filter(|status| (200..300).contains(status)).collect();
        if !success.iter().any(|&status| must_have(&reached, name, status).is_ok()) {
            anyhow::bail!("schemathesis has got no success of {name}, so that nothing was said about it");
        }
        if operation["security"].as_array().is_some_and(|security| !security.is_empty()) {
            must_have(&reached, name, 401)?;
        }
    }
    Ok(())
}

/// Fills the store; each transition has an offer that it fits.
fn seeded(service: &Service) -> anyhow::Result<Vec<(&'static str, String)>> {
    let send = |request: ureq::http::request::Builder, body: &str| -> anyhow::Result<Value> {
        let request = request.header("Content-Type", "application/json").body(body.to_owned())?;
        Ok(serde_json::from_str(&ureq::run(request)?.body_mut().read_to_string()?)?)
    };
    let operate = |method: &str, path: &str, body: &str| {
        let request =
            ureq::http::Request::builder().method(method).uri(format!("{}/operator/{path}", service.operator));
        send(request.header("X-Operator-Key", OPERATOR_KEY), body)
    };
    let text =
        |value: &Value, name: &str| value[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
    operate("PUT", &format!("partners/{PARTNER}"), r#"{"name":"Conformance"}"#)?;
    let areas = r#"{"name":"Conformance","areas":["lending","payments"]}"#;
    let key = operate("POST", &format!("partners/{PARTNER}/keys"), areas)?;
    operate("PUT", &format!("applications/{APPLICATION}"), &format!(r#"{{"partnerId":"{PARTNER}"}}"#))?;
    let [offered, declined, accepted, archived] =
        [1, 2, 3, 4].map(|n| format!("00000000-0000-4000-8000-0000000000b{n}"));
    for offer in [&offered, &declined, &accepted, &archived] {
        let terms = r#"{"details":"Representative Rate","fundingType":"TermLoan","offerType":"Underwritten","annualPercentageRate":0.0905}"#;
        operate("PUT", &format!("applications/{APPLICATION}/offers/{offer}"), terms)?;
    }
    let partner_key = text(&key, "key")?;
    let ask = |path: &str, body: &str| {
        let request = ureq::http::Request::builder().method("POST").uri(format!("{}{path}", service.partner));
        send(request.header("X-Service-ApiKey", &partner_key), body)
    };
    ask(&format!("/lending/applications/{APPLICATION}/offers/{accepted}/accept"), "")?;
    let buyer = ask("/payments/buyers", "{}")?;
    // An address of no network (RFC 5737): nothing is looked up, and nothing is sent.
    let endpoint = || {
        let body = r#"{"url":"https://192.0.2.1/lendpay","types":["offer.accepted"]}"#;
        text(&operate("POST", "webhooks", body)?, "endpointId")
    };
    Ok(vec![
        ("LENDPAY_OPERATOR_KEY", OPERATOR_KEY.to_owned()),
        ("LENDPAY_PARTNER", PARTNER.to_owned()),
        ("LENDPAY_KEY_ID", text(&key, "keyId")?),
        ("LENDPAY_APPLICATION", APPLICATION.to_owned()),
        ("LENDPAY_OFFERED", offered),
        ("LENDPAY_TO_DECLINE", declined),
        ("LENDPAY_TO_ADVANCE", accepted),
        ("LENDPAY_TO_ARCHIVE", archived),
        ("LENDPAY_BUYER", text(&buyer, "id")?),
        ("LENDPAY_ENDPOINT", endpoint()?),
        ("LENDPAY_TO_DELETE", endpoint()?),
    ])
}
