//! Schemas and paths of a document, for the tests of both sides.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

/// What judges a value by a schema of a document.
pub fn validator(document: &Value, schema: &Value) -> Validator {
    let schema = json!({ "allOf": [as_json_schema(schema)], "components": as_json_schema(&document["components"]) });
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&schema).expect("the document's schemas are schemas")
}

/// OpenAPI 3.0 says `nullable: true` where JSON Schema has null as an alternative.
fn as_json_schema(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut object: serde_json::Map<_, _> =
                object.iter().map(|(name, value)| (name.clone(), as_json_schema(value))).collect();
            // There it is a flag beside the bound, here it is the bound.
            if object.get("exclusiveMaximum") == Some(&Value::Bool(true)) {
                let bound = object.remove("maximum").expect("an exclusive maximum has a maximum");
                object.insert("exclusiveMaximum".to_owned(), bound);
            }
            if object.remove("nullable") == Some(Value::Bool(true)) {
                return json!({ "anyOf": [object, { "type": "null" }] });
            }
            object.into()
        }
        Value::Array(items) => items.iter().map(as_json_schema).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Whether a path is one of a template.
pub fn matches(template: &str, path: &str) -> bool {
    let (wanted, given): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let fits = |(wanted, given): (&&str, &&str)| wanted == given || wanted.starts_with('{');
    wanted.len() == given.len() && wanted.iter().zip(&given).all(fits)
}
