//! A walk over both documents: no operation without authentication, and none that shows one partner what is another's.
//! An operation that is added to a document is walked over too, or fails here until it says what to ask it.

use crate::context::{Answer, Context, OPERATOR_KEY, application, id, offer, terms};
use crate::document::{Operation, operations};
use lendpay_domain::operator::Role;
use serde_json::{Value, json};

/// What needs no key.
const OPEN: [&str; 3] = ["Live", "Ready", "Metrics"];

/// The path of an operation with good ids: of things that are there, so that a 401 tells of the key and nothing else.
fn path(operation: &Operation) -> String {
    let mut path = operation.template.clone();
    for name in operation.ids() {
        path = path.replace(&format!("{{{name}}}"), &id(1));
    }
    path
}

async fn filled() -> (Context, String, String) {
    let context = Context::new().await;
    let (a, b) = (context.partner(1).await, context.partner(2).await);
    for n in [1, 2] {
        context.call("PUT", &offer(n, n), &terms()).await.is(201);
    }
    (context, a, b)
}

#[tokio::test]
async fn every_operation_of_the_operator_refuses_a_missing_and_a_wrong_key() {
    let (context, partner_key, _) = filled().await;
    let before = context.get("/operator/events").await.is(200);
    for operation in operations("operator.json") {
        let (method, path) = (operation.method.as_str(), path(&operation));
        if OPEN.contains(&operation.id.as_str()) {
            assert!(!operation.secured, "{}", operation.id);
            assert_eq!(context.send(method, &path, &[], "").await.status, 200, "{}", operation.id);
            continue;
        }
        assert!(operation.secured, "{}", operation.id);
        let key = "x-operator-key";
        let short = &OPERATOR_KEY[1..];
        for headers in [
            &[][..],
            &[(key, "")],
            &[(key, "wrong")],
            &[(key, short)],
            &[(key, &context.key_of(Role::Admin)[1..])],
            &[(key, OPERATOR_KEY), (key, context.key_of(Role::Admin))],
            &[(key, &partner_key)],
            &[(key, OPERATOR_KEY), (key, OPERATOR_KEY)],
            &[("x-service-apikey", OPERATOR_KEY)],
            &[("authorization", "Bearer operator-0123456789abcdef0123456789")],
        ] {
            for body in ["", "{\"name\":1", "{}"] {
                let answer = context.send(method, &path, headers, body).await;
                answer.is_error(401, "InvalidOperatorKey");
            }
        }
    }
    assert_eq!(context.get("/operator/events").await.is(200), before, "nothing was done");
}

/// The least role of each operation, written down a second time.
fn least_role(operation: &Operation) -> Option<Role> {
    Some(match operation.id.as_str() {
        "Live" | "Ready" | "Metrics" => return None,
        "ListPartners" | "GetPartner" | "ListKeys" | "ListApplications" | "GetApplication" | "ListAllOffers"
        | "ListOffers" | "GetOffer" | "ListBuyers" | "GetBuyer" | "ReadBuyerInFull" | "ListEvents" | "GetKey"
        | "ListWebhooks" | "GetWebhook" | "ListWebhookAttempts" => Role::Read,
        "DeclineOffer" | "GetOperation" | "PauseWebhook" | "ResumeWebhook" | "RedeliverWebhook" | "TestWebhook" => {
            Role::Support
        }
        "PutApplication" | "PutOffer" | "PutOffers" | "AdvanceOffer" | "ArchiveOffer" => Role::Lending,
        "PutPartner" | "CreateKey" | "PutKeyExpiry" | "RevokeKey" | "Export" | "CopyLog" | "NoteBackup"
        | "AddWebhook" | "UpdateWebhook" | "RotateWebhookSecret" | "DeleteWebhook" => Role::Admin,
        other => panic!("say here which role may do {other}"),
    })
}

#[tokio::test]
async fn every_operation_of_the_operator_needs_its_role() {
    let (context, ..) = filled().await;
    for operation in operations("operator.json") {
        let (method, path) = (operation.method.as_str(), path(&operation));
        assert_eq!(operation.least_role, least_role(&operation), "{}", operation.id);
        let Some(least) = operation.least_role else { continue };
        let before = context.get("/operator/events").await.is(200);
        for role in Role::ALL.into_iter().filter(|role| *role < least) {
            for (path, body) in [(path.as_str(), json!({})), (&format!("{path}?nmae=1"), Value::Null)] {
                let answer = context.call_as(role, method, path, &body).await;
                let told = answer.is_error(403, "InsufficientRole");
                let message = told["message"].as_str().expect("a text");
                assert!(message.contains(least.name()) && !message.contains(&format!("{role},")), "{message}");
                assert_eq!(told["errors"], json!([format!("The role of this key is {role}.")]), "{}", operation.id);
            }
        }
        assert_eq!(context.get("/operator/events").await.is(200), before, "{}: nothing was done", operation.id);
        for role in Role::ALL.into_iter().filter(|role| *role >= least) {
            let answer = context.call_as(role, method, &path, &Value::Null).await;
            assert!(![401, 403].contains(&answer.status), "{} {role}: {}", operation.id, answer.text());
        }
    }
}

#[tokio::test]
async fn every_operation_of_the_operator_refuses_parameters_that_it_does_not_have() {
    let (context, ..) = filled().await;
    for operation in operations("operator.json").into_iter().filter(|operation| operation.secured) {
        let path = format!("{}?nmae=1&after=&SECRET%20=%FF", path(&operation));
        context.send(&operation.method, &path, &[], "").await.is_error(401, "InvalidOperatorKey");
        let answer = context.call(&operation.method, &path, &json!({})).await;
        let mut wanted = vec!["nmae: is not a known parameter", "A parameter with an unusual name is not known."];
        if !operation.id.starts_with("List") || operation.id == "ListWebhookAttempts" {
            wanted.insert(1, "after: is not a known parameter");
        }
        assert_eq!(answer.is_error(400, "InvalidData")["errors"], json!(wanted), "{}", operation.id);
    }
}

#[tokio::test]
async fn every_operation_of_partners_refuses_a_missing_and_a_wrong_key() {
    let (context, partner_key, _) = filled().await;
    let before = context.get("/operator/events").await.is(200);
    for operation in operations("partner.json") {
        assert!(operation.secured, "{}", operation.id);
        let key = "x-service-apikey";
        for headers in [
            &[][..],
            &[(key, "")],
            &[(key, "lendpay_0000")],
            &[(key, &partner_key[1..])],
            &[(key, OPERATOR_KEY)],
            &[("x-operator-key", OPERATOR_KEY)],
        ] {
            let answer = context.as_partner(&operation.method, &path(&operation), headers, "{}").await;
            assert_eq!(answer.status, 401, "{} {}", operation.id, answer.text());
        }
    }
    assert_eq!(context.get("/operator/events").await.is(200), before, "nothing was done");
}

/// Asks an operation of the partners' document, with A's key, for what is B's; `None` if its address names nothing.
async fn ask_for_the_others(
    context: &Context,
    operation: &Operation,
    key: &str,
    buyer: &str,
) -> Option<(Answer, Value)> {
    let path = operation.template.replace("{applicationId}", &id(2)).replace("{offerId}", &id(2));
    let code = match (operation.id.as_str(), operation.ids().as_slice()) {
        ("AcceptOffer" | "DeclineOffer" | "GetOffer", ["applicationId", "offerId"]) => json!("OfferNotFound"),
        ("ListOffers", ["applicationId"]) => json!("OfferNotFound"),
        ("GetBuyer", ["buyerId"]) => Value::Null,
        // They say of whom they tell by the key alone: `it::reads` and `it::partner_events` look at what they tell.
        ("CreateBuyer" | "ListApplications" | "ListBuyers" | "ListEvents", []) => return None,
        (other, ids) => panic!("say here how one partner would ask {other} {ids:?} for what is another's"),
    };
    let path = path.replace("{buyerId}", buyer);
    Some((context.as_partner(&operation.method, &path, &[("x-service-apikey", key)], "").await, code))
}

#[tokio::test]
async fn no_operation_of_partners_shows_or_changes_what_is_anothers() {
    let (context, a, b) = filled().await;
    let created = context.as_partner("POST", "/payments/buyers", &[("x-service-apikey", &b)], "{}").await.is(201);
    let buyer = created["id"].as_str().expect("an id");
    for operation in operations("partner.json") {
        if let Some((answer, code)) = ask_for_the_others(&context, &operation, &a, buyer).await {
            assert_eq!((answer.status, &answer.json()["errorCode"]), (404, &code), "{}", operation.id);
        }
    }
    assert_eq!(context.get(&offer(2, 2)).await.is(200)["status"], "Offered");
}

/// The operator may see everything; but an address that names a partner or an application leads to what is in it, only.
#[tokio::test]
async fn no_address_of_the_operator_leads_to_what_belongs_elsewhere() {
    let (context, ..) = filled().await;
    let key_of_b =
        context.get(&format!("/operator/partners/{}/keys", id(2))).await.is(200)["items"][0]["keyId"].clone();
    let key_of_b = key_of_b.as_str().expect("an id");
    for operation in operations("operator.json") {
        let wrong = operation.template.replace("{partnerId}", &id(1)).replace("{applicationId}", &id(1));
        let answer = match (operation.id.as_str(), operation.ids().as_slice()) {
            ("RevokeKey", ["partnerId", "keyId"]) => {
                let answer = context.call("DELETE", &wrong.replace("{keyId}", key_of_b), &Value::Null).await;
                (answer, "KeyNotFound")
            }
            ("PutKeyExpiry", ["partnerId", "keyId"]) => {
                let body = json!({ "expiresAt": "2099-12-31T00:00:00Z" });
                (context.call("PUT", &wrong.replace("{keyId}", key_of_b), &body).await, "KeyNotFound")
            }
            ("GetOffer" | "DeclineOffer" | "AdvanceOffer" | "ArchiveOffer", ["applicationId", "offerId"]) => {
                let path = wrong.replace("{offerId}", &id(2));
                (context.call(&operation.method, &path, &Value::Null).await, "OfferNotFound")
            }
            // Makes an offer of its own in the application: the other's of the same id is another offer.
            ("PutOffer", ["applicationId", "offerId"]) | ("PutOffers", []) => continue,
            ("PutApplication", ["applicationId"]) => {
                let answer = context.call("PUT", &application(2), &json!({ "partnerId": id(1) })).await;
                assert_eq!(answer.status, 409);
                continue;
            }
            // One id and what is below it.
            ("PutPartner" | "GetPartner" | "CreateKey" | "ListKeys", ["partnerId"])
            | ("GetApplication" | "ListOffers", ["applicationId"])
            | ("GetBuyer" | "ReadBuyerInFull", ["buyerId"])
            | ("GetKey", ["keyId"])
            | ("GetOperation", ["operationId"])
            | (
                "GetWebhook" | "UpdateWebhook" | "DeleteWebhook" | "PauseWebhook" | "ResumeWebhook" | "RedeliverWebhook"
                | "RotateWebhookSecret" | "TestWebhook" | "ListWebhookAttempts",
                ["endpointId"],
            )
            | ("AddWebhook" | "ListWebhooks", [])
            | ("ListPartners" | "ListApplications" | "ListAllOffers" | "ListBuyers" | "ListEvents", [])
            | ("Export" | "CopyLog" | "NoteBackup" | "Live" | "Ready" | "Metrics", []) => continue,
            (other, ids) => panic!("say here what belongs elsewhere for {other} {ids:?}"),
        };
        answer.0.is_error(404, answer.1);
    }
    let lists = context.get(&format!("{}/offers", application(1))).await.is(200);
    assert_eq!(lists["items"].as_array().map(Vec::len), Some(1));
    assert!(
        context.get(&format!("/operator/partners/{}/keys", id(2))).await.is(200)["items"][0]["revokedAt"].is_null()
    );
    assert_eq!(context.get(&offer(2, 2)).await.is(200)["status"], "Offered");
}
