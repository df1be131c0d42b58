//! The partners' document, ready to judge answers.

use super::schema::{matches, validator};
use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The document.
pub struct Document {
    /// As it is exported.
    pub value: Value,
    /// With everything where it is used.
    whole: Value,
    operations: Vec<Operation>,
}

/// An operation of the document.
pub struct Operation {
    pub id: String,
    template: String,
    method: String,
    /// What judges the body, by status; `None` where no body is declared.
    responses: BTreeMap<u16, Option<Validator>>,
}

/// The partners' document.
pub fn document() -> &'static Document {
    static DOCUMENT: OnceLock<Document> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let documents = lendpay_api::document::documents();
        let partner = documents.into_iter().find(|document| document.file == "partner.json").expect("it is there");
        let value: Value = serde_json::from_str(&partner.text).expect("the document is JSON");
        let whole = lendpay_api::document::in_place(&value);
        let operations = operations(&whole);
        Document { value, whole, operations }
    })
}

impl Document {
    /// The operation that a request is for.
    pub fn operation(&self, method: &str, path: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.method == method && matches(&operation.template, path))
    }

    /// Every operation with every status that it declares.
    pub fn declared(&self) -> impl Iterator<Item = (&str, u16)> {
        self.operations.iter().flat_map(|operation| operation.responses.keys().map(|status| (&*operation.id, *status)))
    }

    /// The raw operation object of this `operationId`.
    pub fn raw(&self, id: &str) -> &Value {
        let paths = self.whole["paths"].as_object().expect("paths").values();
        let mut operations = paths.flat_map(|path| path.as_object().expect("a path item").values());
        operations.find(|operation| operation["operationId"] == id).expect("the operation is in the document")
    }

    /// `schema`, or what it refers to.
    pub fn resolved<'d>(&'d self, schema: &'d Value) -> &'d Value {
        // What may be null refers to its schema in an `allOf` of one.
        let one = schema["allOf"].as_array().and_then(|all| all.first());
        match one.unwrap_or(schema)["$ref"].as_str() {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').expect("references are local");
                self.resolved(self.value.pointer(pointer).expect("references lead somewhere"))
            }
            None => schema,
        }
    }

    /// A named schema.
    pub fn schema(&self, name: &str) -> &Value {
        &self.value["components"]["schemas"][name]
    }

    /// Judges values by a schema of the document.
    pub fn validator(&self, schema: &Value) -> Validator {
        validator(&self.value, schema)
    }
}

impl Operation {
    /// Whether the status is declared and the body is as declared; else what is wrong.
    pub fn judge(&self, status: u16, body: &Value) -> Result<(), String> {
        let response = self.responses.get(&status).ok_or_else(|| format!("{} does not declare {status}", self.id))?;
        let Some(validator) = response else { return Ok(()) };
        let wrong: Vec<_> = validator.iter_errors(body).map(|e| format!("{}: {e}", e.instance_path())).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{} {status}: {}", self.id, wrong.join("; "))) }
    }
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut found = Vec::new();
    for (template, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("a path item") {
            let response = |(status, response): (&String, &Value)| {
                let schema = response["content"]["application/json"].get("schema");
                (status.parse().expect("a status"), schema.map(|schema| validator(document, schema)))
            };
            found.push(Operation {
                id: operation["operationId"].as_str().expect("an operationId").to_owned(),
                template: template.clone(),
                method: method.to_uppercase(),
                responses: operation["responses"].as_object().expect("responses").iter().map(response).collect(),
            });
        }
    }
    found
}
