//! The documents, ready to judge answers.

use crate::schema::{matches, validator};
use jsonschema::Validator;
use lendpay_domain::operator::Role;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// An operation of a document.
pub struct Operation {
    pub id: String,
    pub method: String,
    pub template: String,
    /// Whether it needs a key.
    pub secured: bool,
    /// The least role of an operator that may ask for it.
    pub least_role: Option<Role>,
    /// What judges the body, by status; `None` where no JSON is declared.
    responses: BTreeMap<u16, Option<Validator>>,
}

impl Operation {
    /// Whether the status is declared and the body is as declared; else what is wrong.
    pub fn judge(&self, status: u16, body: &Value) -> Result<(), String> {
        let response = self.responses.get(&status).ok_or_else(|| format!("{} does not declare {status}", self.id))?;
        let Some(validator) = response else { return Ok(()) };
        let wrong: Vec<_> = validator.iter_errors(body).map(|e| format!("{}: {e}", e.instance_path())).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{} {status}: {}", self.id, wrong.join("; "))) }
    }

    /// The names in the braces of the path.
    pub fn ids(&self) -> Vec<&str> {
        self.template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
    }
}

/// A document as a value, with everything where it is used.
pub fn value(file: &str) -> Value {
    let documents = lendpay_api::document::documents();
    let document = documents.into_iter().find(|document| document.file == file).expect("it is there");
    lendpay_api::document::in_place(&serde_json::from_str(&document.text).expect("the document is JSON"))
}

/// The operations of the operator's document.
pub fn operator() -> &'static [Operation] {
    static OPERATIONS: OnceLock<Vec<Operation>> = OnceLock::new();
    OPERATIONS.get_or_init(|| operations("operator.json"))
}

/// The operations of a document.
pub fn operations(file: &str) -> Vec<Operation> {
    let document = value(file);
    let mut found = Vec::new();
    for (template, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("a path item") {
            let response = |(status, response): (&String, &Value)| {
                let schema = response["content"]["application/json"].get("schema");
                (status.parse().expect("a status"), schema.map(|schema| validator(&document, schema)))
            };
            found.push(Operation {
                id: operation["operationId"].as_str().expect("an operationId").to_owned(),
                method: method.to_uppercase(),
                template: template.clone(),
                least_role: operation["x-least-role"].as_str().map(|name| Role::parse(name).expect("a role")),
                secured: operation["security"].as_array().is_some_and(|all| !all.is_empty()),
                responses: operation["responses"].as_object().expect("responses").iter().map(response).collect(),
            });
        }
    }
    found
}

/// The operation of the operator's side that a request is for.
pub fn operation(method: &str, path: &str) -> Option<&'static Operation> {
    operator().iter().find(|operation| operation.method == method && matches(&operation.template, path))
}

#[test]
fn every_row_of_the_contract_is_in_the_document_and_nothing_else() {
    let mut found: Vec<_> =
        operator().iter().map(|operation| format!("{} {}", operation.method, operation.template)).collect();
    let offer = "/operator/applications/{applicationId}/offers/{offerId}";
    let webhook = "/operator/webhooks/{endpointId}";
    let mut wanted = vec![
        "PUT /operator/partners/{partnerId}".to_owned(),
        "POST /operator/partners/{partnerId}/keys".to_owned(),
        "GET /operator/partners/{partnerId}/keys".to_owned(),
        "DELETE /operator/partners/{partnerId}/keys/{keyId}".to_owned(),
        "PUT /operator/partners/{partnerId}/keys/{keyId}/expiry".to_owned(),
        "GET /operator/keys/{keyId}".to_owned(),
        "GET /operator/partners".to_owned(),
        "GET /operator/partners/{partnerId}".to_owned(),
        "PUT /operator/applications/{applicationId}".to_owned(),
        "GET /operator/applications".to_owned(),
        "GET /operator/applications/{applicationId}".to_owned(),
        "GET /operator/offers".to_owned(),
        "POST /operator/offers/batch".to_owned(),
        format!("PUT {offer}"),
        "GET /operator/applications/{applicationId}/offers".to_owned(),
        format!("GET {offer}"),
        format!("POST {offer}/decline"),
        format!("POST {offer}/advance"),
        format!("POST {offer}/archive"),
        "POST /operator/webhooks".to_owned(),
        "GET /operator/webhooks".to_owned(),
        format!("GET {webhook}"),
        format!("PUT {webhook}"),
        format!("DELETE {webhook}"),
        format!("POST {webhook}/pause"),
        format!("POST {webhook}/resume"),
        format!("POST {webhook}/secret"),
        format!("POST {webhook}/test"),
        format!("POST {webhook}/redeliver"),
        format!("GET {webhook}/attempts"),
        "GET /operator/buyers".to_owned(),
        "GET /operator/buyers/{buyerId}".to_owned(),
        "POST /operator/buyers/{buyerId}/read".to_owned(),
        "GET /operator/events".to_owned(),
        "GET /operator/operations/{operationId}".to_owned(),
        "GET /operator/export".to_owned(),
        "GET /operator/log".to_owned(),
        "PUT /operator/log/backup".to_owned(),
        "GET /health/live".to_owned(),
        "GET /health/ready".to_owned(),
        "GET /metrics".to_owned(),
    ];
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn an_offer_that_is_put_is_offered_in_the_examples_too() {
    let document = value("operator.json");
    let put = &document["paths"]["/operator/applications/{applicationId}/offers/{offerId}"]["put"];
    for status in ["200", "201"] {
        let examples = put["responses"][status]["content"]["application/json"]["examples"].as_object().expect("examples");
        assert!(!examples.is_empty() && examples.values().all(|example| example["value"]["status"] == "Offered"));
    }
}

#[test]
fn every_example_is_what_its_schema_says() {
    let document = value("operator.json");
    let mut seen = 0;
    for path in document["paths"].as_object().expect("paths").values() {
        for operation in path.as_object().expect("a path item").values() {
            let responses = operation["responses"].as_object().expect("responses").values();
            for content in responses.chain(operation.get("requestBody")) {
                let media = &content["content"]["application/json"];
                for (name, example) in media["examples"].as_object().into_iter().flatten() {
                    let validator = validator(&document, &media["schema"]);
                    let wrong: Vec<_> = validator.iter_errors(&example["value"]).map(|e| e.to_string()).collect();
                    assert!(wrong.is_empty(), "{} {name}: {wrong:?}", operation["operationId"]);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
