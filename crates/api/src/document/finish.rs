//! The finishing step: what poem-openapi cannot say, or says in a way that tools reject.
//!
//! Version 3.0.3, header names as they are written, no `allOf` of one, the headers that the shell sets, named examples
//! made from real values, the names of errors, links and samples of code. `schemas` does the same for schemas, and
//! `shared` comes last.

use super::examples::moment;
use super::{facts, samples, schemas, shared, webhooks};
use crate::failure::Failure;
use crate::operations::{Operation, Parameter};
use crate::side::Shape;
use lendpay_domain::OperationId;
use lendpay_domain::operator::Role;
use lendpay_domain::query::Scope;
use poem_openapi::{ContactObject, ExternalDocumentObject, LicenseObject, OpenApiService};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The member of an operation that names the least role that may ask for it.
const LEAST_ROLE: &str = "x-least-role";

/// A named example.
pub(super) type Example = (String, Value);

/// What is added to an operation.
pub(super) struct OperationExamples {
    id: &'static str,
    shape: Shape,
    query: &'static [Parameter],
    role: Option<Role>,
    request: Vec<Example>,
    success: Vec<Example>,
    failures: Vec<(u16, Example)>,
    codes: Vec<&'static str>,
    links: Map<String, Value>,
}

impl OperationExamples {
    pub fn of<O: Operation>(success: Vec<Example>, request: Option<Vec<Example>>) -> Self {
        let failures = O::all_failures();
        let codes = failures.iter().map(Failure::code).collect();
        let failures = failures.iter().map(|failure| (failure.status().as_u16(), example::<O>(failure))).collect();
        let (request, links) = (request.unwrap_or_default(), Map::new());
        Self { id: O::ID, shape: O::SHAPE, query: O::QUERY, role: O::ROLE, request, success, failures, codes, links }
    }

    /// Says that what was made can be read by another operation: its `id` is that one's `parameter`.
    pub fn read_by(mut self, operation: &str, parameter: &str) -> Self {
        let link = json!({
            "operationId": operation,
            "parameters": { parameter: "$response.body#/id" },
            "description": format!("{operation} reads it, by its `id`."),
        });
        self.links.insert(operation.to_owned(), link);
        self
    }

    /// Adds an example of an answer that is neither success nor a failure in the common shape.
    pub fn answering(mut self, status: u16, example: Example) -> Self {
        self.failures.push((status, example));
        self
    }
}

/// Who answers for a document, on what terms it may be used, and where more is said.
pub(super) fn published<T, W>(service: OpenApiService<T, W>, contact: &str) -> OpenApiService<T, W> {
    let contact = ContactObject::new().name(contact).email("partners@lendpay.example");
    let license = LicenseObject::new("MIT OR Apache-2.0").url("https://spdx.org/licenses/");
    let pages = ExternalDocumentObject::new("/").description("The pages of this service");
    service.contact(contact).license(license).external_document(pages)
}

fn example<O: Operation>(failure: &Failure) -> Example {
    let operation = OperationId::from_bytes(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes());
    let at = moment(1_653_653_744, 50_386_800);
    (failure.to_string(), json!(failure.body(O::SHAPE, operation, at)))
}

/// Says whom a server is for, and what it is.
fn name_server(server: &mut Value, internal: bool) {
    let whose = if internal { "operators" } else { "partners" };
    server["description"] =
        format!("The service that serves this document to {whose}: production, or a sandbox").into();
    server["x-internal"] = internal.into();
}

pub(super) fn finish(raw: &str, operations: &[OperationExamples], webhooks: Scope) -> Value {
    let mut document: Value = serde_json::from_str(raw).expect("poem-openapi has just written it");
    document["openapi"] = "3.0.3".into();
    unwrap_single_all_of(&mut document);
    let of_operators = operations.iter().all(|described| described.shape == Shape::Operator);
    name_server(&mut document["servers"][0], of_operators);
    // Bodies that operators send may hold what is listed and nothing else.
    schemas::complete(&mut document, of_operators);
    for (shape, schema) in [(Shape::Lending, "LendingError"), (Shape::Operator, "OperatorError")] {
        name_error_codes(&mut document["components"]["schemas"], schema, operations, shape);
    }
    for (template, path) in document["paths"].as_object_mut().into_iter().flatten() {
        for operation in path.as_object_mut().into_iter().flat_map(Map::values_mut) {
            // Said of an operation that needs no key, it is no oversight.
            if let Some(operation) = operation.as_object_mut() {
                operation.entry("security").or_insert_with(|| json!([]));
            }
            if let Some(described) = operations.iter().find(|described| operation["operationId"] == described.id) {
                finish_operation(template, operation, described);
            }
        }
    }
    webhooks::finish(&mut document, webhooks);
    shared::share(&mut document);
    document
}

/// Lists the names that errors of a shape can have. No enumeration: more may come.
fn name_error_codes(schemas: &mut Value, schema: &str, operations: &[OperationExamples], shape: Shape) {
    let of_shape = operations.iter().filter(|described| described.shape == shape);
    // Those of addresses that are none of an operation's.
    let elsewhere = [Failure::NotFound, Failure::MethodNotAllowed(String::new())];
    let codes = of_shape.flat_map(|described| described.codes.iter().copied());
    let codes: BTreeSet<_> = codes.chain(elsewhere.iter().map(Failure::code)).collect();
    let Some(property) = schemas.get_mut(schema).map(|schema| &mut schema["properties"]["errorCode"]) else { return };
    let text = property["description"].as_str().expect("every property is described");
    let list: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
    let known = format!("Known are {}. More may come: go by the status then.", list.join(", "));
    property["description"] = format!("{text} {known}").into();
    property["x-extensible-enum"] = codes.into_iter().collect();
}

fn finish_operation(template: &str, operation: &mut Value, described: &OperationExamples) {
    if let Some(role) = described.role {
        let text = operation["description"].as_str().expect("every operation is described");
        operation["description"] = format!("{text}\n\nThe least role that may do this is `{role}`.").into();
        operation[LEAST_ROLE] = role.name().into();
    }
    add_parameters(template, operation, described.query);
    if described.shape != Shape::Operator
        && let Some(samples) = samples::of(described.id, samples::BASE)
    {
        operation["x-codeSamples"] = samples;
    }
    if let Some(body) = operation.get_mut("requestBody") {
        add_examples(body, described.request.iter());
    }
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        let headers = headers_as_written(response);
        response["headers"] = headers.into_iter().chain(shell_headers(described.shape, status)).collect();
        if status.starts_with('2') {
            add_examples(response, described.success.iter());
            if !described.links.is_empty() {
                response["links"] = described.links.clone().into();
            }
        } else {
            let of_status = described.failures.iter().filter(|(code, _)| code.to_string() == *status);
            add_examples(response, of_status.map(|(_, example)| example));
        }
    }
}

/// Adds the parameters of the path, first, and those of the query.
fn add_parameters(template: &str, operation: &mut Value, query: &[Parameter]) {
    let parameter = |name: &str, location: &str, description: String, schema: Value| {
        // Of a list, one parameter holds all items.
        let explode = schema["type"] != "array";
        json!({
            "name": name, "schema": schema, "in": location, "description": description, "required": location == "path",
            "deprecated": false, "explode": explode,
        })
    };
    let ids = template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<_> = ids
        .map(|name| {
            let resource = name.strip_suffix("Id").expect("what a path names is named by its id");
            let schema = match resource {
                "operation" => json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{32}$" }),
                _ => json!({ "type": "string", "format": "uuid" }),
            };
            parameter(name, "path", format!("The identifier of the {resource}."), schema)
        })
        .collect();
    let operation = operation.as_object_mut().expect("an operation is an object");
    if let Some(Value::Array(headers)) = operation.shift_remove("parameters") {
        parameters.extend(headers);
    }
    parameters.extend(query.iter().map(|p| parameter(p.name, "query", p.description.to_owned(), (p.schema)())));
    if !parameters.is_empty() {
        let before = |(name, _): (&String, _)| ["requestBody", "responses"].contains(&name.as_str());
        let position = operation.iter().position(before).expect("an operation has responses");
        operation.shift_insert(position, "parameters".to_owned(), parameters.into());
    }
}

/// Adds named examples to the one media type of a body, if it has one.
pub(super) fn add_examples<'a>(body: &mut Value, examples: impl Iterator<Item = &'a Example>) {
    // Indexing would make a content where there is none.
    let content = body.get_mut("content").and_then(Value::as_object_mut);
    let Some(media) = content.and_then(|content| content.values_mut().next()) else { return };
    let mut named = Map::new();
    for (summary, value) in examples {
        let name: String = summary.split(|c: char| !c.is_alphanumeric()).map(capitalised).collect();
        // Failures that differ for the caller only in words share a title; one example is enough.
        named.entry(name).or_insert_with(|| json!({ "summary": summary, "value": value }));
    }
    if !named.is_empty() {
        media["examples"] = named.into();
    }
}

pub(super) fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Header names as contract and RFCs write them.
fn headers_as_written(response: &Value) -> Map<String, Value> {
    let mut headers = Map::new();
    for (name, header) in response["headers"].as_object().into_iter().flatten() {
        let words: Vec<_> = name.split('-').map(|word| capitalised(&word.to_lowercase())).collect();
        let mut header = header.clone();
        if let Some(header) = header.as_object_mut() {
            header.shift_remove("deprecated");
        }
        if let Some(schema) = header["schema"].as_object_mut() {
            schema.extend(facts::of_header(&name.to_lowercase()));
        }
        headers.insert(words.join("-").replace("Www-", "WWW-").replace("Etag", "ETag"), header);
    }
    headers
}

/// The headers that the shell sets.
fn shell_headers(shape: Shape, status: &str) -> Vec<(String, Value)> {
    let mut headers = vec![(
        "X-Request-Id".to_owned(),
        json!({
            "description": "Identifies the request: the operationId of an error body, and the trace id of your traceparent.",
            "required": true,
            "schema": { "type": "string", "pattern": facts::OPERATION_ID },
        }),
    )];
    if shape != Shape::Operator {
        let header = json!({
            "description": "Pages of any origin may call.",
            "required": true,
            "schema": { "type": "string", "enum": ["*"] },
        });
        headers.push(("Access-Control-Allow-Origin".to_owned(), header));
    }
    // These are decided before it is known who calls.
    if shape != Shape::Operator && !["401", "413"].contains(&status) {
        let header = |name: &str, description: &str, example: &str| {
            let schema = json!({ "type": "string", "example": example });
            (name.to_owned(), json!({ "description": description, "schema": schema }))
        };
        headers.push(header(
            "RateLimit",
            "What you have left: `r` requests, and `t` seconds until you have all of them again. Absent where there is no limit.",
            "\"partner\";r=1999;t=1",
        ));
        headers.push(header(
            "RateLimit-Policy",
            "What you may do: `q` requests in `w` seconds.",
            "\"partner\";q=2000;w=300",
        ));
    }
    headers
}

/// Replaces `{allOf: [x]}`, which generators turn into a type of its own, by `x`.
fn unwrap_single_all_of(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some([only]) = object.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
                && object.len() == 1
            {
                *value = only.clone();
                return unwrap_single_all_of(value);
            }
            object.values_mut().for_each(unwrap_single_all_of);
        }
        Value::Array(items) => items.iter_mut().for_each(unwrap_single_all_of),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
