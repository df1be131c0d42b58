//! What several operations have in common stands once, as a component: examples, headers, parameters and responses.
//!
//! [`share`] moves it there and [`in_place`] takes it back: nothing is lost, and nothing is said otherwise.

use poem::http::StatusCode;
use serde_json::{Map, Value, json};

/// The kinds of components, each before those that hold it: what holds equal things is equal once they are shared.
const KINDS: [&str; 4] = ["examples", "headers", "parameters", "responses"];

/// Something that stands in a document, with the names that suit it, the best one first.
struct Place<'d> {
    names: Vec<String>,
    value: &'d mut Value,
}

/// Makes a component of everything that stands in more than one place.
pub(super) fn share(document: &mut Value) {
    for kind in KINDS {
        let mut seen: Vec<(Value, Vec<String>, usize)> = Vec::new();
        for Place { names, value } in places(document, kind) {
            match seen.iter_mut().find(|(known, ..)| known == value) {
                Some((.., count)) => *count += 1,
                None => seen.push((value.clone(), names, 1)),
            }
        }
        let mut components = Map::new();
        for (value, names, _) in seen.into_iter().filter(|(.., count)| *count > 1) {
            let free = |name: &String| !components.contains_key(name);
            let last = names.last().expect("everything has a name").clone();
            let numbered = (2..).map(|number| format!("{last}{number}"));
            let name = names.into_iter().chain(numbered).find(free).expect("there is always a greater number");
            components.insert(name, value);
        }
        for Place { value, .. } in places(document, kind) {
            if let Some((name, _)) = components.iter().find(|(_, known)| *known == value) {
                *value = json!({ "$ref": format!("#/components/{kind}/{name}") });
            }
        }
        components.sort_keys();
        if !components.is_empty() {
            document["components"][kind] = components.into();
        }
    }
}

/// The document with everything where it is used, but for schemas and ways to authenticate, which have names of their
/// own.
pub fn in_place(document: &Value) -> Value {
    let mut whole = document.clone();
    resolve(&mut whole["paths"], &document["components"]);
    if let Some(components) = whole["components"].as_object_mut() {
        KINDS.iter().for_each(|kind| drop(components.shift_remove(*kind)));
    }
    whole
}

fn resolve(value: &mut Value, components: &Value) {
    let referred = value["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/"));
    let referred = referred.and_then(|name| name.split_once('/')).filter(|(kind, _)| KINDS.contains(kind));
    if let Some((kind, name)) = referred {
        *value = components[kind][name].clone();
    }
    match value {
        Value::Object(object) => object.values_mut().for_each(|value| resolve(value, components)),
        Value::Array(items) => items.iter_mut().for_each(|value| resolve(value, components)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Everything of a kind, in the order of the document.
fn places<'d>(document: &'d mut Value, kind: &str) -> Vec<Place<'d>> {
    let mut found = Vec::new();
    for operation in super::operations_of(document) {
        let id = operation["operationId"].as_str().expect("an operation has an id").to_owned();
        for (member, value) in operation.as_object_mut().expect("an operation is an object") {
            match (member.as_str(), kind) {
                ("parameters", "parameters") => {
                    for value in value.as_array_mut().into_iter().flatten() {
                        let name = value["name"].as_str().expect("a parameter has a name").to_owned();
                        found.push(Place { names: vec![name.clone(), format!("{id}-{name}")], value });
                    }
                }
                ("requestBody", "examples") => examples(value, &id, &mut found),
                ("responses", _) => {
                    for (status, response) in value.as_object_mut().into_iter().flatten() {
                        of_response(status, response, &id, kind, &mut found);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

fn of_response<'d>(status: &str, response: &'d mut Value, id: &str, kind: &str, found: &mut Vec<Place<'d>>) {
    let area = area(response);
    match kind {
        "responses" => {
            let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
            let phrase = status.and_then(|status| status.canonical_reason());
            let phrase = phrase.expect("a response is of a status that has a name").replace(' ', "");
            found.push(Place { names: vec![format!("{area}{phrase}"), format!("{id}{phrase}")], value: response });
        }
        "headers" => {
            for (name, value) in response["headers"].as_object_mut().into_iter().flatten() {
                found.push(Place { names: vec![name.clone(), format!("{id}-{name}")], value });
            }
        }
        "examples" => examples(response, &area, found),
        _ => {}
    }
}

fn examples<'d>(body: &'d mut Value, owner: &str, found: &mut Vec<Place<'d>>) {
    // Indexing would make a content where there is none.
    let content = body.get_mut("content").and_then(Value::as_object_mut);
    for media in content.into_iter().flat_map(Map::values_mut) {
        for (name, value) in media.get_mut("examples").and_then(Value::as_object_mut).into_iter().flatten() {
            found.push(Place { names: vec![format!("{owner}{name}")], value });
        }
    }
}

/// What the body of a response is about: `Lending` of a LendingError, `Offer` of an Offer.
fn area(response: &Value) -> String {
    let media = response["content"].as_object().and_then(|content| content.values().next());
    let reference = media.and_then(|media| media["schema"]["$ref"].as_str()).unwrap_or_default();
    let name = reference.rsplit('/').next().unwrap_or_default();
    name.strip_suffix("Error").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(id: &str, text: &str) -> Value {
        let header = json!({ "description": "An id.", "schema": { "type": "string" } });
        let examples = json!({ "None": { "summary": "None", "value": {} }, "Other": { "summary": text, "value": {} } });
        let content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/AreaError" }, "examples": examples } });
        let response = json!({ "description": "It failed.", "headers": { "X-Id": header }, "content": content });
        json!({ "operationId": id, "parameters": [{ "name": "limit", "in": "query" }], "responses": { "404": response } })
    }

    #[test]
    fn what_stands_twice_is_shared_and_can_be_taken_back() {
        let paths = json!({ "/a": { "get": operation("A", "x") }, "/b": { "get": operation("B", "x") }, "/c": { "get": operation("C", "y") } });
        let whole = json!({ "paths": paths, "components": { "schemas": {} } });
        let mut shared = whole.clone();
        share(&mut shared);
        let components = &shared["components"];
        let names =
            |kind: &str| components[kind].as_object().map_or(vec![], |all| all.keys().map(String::as_str).collect());
        assert_eq!(names("examples"), ["AreaNone", "AreaOther"]);
        assert_eq!(names("headers"), ["X-Id"]);
        assert_eq!(names("parameters"), ["limit"]);
        assert_eq!(names("responses"), ["AreaNotFound"]);
        let reference = json!({ "$ref": "#/components/responses/AreaNotFound" });
        assert_eq!(shared["paths"]["/a"]["get"]["responses"]["404"], reference);
        assert!(shared["paths"]["/c"]["get"]["responses"]["404"]["description"].is_string());
        assert_eq!(in_place(&shared), whole);
    }

    #[test]
    fn things_of_one_name_that_differ_have_names_of_their_own() {
        let with = |id: &str, text: &str| json!({ "get": { "operationId": id, "responses": {}, "parameters": [{ "name": "after", "description": text }] } });
        let paths = json!({ "/a": with("A", "x"), "/b": with("B", "x"), "/c": with("C", "y"), "/d": with("D", "y") });
        let mut document = json!({ "paths": paths, "components": {} });
        share(&mut document);
        assert_eq!(document["components"]["parameters"]["after"]["description"], "x");
        assert_eq!(document["components"]["parameters"]["C-after"]["description"], "y");
    }
}
