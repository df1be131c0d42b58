//! Every answer of the partners' document is provoked in a sandbox, in the way that its page tells.

#[path = "../../../api/tests/common/schema.rs"]
mod schema;

use crate::sandbox::{send, start};
use lendpay_api::sandbox::{KEYS, OFFERS, PROVOCATIONS, WAYS, way};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// The `errorCode`s in the examples of a response; in the payments area there are none.
fn codes(response: &Value) -> BTreeSet<Option<&str>> {
    let examples = members(&response["content"]["application/json"]["examples"]);
    let codes: BTreeSet<_> = examples.map(|(_, example)| example["value"]["errorCode"].as_str()).collect();
    if codes.is_empty() { [None].into() } else { codes }
}

#[test]
fn every_answer_of_the_document_is_provoked_in_its_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = start(directory.path(), &[]);
    let document = serde_json::from_str(include_str!("../../../../openapi/partner.json")).expect("JSON");
    let document = lendpay_api::document::in_place(&document);
    let mut provoked = 0;
    for (template, operations) in members(&document["paths"]) {
        for (method, operation) in members(operations) {
            let id = operation["operationId"].as_str().expect("an operation has an id");
            for (status, response) in members(&operation["responses"]) {
                let status = status.parse().expect("a status");
                for code in codes(response) {
                    let told = format!("{id} {status} {code:?}");
                    let (ordinary, way) = way(id, status, code).unwrap_or_else(|| panic!("there is no way to {told}"));
                    let call = ordinary.call(way);
                    let path = call.target.split('?').next().expect("a first part");
                    assert_eq!(call.method, method.to_uppercase(), "{told}");
                    assert!(schema::matches(template, path), "{told}: {path}");
                    let reply = send(&server.address, &call).unwrap_or_else(|error| panic!("{told}: {error}"));
                    assert_eq!(reply.status, status, "{told}: {}", reply.body);
                    assert_eq!(reply.body["errorCode"].as_str(), code, "{told}");
                    assert_eq!(reply.headers["x-sandbox"], "true", "{told}");
                    for (name, header) in members(&response["headers"]) {
                        assert!(header["required"] != true || reply.headers.contains_key(name), "{told}: {name}");
                    }
                    match response["content"]["application/json"].get("schema") {
                        None => assert_eq!(reply.body, "", "{told}"),
                        Some(schema) => {
                            let wrong: Vec<_> = schema::validator(&document, schema)
                                .iter_errors(&reply.body)
                                .map(|error| error.to_string())
                                .collect();
                            assert!(wrong.is_empty(), "{told}: {wrong:?}");
                        }
                    }
                    provoked += 1;
                }
            }
        }
    }
    assert!(provoked >= 100, "{provoked}");
}

#[test]
fn the_page_lists_everything() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = start(directory.path(), &[]);
    let client = crate::process::client();
    let mut page = client.get(format!("http://{}/sandbox", server.address)).call().expect("an answer");
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    let page = page.body_mut().read_to_string().expect("a text").replace("&quot;", "\"");
    for way in &WAYS {
        assert!(page.contains(&format!("<td>{}</td><td>{}</td>", way.status, way.code)), "{way:?}");
        for differs in way.differs {
            assert!(page.contains(&format!("<code>{differs}</code>")), "{differs}");
        }
    }
    let values = OFFERS.map(|offer| offer.id).into_iter().chain(KEYS.map(|key| key.key));
    for value in values.chain(PROVOCATIONS.each_ref().map(|known| known.name)) {
        assert!(page.contains(&format!("<code>{value}</code>")), "{value}");
    }
}
