//! The proof that the comparison works: changes made to the real document, each of which must be judged right.

use anyhow::{Context, ensure};
use lendpay_api::document::Document;
use serde_json::{Value, json};
use xshell::Shell;

use super::breaking_changes;

/// A change of a document, by name.
type Seeded = (&'static str, fn(&mut Value));

const ACCEPT: &str = "/lending/applications/{applicationId}/offers/{offerId}/accept";
const CREATE: &str = "/payments/buyers";

const BREAKING: &[Seeded] = &[
    ("removed field", |it| remove(schema(it, "Offer"), "/properties", "amount")),
    ("removed field of a request", |it| remove(schema(it, "CreateBuyerRequest"), "/properties", "name")),
    ("new required field", |it| {
        schema(it, "CreateBuyerRequest")["required"] = json!(["vatNumber"]);
        schema(it, "CreateBuyerRequest")["properties"]["vatNumber"] = json!({ "type": "string" });
    }),
    ("narrowed enum", |it| drop_value(schema(it, "OfferStatus"), &json!("Archived"))),
    ("widened enum of a response", |it| {
        schema(it, "OfferStatus")["enum"].as_array_mut().into_iter().for_each(|values| values.push(json!("Lost")));
    }),
    ("narrowed enum of a request", |it| drop_value(schema(it, "BuyerType"), &json!(0))),
    ("changed type", |it| schema(it, "Offer")["properties"]["annualPercentageRate"] = json!({ "type": "string" })),
    ("removed response", |it| remove(operation(it, ACCEPT), "/responses", "409")),
    ("removed successful response", |it| remove(operation(it, ACCEPT), "/responses", "200")),
    ("removed header", |it| remove(operation(it, CREATE), "/responses/201/headers", "Location")),
    ("removed auth alternative", |it| {
        let ways = operation(it, ACCEPT)["security"].as_array_mut();
        ways.into_iter().for_each(|ways| ways.retain(|way| way.get("ApiKey").is_none()));
    }),
    ("added scope", |it| each_scopes(operation(it, ACCEPT), |scopes| scopes.push(json!("extra")))),
    ("renamed operationId", |it| operation(it, CREATE)["operationId"] = json!("RegisterBuyer")),
    ("tightened pattern", |it| schema(it, "BankAccount")["properties"]["bic"]["pattern"] = json!("^[A-Z]{8}$")),
    ("nullable removed", |it| remove(schema(it, "CreateBuyerRequest"), "/properties/name", "nullable")),
    ("path renamed", |it| {
        let item = it["paths"][CREATE].take();
        remove(it, "/paths", CREATE);
        it["paths"]["/payments/companies"] = item;
    }),
    ("changed server", |it| it["servers"] = json!([{ "url": "/v2" }])),
    ("an operation's own server", |it| operation(it, CREATE)["servers"] = json!([{ "url": "/v2" }])),
    ("changed security scheme", |it| {
        it["components"]["securitySchemes"]["ApiKey"]["name"] = json!("X-Key");
    }),
];

const HARMLESS: &[Seeded] = &[
    ("new optional field in a response", |it| {
        schema(it, "Offer")["properties"]["currencyCode"] = json!({ "type": "string", "nullable": true });
    }),
    ("removed scope", |it| each_scopes(operation(it, ACCEPT), Vec::clear)),
    ("new operation", |it| {
        it["paths"]["/payments/ping"] =
            json!({ "get": { "operationId": "Ping", "responses": { "204": { "description": "It is there." } } } });
    }),
    ("new example", |it| {
        let content = &mut operation(it, CREATE)["requestBody"]["content"]["application/json"];
        content["examples"]["Empty"] = json!({ "summary": "Nothing known", "value": {} });
    }),
    ("description", |it| {
        schema(it, "Offer")["description"] = json!("Other words.");
        operation(it, CREATE)["description"] = json!("Other words.");
    }),
    ("new optional header", |it| {
        let parameter =
            json!({ "name": "X-Campaign", "in": "header", "required": false, "schema": { "type": "string" } });
        operation(it, CREATE)["parameters"].as_array_mut().into_iter().for_each(|list| list.push(parameter.clone()));
        operation(it, CREATE)["responses"]["201"]["headers"]["X-Campaign"] = json!({ "schema": { "type": "string" } });
    }),
    ("new tag", |it| {
        it["tags"].as_array_mut().into_iter().for_each(|tags| tags.push(json!({ "name": "New" })));
        operation(it, CREATE)["tags"].as_array_mut().into_iter().for_each(|tags| tags.push(json!("New")));
    }),
];

/// Judges every breaking change of the partners' document on its own and all harmless ones together, and fails where
/// that is wrong.
pub fn self_test(shell: &Shell, documents: &[Document]) -> anyhow::Result<()> {
    let partner = documents.iter().find(|document| document.file == "partner.json").context("no partner.json")?;
    let mut base: Value = serde_json::from_str(&partner.text).context("partner.json is no JSON")?;
    // For what tightens one.
    schema(&mut base, "BankAccount")["properties"]["bic"]["pattern"] = json!("^[A-Z0-9]{8,11}$");
    let change = |document: &mut Value, (name, edit): &Seeded| {
        let before = document.clone();
        edit(document);
        ensure!(
            *document != before,
            "the seeded change \"{name}\" changes nothing: the document has no such thing any more"
        );
        Ok(())
    };
    let mut wrong = Vec::new();
    for seeded in BREAKING {
        let mut changed = base.clone();
        change(&mut changed, seeded)?;
        let found = breaking_changes(shell, &base, &changed)?;
        println!("  {:<34}{}", seeded.0, found.first().map_or("NOT FOUND", String::as_str));
        wrong.extend(found.is_empty().then_some(seeded.0));
    }
    ensure!(wrong.is_empty(), "these break, and were not found: {}", wrong.join(", "));
    let mut changed = base.clone();
    HARMLESS.iter().try_for_each(|seeded| change(&mut changed, seeded))?;
    let found = breaking_changes(shell, &base, &changed)?;
    ensure!(found.is_empty(), "these are harmless: {}", found.join(", "));
    println!("All {} seeded changes were judged right.", BREAKING.len() + HARMLESS.len());
    Ok(())
}

fn schema<'d>(document: &'d mut Value, name: &str) -> &'d mut Value {
    &mut document["components"]["schemas"][name]
}

fn operation<'d>(document: &'d mut Value, path: &str) -> &'d mut Value {
    &mut document["paths"][path]["post"]
}

fn remove(value: &mut Value, pointer: &str, member: &str) {
    if let Some(object) = value.pointer_mut(pointer).and_then(Value::as_object_mut) {
        object.shift_remove(member);
    }
}

fn drop_value(schema: &mut Value, value: &Value) {
    if let Some(values) = schema["enum"].as_array_mut() {
        values.retain(|other| other != value);
    }
}

fn each_scopes(operation: &mut Value, edit: fn(&mut Vec<Value>)) {
    let ways = operation["security"].as_array_mut().into_iter().flatten();
    ways.filter_map(|way| way.get_mut("OAuth2").and_then(Value::as_array_mut)).for_each(edit);
}
