//! What breaks a client although oasdiff only informs of it: ways to authenticate, scopes, operation ids, servers,
//! responses and values of an enumeration.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// One way to authenticate: the schemes that are needed together, each with its scopes.
type Alternative = BTreeMap<String, BTreeSet<String>>;

/// Every change from `old` to `new` that breaks a client.
pub fn breaking(old: &Value, new: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    for (path, method, operation) in operations(old) {
        let place = format!("{} {path}", method.to_uppercase());
        // A path or method that is gone is oasdiff's to tell.
        let Some(now) = new["paths"][path].get(method) else { continue };
        let (was, is) = (operation["operationId"].as_str(), now["operationId"].as_str());
        if let Some(was) = was
            && Some(was) != is
        {
            let is = is.unwrap_or("nothing");
            changes.push(format!("{place}: the operationId {was} has become {is}; generated clients lose the name"));
        }
        changes.extend(authentication(old, operation, new, now).into_iter().map(|change| format!("{place}: {change}")));
        for status in members(&operation["responses"]).map(|(status, _)| status) {
            if now["responses"].get(status).is_none() {
                changes.push(format!("{place}: the response {status} is gone"));
            }
        }
        for server in servers(old, path, operation).difference(&servers(new, path, now)) {
            changes.push(format!("{place}: the server {server} is gone"));
        }
    }
    for (name, scheme) in members(&old["components"]["securitySchemes"]) {
        let now = &new["components"]["securitySchemes"][name];
        // One that is gone matters where an operation offered it.
        for part in ["type", "in", "name", "scheme", "openIdConnectUrl"] {
            if !now.is_null() && scheme[part] != now[part] {
                changes.push(format!("the {part} of the security scheme {name} has changed"));
            }
        }
    }
    for (name, schema) in members(&old["components"]["schemas"]) {
        lost_values(name, schema, &new["components"]["schemas"][name], &mut changes);
    }
    changes
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    members(&document["paths"]).flat_map(|(path, item)| {
        let methods = members(item).filter(|(method, _)| METHODS.contains(&method.as_str()));
        methods.map(move |(method, operation)| (path, method, operation))
    })
}

/// The ways to authenticate: those of the operation, else those of the document.
fn alternatives(document: &Value, operation: &Value) -> Vec<Alternative> {
    let security = operation.get("security").or_else(|| document.get("security")).and_then(Value::as_array);
    let Some(security) = security.filter(|security| !security.is_empty()) else {
        // None is needed.
        return vec![Alternative::new()];
    };
    let scopes = |scopes: &Value| {
        scopes.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let alternative = |requirement| members(requirement).map(|(name, list)| (name.clone(), scopes(list))).collect();
    security.iter().map(alternative).collect()
}

/// A way that was enough must be enough: for each of them there is one now that asks for no other scheme and no other scope.
fn authentication(old: &Value, was: &Value, new: &Value, is: &Value) -> Vec<String> {
    let now = alternatives(new, is);
    let mut changes = Vec::new();
    for way in alternatives(old, was) {
        let same_schemes = |other: &&Alternative| other.keys().all(|scheme| way.contains_key(scheme));
        let enough = |other: &Alternative| other.iter().all(|(scheme, scopes)| scopes.is_subset(&way[scheme]));
        let name = way.keys().map(String::as_str).collect::<Vec<_>>().join(" with ");
        let name = if name.is_empty() { "to call without credentials" } else { &name };
        if !now.iter().any(|other| same_schemes(&other)) {
            changes.push(format!("the way to authenticate {name} is gone"));
        } else if !now.iter().filter(same_schemes).any(enough) {
            changes.push(format!("{name} needs a scope that it did not need"));
        }
    }
    changes
}

fn servers(document: &Value, path: &str, operation: &Value) -> BTreeSet<String> {
    let lists = [operation, &document["paths"][path], document].map(|holder| holder["servers"].as_array());
    let urls = lists.into_iter().flatten().next().into_iter().flatten().filter_map(|server| server["url"].as_str());
    urls.map(str::to_owned).collect()
}

/// Values that an enumeration has lost, anywhere in a schema: even where only we send them, a client that names them no
/// longer compiles.
fn lost_values(name: &str, old: &Value, new: &Value, changes: &mut Vec<String>) {
    if let (Some(had), Some(has)) = (old["enum"].as_array(), new["enum"].as_array()) {
        for value in had.iter().filter(|value| !has.contains(value)) {
            changes.push(format!("{name} has lost the value {value}"));
        }
    }
    for (property, schema) in members(&old["properties"]) {
        lost_values(&format!("{name}.{property}"), schema, &new["properties"][property], changes);
    }
    if let Some(items) = old.get("items") {
        lost_values(&format!("{name}[]"), items, &new["items"], changes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(security: Value) -> Value {
        json!({
            "servers": [{ "url": "/" }],
            "paths": { "/a": { "post": { "operationId": "A", "security": security, "responses": { "200": {} } } } },
            "components": { "securitySchemes": { "Key": { "type": "apiKey", "in": "header", "name": "X-Key" } } },
        })
    }

    #[test]
    fn a_way_to_authenticate_that_was_enough_must_stay_enough() {
        let both = json!([{ "Key": [] }, { "OAuth2": ["read"] }]);
        let cases = [
            (both.clone(), both.clone(), 0),
            (both.clone(), json!([{ "OAuth2": ["read"] }]), 1),
            (both.clone(), json!([{ "Key": [] }, { "OAuth2": ["read", "write"] }]), 1),
            (both.clone(), json!([{ "Key": [] }, { "OAuth2": ["write"] }]), 1),
            (both.clone(), json!([{ "Key": [] }, { "OAuth2": [] }]), 0),
            (both.clone(), json!([]), 0),
            (both.clone(), json!([{ "Key": [], "OAuth2": ["read"] }]), 2),
            (json!([{ "Key": [] }]), both.clone(), 0),
            (json!([]), json!([{ "Key": [] }]), 1),
        ];
        for (old, new, count) in cases {
            let changes = breaking(&document(old.clone()), &document(new.clone()));
            assert_eq!(changes.len(), count, "{old} → {new}: {changes:?}");
        }
    }

    #[test]
    fn servers_schemes_ids_and_responses_must_stay() {
        let old = document(json!([{ "Key": [] }]));
        let edits: [(&str, Value); 5] = [
            ("/servers/0/url", json!("https://other.example")),
            ("/components/securitySchemes/Key/name", json!("X-Other")),
            ("/paths/~1a/post/operationId", json!("B")),
            ("/paths/~1a/post/responses", json!({ "201": {} })),
            ("/paths/~1a/post/servers", json!([{ "url": "/elsewhere" }])),
        ];
        for (pointer, value) in edits {
            let mut new = old.clone();
            match new.pointer_mut(pointer) {
                Some(place) => *place = value,
                None => new["paths"]["/a"]["post"]["servers"] = value,
            }
            assert_eq!(breaking(&old, &new).len(), 1, "{pointer}: {:?}", breaking(&old, &new));
        }
    }
}
