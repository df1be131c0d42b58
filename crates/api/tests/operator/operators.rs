//! Operators with names and roles (contract 2.14): what they do is told, to operators with their names.

use crate::context::{Context, application, id, offer, terms};
use lendpay_domain::operator::Role;
use serde_json::{Value, json};

async fn events(context: &Context) -> Vec<Value> {
    context.get("/operator/events").await.is(200)["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn what_an_operator_does_is_told_once_and_with_its_name() {
    let context = Context::new().await;
    let partner = format!("/operator/partners/{}", id(1));
    let name = |name: &str| json!({ "name": name, "oauthClientId": "client" });
    context.call_as(Role::Admin, "PUT", &partner, &name("Northwind")).await.is(201);
    context.set_time(1);
    context.call_as(Role::Admin, "PUT", &partner, &name("Northwind")).await.is(200);
    context.call_as(Role::Admin, "PUT", &partner, &name("Southwind")).await.is(200);
    let owner = json!({ "partnerId": id(1) });
    context.call_as(Role::Lending, "PUT", &application(1), &owner).await.is(201);
    context.call_as(Role::Lending, "PUT", &application(1), &owner).await.is(200);
    let key = json!({ "name": "a key", "areas": ["lending"] });
    let keys = format!("{partner}/keys");
    let made = context.call_as(Role::Admin, "POST", &keys, &key).await.is(201);
    let used = context.call("POST", &keys, &key).await.is(201);
    let revoke = format!("{keys}/{}", made["keyId"].as_str().expect("an id"));
    for _ in 0..2 {
        context.call_as(Role::Admin, "DELETE", &revoke, &Value::Null).await.is(204);
    }
    context.call_as(Role::Lending, "PUT", &offer(1, 1), &terms()).await.is(201);
    context.call_as(Role::Support, "POST", &format!("{}/decline", offer(1, 1)), &Value::Null).await.is(200);
    // What is refused is no event.
    context
        .call_as(Role::Admin, "PUT", &application(1), &json!({ "partnerId": id(2) }))
        .await
        .is_error(404, "PartnerNotFound");
    context
        .call_as(Role::Admin, "POST", &format!("/operator/partners/{}/keys", id(9)), &key)
        .await
        .is_error(404, "PartnerNotFound");
    context
        .call_as(Role::Admin, "DELETE", &format!("{keys}/{}", id(9)), &Value::Null)
        .await
        .is_error(404, "KeyNotFound");

    let found = events(&context).await;
    let told: Vec<_> = found.iter().map(|event| json!([event["type"], event["actor"], event["keyId"]])).collect();
    let wanted = [
        json!(["partner.created", "operator:admin", null]),
        json!(["partner.updated", "operator:admin", null]),
        json!(["application.created", "operator:lending", null]),
        json!(["key.created", "operator:admin", made["keyId"]]),
        json!(["key.created", "operator", used["keyId"]]),
        json!(["key.revoked", "operator:admin", made["keyId"]]),
        json!(["offer.created", "operator:lending", null]),
        json!(["offer.declined", "operator:support", null]),
    ];
    assert_eq!(told, wanted);
    assert!(found.iter().all(|event| event["partnerId"] == json!(id(1))));
    let applications: Vec<_> = found.iter().map(|event| event["applicationId"].as_str()).collect();
    let (none, owned) = (None, id(1));
    let owned = Some(owned.as_str());
    assert_eq!(applications, [none, none, owned, none, none, none, owned, owned]);
    let text = json!(found).to_string();
    for secret in [&made["key"], &used["key"]] {
        let secret = secret.as_str().expect("a key");
        assert!(!text.contains(secret) && !text.contains(&secret["lendpay_".len()..]), "{text}");
    }
    assert!(!text.contains("Northwind") && !text.contains("client"), "identifiers only: {text}");

    // The partner learns of its offers, and that it was the operator.
    let headers = [("x-service-apikey", used["key"].as_str().expect("a key"))];
    let own = context.as_partner("GET", "/events", &headers, "").await.is(200);
    let seen: Vec<_> =
        own["items"].as_array().expect("a list").iter().map(|e| json!([e["type"], e["actor"]])).collect();
    assert_eq!(seen, [json!(["offer.created", "operator"]), json!(["offer.declined", "operator"])]);
    assert!(!own.to_string().contains("operator:"), "{own}");
}

#[tokio::test]
async fn a_role_is_judged_after_the_key_and_before_everything_else() {
    let context = Context::new().await;
    context.partner(1).await;
    let before = events(&context).await;
    let keys = format!("/operator/partners/{}/keys", id(1));
    let odd = format!("/operator/partners/{}/keys?nmae=1", id(9));
    for (path, body) in [(&keys, json!({ "name": 1 })), (&odd, json!([]))] {
        let refused = context.call_as(Role::Lending, "POST", path, &body).await.is_error(403, "InsufficientRole");
        assert_eq!(refused["message"], "This needs an operator with the role admin.");
        context.call_as(Role::Admin, "POST", path, &body).await.is_error(400, "InvalidData");
    }
    context
        .call_as(Role::Read, "POST", &format!("{}/decline", offer(9, 9)), &Value::Null)
        .await
        .is_error(403, "InsufficientRole");
    context
        .call_as(Role::Support, "POST", &format!("{}/decline", offer(9, 9)), &Value::Null)
        .await
        .is_error(404, "OfferNotFound");
    assert_eq!(events(&context).await, before);
}
