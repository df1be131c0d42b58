//! What breaks a client although Redocly finds it harmless: names that code which was generated from the older document
//! may use, and servers of an operation's own.

use serde_json::Value;

/// Every such change from `old` to `new`.
pub fn breaking(old: &Value, new: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    for (name, schema) in members(&old["components"]["schemas"]) {
        lost(name, schema, &new["components"]["schemas"][name], &mut changes);
    }
    for (path, item) in members(&new["paths"]).filter(|(path, _)| old["paths"].get(path).is_some()) {
        let was = &old["paths"][path];
        let operations = members(item).map(|(method, operation)| (&was[method], operation));
        for (was, is) in operations.chain([(was, item)]) {
            if was["servers"].is_null() && !is["servers"].is_null() {
                changes.push(format!("{path} has moved to servers of its own"));
            }
        }
    }
    changes
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Values of an enumeration and properties that are gone, anywhere in a schema, whoever sends them.
fn lost(name: &str, old: &Value, new: &Value, changes: &mut Vec<String>) {
    if let (Some(had), Some(has)) = (old["enum"].as_array(), new["enum"].as_array()) {
        for value in had.iter().filter(|value| !has.contains(value)) {
            changes.push(format!("{name} has lost the value {value}"));
        }
    }
    for (property, schema) in members(&old["properties"]) {
        match new["properties"].get(property) {
            Some(new) => lost(&format!("{name}.{property}"), schema, new, changes),
            // A schema without any is something else altogether.
            None if new["properties"].is_object() => changes.push(format!("{name} has lost the property {property}")),
            None => {}
        }
    }
    if let Some(items) = old.get("items") {
        lost(&format!("{name}[]"), items, &new["items"], changes);
    }
}
