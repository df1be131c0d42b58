//! What makes a document useful beyond being valid: nothing in it goes unexplained, every answer has an example.

use super::{documents, in_place};
use serde_json::{Map, Value};

/// Every fault of every document, by its location in the document.
fn faults() -> Vec<String> {
    let mut faults = Vec::new();
    for document in documents() {
        let text = in_place(&serde_json::from_str(&document.text).expect("JSON"));
        let mut say = |location: &str, what: &str| faults.push(format!("{}{location}: {what}", document.file));
        for member in ["contact", "license", "description", "version"] {
            if text["info"][member].is_null() {
                say("/info", &format!("no {member}"));
            }
        }
        for tag in text["tags"].as_array().into_iter().flatten() {
            described(tag, &format!("/tags/{}", tag["name"]), &mut say);
        }
        for (name, schema) in members(&text["components"]["schemas"]) {
            let location = format!("/components/schemas/{name}");
            described(schema, &location, &mut say);
            properties(schema, &location, &mut say);
        }
        for (name, scheme) in members(&text["components"]["securitySchemes"]) {
            described(scheme, &format!("/components/securitySchemes/{name}"), &mut say);
        }
        for (path, item) in members(&text["paths"]) {
            for (method, operation) in members(item) {
                self::operation(operation, &format!("{path} {method}"), &mut say);
            }
        }
    }
    faults
}

fn operation(operation: &Value, location: &str, say: &mut impl FnMut(&str, &str)) {
    described(operation, location, say);
    for member in ["summary", "operationId", "tags"] {
        if operation[member].is_null() {
            say(location, &format!("no {member}"));
        }
    }
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        described(parameter, &format!("{location} parameter {}", parameter["name"]), say);
    }
    if let Some(body) = operation.get("requestBody") {
        described(body, &format!("{location} body"), say);
    }
    for (status, response) in members(&operation["responses"]) {
        let location = format!("{location} {status}");
        described(response, &location, say);
        for (name, header) in members(&response["headers"]) {
            described(header, &format!("{location} header {name}"), say);
        }
        for (_, media) in members(&response["content"]) {
            if members(&media["examples"]).next().is_none() {
                say(&location, "no named example");
            }
        }
    }
}

fn properties(schema: &Value, location: &str, say: &mut impl FnMut(&str, &str)) {
    for (name, property) in members(&schema["properties"]) {
        // What is named elsewhere is described there.
        if property.get("$ref").is_none() {
            described(property, &format!("{location}/{name}"), say);
        }
        let named = [property, &property["items"]].into_iter().any(|it| it.get("$ref").or(it.get("allOf")).is_some());
        if !named && property.get("example").is_none() {
            say(&format!("{location}/{name}"), "no example");
        }
    }
}

fn described(value: &Value, location: &str, say: &mut impl FnMut(&str, &str)) {
    if value["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
        say(location, "no description");
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

#[test]
fn everything_is_described_and_every_answer_has_an_example() {
    assert_eq!(faults(), Vec::<String>::new());
}
