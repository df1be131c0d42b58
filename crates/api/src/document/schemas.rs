//! What poem-openapi does not say of schemas: nullability at the property, names of values, which members an answer
//! has, bounds and examples.

use super::facts;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The schemas whose required members the contract names (1.2). All other answers have all their members.
const AS_THE_CONTRACT_HAS_IT: [&str; 1] = ["Offer"];

/// The names of the values of integers.
const NAMED_INTEGERS: [(&str, &[&str]); 1] = [("BuyerType", &["COMPANY"])];

/// Completes every schema. `strict` says that members which are not listed are refused.
pub(super) fn complete(document: &mut Value, strict: bool) {
    let sent = reached(document, "requestBody");
    let answered = reached(document, "responses");
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    for (name, schema) in schemas {
        let Some(schema) = schema.as_object_mut() else { continue };
        // The title repeats the name, and progenitor gives the type inside a nullable object the title for a name.
        schema.shift_remove("title");
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let (names, example) = (names(name, values), values[0].clone());
            schema.insert("x-enum-varnames".to_owned(), names.into());
            schema.insert("example".to_owned(), example);
        }
        let is_sent = sent.contains(name);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        let all: Vec<_> = properties.iter().flat_map(|properties| properties.keys().cloned()).collect();
        for (property, schema) in properties.into_iter().flatten() {
            refer(schema);
            // What is named elsewhere has its bounds there.
            let own =
                schema.as_object_mut().filter(|schema| !schema.contains_key("$ref") && !schema.contains_key("allOf"));
            own.into_iter().for_each(|schema| schema.extend(facts::of(name, property, is_sent)));
        }
        if all.is_empty() {
            continue;
        }
        if answered.contains(name) && !AS_THE_CONTRACT_HAS_IT.contains(&name.as_str()) {
            schema.insert("required".to_owned(), all.into());
        } else if is_sent && strict {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    }
}

/// Says of a property that it is of a named schema. A description beside a bare `$ref` has no place in OpenAPI 3.0.
/// What may be null says so around the `$ref`, in the form that most generators read (openapi/README.md).
fn refer(property: &mut Value) {
    let Some(reference) = property["allOf"][0]["$ref"].as_str().map(str::to_owned) else { return };
    if property["nullable"] != true {
        *property = json!({ "$ref": reference });
        return;
    }
    let mut around = json!({ "nullable": true, "allOf": [{ "$ref": reference }] });
    if let Some(text) = property.get("description") {
        around["description"] = text.clone();
    }
    *property = around;
}

/// The names of an enumeration's values, for the constants of clients: `CUSTOMER_ACCEPTED`, `OFFER_CREATED`.
fn names(schema: &str, values: &[Value]) -> Vec<String> {
    let integers = NAMED_INTEGERS.iter().find(|(name, _)| *name == schema).map(|(_, names)| *names);
    let name = |(at, value): (usize, &Value)| match (value.as_str(), integers) {
        (Some(text), _) => constant(text),
        (None, Some(names)) => names[at].to_owned(),
        (None, None) => unreachable!("the integers of {schema} have no names"),
    };
    values.iter().enumerate().map(name).collect()
}

/// A value as the name of a constant.
fn constant(value: &str) -> String {
    let mut name = String::new();
    for c in value.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    }
    name
}

/// The schemas that the bodies of operations consist of: of their `requestBody` or their `responses`.
fn reached(document: &Value, part: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let operations = members(&document["paths"]).flat_map(|(_, path)| members(path));
    let mut open: Vec<&Value> = operations.map(|(_, operation)| &operation[part]).collect();
    while let Some(value) = open.pop() {
        let reference = value["$ref"].as_str();
        if let Some(name) = reference.and_then(|reference| reference.strip_prefix("#/components/schemas/"))
            && found.insert(name.to_owned())
        {
            open.push(&document["components"]["schemas"][name]);
        }
        match value {
            Value::Object(object) => open.extend(object.values()),
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_constants() {
        let constants = ["Offered", "CustomerAccepted", "offer.terms_replaced", "full"].map(constant);
        assert_eq!(constants, ["OFFERED", "CUSTOMER_ACCEPTED", "OFFER_TERMS_REPLACED", "FULL"]);
        assert_eq!(names("BuyerType", &[0.into()]), ["COMPANY"]);
    }

    #[test]
    fn a_reference_is_null_where_it_stands() {
        let referred = |mut property: Value| {
            refer(&mut property);
            property
        };
        let reference = json!({ "$ref": "#/components/schemas/Duration" });
        let text = json!({ "description": "How long." });
        assert_eq!(referred(reference.clone()), reference);
        assert_eq!(referred(json!({ "description": "How long.", "allOf": [reference, text] })), reference);
        let nullable = json!({ "nullable": true, "allOf": [reference, { "nullable": true }] });
        assert_eq!(referred(nullable), json!({ "nullable": true, "allOf": [reference] }));
    }
}
