//! Partners and applications.

use crate::context::{Context, application, id};
use serde_json::{Value, json};

#[tokio::test]
async fn a_partner_is_created_and_renamed() {
    let context = Context::new().await;
    let path = format!("/operator/partners/{}", id(1));
    let created = context.call("PUT", &path, &json!({ "name": " Ørsted ", "oauthClientId": "client" })).await.is(201);
    let wanted = json!({
        "id": id(1), "name": "Ørsted", "oauthClientId": "client", "createdAt": "2023-11-14T22:13:20.123456Z",
    });
    assert_eq!(created, wanted);
    context.set_time(5);
    let renamed = context.call("PUT", &path, &json!({ "name": "B", "oauthClientId": null })).await.is(200);
    assert_eq!((&renamed["name"], &renamed["oauthClientId"]), (&json!("B"), &Value::Null));
    assert_eq!(renamed["createdAt"], wanted["createdAt"]);
}

#[tokio::test]
async fn a_partner_and_an_application_are_read_by_their_ids() {
    let context = Context::new().await;
    let body = json!({ "name": "Northwind", "oauthClientId": "client" });
    let path = format!("/operator/partners/{}", id(1));
    let partner = context.call("PUT", &path, &body).await.is(201);
    assert_eq!(context.get(&path).await.is(200), partner);
    context.call("PUT", &application(9), &json!({ "partnerId": id(1) })).await.is(201);
    assert_eq!(context.get(&application(9)).await.is(200), json!({ "id": id(9), "partnerId": id(1) }));
    // Before the key is judged, nobody learns what there is.
    for known in [&path, &application(9)] {
        context.send("GET", known, &[("x-operator-key", "wrong")], "").await.is_error(401, "InvalidOperatorKey");
    }
    for unknown in [id(8), "x".to_owned(), "%FF".to_owned()] {
        context.get(&format!("/operator/partners/{unknown}")).await.is_error(404, "PartnerNotFound");
        context.get(&format!("/operator/applications/{unknown}")).await.is_error(404, "ApplicationNotFound");
    }
}

#[tokio::test]
async fn a_client_id_has_one_partner() {
    let context = Context::new().await;
    let put = async |n| {
        let body = json!({ "name": "x", "oauthClientId": "client" });
        context.call("PUT", &format!("/operator/partners/{}", id(n)), &body).await
    };
    put(1).await.is(201);
    put(2).await.is_error(409, "ClientIdTaken");
    put(1).await.is(200);
}

#[tokio::test]
async fn an_application_has_one_owner_for_good() {
    let context = Context::new().await;
    let put = async |partner: u128| context.call("PUT", &application(9), &json!({ "partnerId": id(partner) })).await;
    put(1).await.is_error(404, "PartnerNotFound");
    context.partner(1).await;
    context.partner(2).await;
    let wanted = json!({ "id": id(9), "partnerId": id(1) });
    assert_eq!(put(1).await.is(201), wanted);
    assert_eq!(put(1).await.is(200), wanted);
    put(2).await.is_error(409, "ApplicationOwned");
}

#[tokio::test]
async fn an_id_that_is_to_be_given_must_be_a_uuid() {
    let context = Context::new().await;
    for bad in ["x", "%FF", "11110000000040008000000000000001", "%7B11110000-0000-4000-8000-000000000001%7D"] {
        let put = context.call("PUT", &format!("/operator/partners/{bad}"), &json!({ "name": "x" })).await;
        assert_eq!(put.is_error(400, "InvalidData")["errors"], json!(["partnerId: must be a UUID of 36 characters"]));
        let body = json!({ "partnerId": id(1) });
        let put = context.call("PUT", &format!("/operator/applications/{bad}"), &body).await;
        put.is_error(400, "InvalidData");
    }
}
