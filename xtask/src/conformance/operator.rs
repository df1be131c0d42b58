//! The operator side, at a store that holds something for each operation.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::{Attack, json, must_have};
use crate::fill::{self, PARTNER, Pair};
use crate::server::{Kind, OPERATOR_KEY, Server, built, remove};

pub fn test(root: &Path, seed: u32) -> anyhow::Result<()> {
    let programs = built(root)?;
    let folder = root.join("target/conformance");
    let data = folder.join("data");
    remove(&data)?;
    let server = Server::start(&programs, &folder, Kind::Lendpay, &data)?;
    let base = format!("http://{}", server.operator);
    let environment = seeded(&server)?;
    let reached = Attack { side: "operator", base: &base, seed, environment }.run(root)?;
    let document = json(&root.join("openapi/operator.json"))?;
    for operation in operations(&document) {
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

fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
    paths.filter_map(Value::as_object).flat_map(|operations| operations.values())
}

/// Fills the store; each transition has an offer that it fits.
fn seeded(server: &Server) -> anyhow::Result<Vec<(&'static str, String)>> {
    let offers = fill::offers(4);
    let [offered, declined, accepted, archived] = offers.as_slice() else { anyhow::bail!("there are no four offers") };
    let key = fill::partner(server)?;
    server.operate("PUT", &offered.application_path(), &fill::application())?;
    for (amount, offer) in offers.iter().enumerate() {
        server.operate("PUT", &offer.operator_path(), &fill::terms(amount))?;
    }
    server.post(&key.text, &accepted.accept_path(), "")?;
    let buyer: Value = serde_json::from_str(&server.post(&key.text, "/payments/buyers", "{}")?)?;
    let buyer = buyer["id"].as_str().context("a buyer without an id")?.to_owned();
    let offer = |pair: &Pair| pair.offer.clone();
    Ok(vec![
        ("LENDPAY_OPERATOR_KEY", OPERATOR_KEY.to_owned()),
        ("LENDPAY_PARTNER", PARTNER.to_owned()),
        ("LENDPAY_KEY_ID", key.id),
        ("LENDPAY_APPLICATION", offered.application.clone()),
        ("LENDPAY_OFFERED", offer(offered)),
        ("LENDPAY_TO_DECLINE", offer(declined)),
        ("LENDPAY_TO_ADVANCE", offer(accepted)),
        ("LENDPAY_TO_ARCHIVE", offer(archived)),
        ("LENDPAY_BUYER", buyer),
    ])
}
