//! Contract 1.3, 2.3: creating a buyer.

use crate::context::check::time;
use crate::context::samples::{IBAN, buyer, start};
use crate::context::{Answer, BUYERS, Context};
use lendpay_domain::query::Scope;
use lendpay_domain::event::{Actor, Subject};
use lendpay_domain::store::Queries as _;
use lendpay_domain::{BuyerId, buyer};
use serde_json::{Value, json};

/// The buyer that an answer tells of, as it is kept.
async fn kept(context: &Context, answer: &Answer) -> buyer::Buyer {
    assert_eq!(answer.status, 201, "{answer:?}");
    let id = BuyerId::parse(answer.json()["id"].as_str().expect("an id")).expect("a UUID");
    context.store().find_buyer(Scope::All, id).await.expect("the store works").expect("the buyer is there")
}

#[tokio::test]
async fn creates_a_buyer_and_answers_201_with_the_record_bank_details_masked() {
    let context = Context::new().await;
    let answer = context.partner_a().create(&buyer()).await;
    assert_eq!(answer.status, 201);
    let body = answer.json();
    let wanted = json!({
        "id": body["id"],
        "name": "Northwind Bicycles Ltd",
        "registrationNumber": "09876543",
        "countryCode": "GB",
        "type": 0,
        "bankAccount": {
            "currencyCode": "GBP",
            "accountName": "Northwind Bicycles Ltd",
            "sortCode": "202015",
            "accountNumber": "****5555",
            "bic": "BUKBGB22",
            "accountType": "Current",
            "iban": "******************5555",
        },
        "createdAt": "2026-03-01T12:00:00.123456Z",
    });
    assert_eq!(body, wanted);
    assert_eq!(time(&body["createdAt"]), start());
}

#[tokio::test]
async fn location_is_the_address_of_the_buyer() {
    let context = Context::new().await;
    let answer = context.partner_a().create(&buyer()).await;
    let id = answer.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(answer.header("location"), Some(&*format!("/payments/buyers/{id}")));
    assert_eq!(answer.header("idempotency-replayed"), None);
}

#[tokio::test]
async fn the_buyer_is_kept_whole_with_its_event() {
    let context = Context::new().await;
    let answer = context.partner_a().create(&buyer()).await;
    let kept = kept(&context, &answer).await;
    assert_eq!((kept.partner, kept.created_at), (context.a().id, start()));
    assert_eq!(kept.description.name.as_deref(), Some("Northwind Bicycles Ltd"));
    let account = kept.description.bank_account.expect("a bank account");
    assert_eq!((account.iban.as_deref(), account.account_number.as_deref()), (Some(IBAN), Some("55555555")));
    let events = context.events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].subject, Subject::Buyer(kept.id));
    assert_eq!(events[0].subject.event_type(), "buyer.created");
    assert_eq!((events[0].partner, events[0].actor), (Some(context.a().id), Actor::Key(context.a().key_id)));
    assert_eq!(events[0].operation.to_string(), answer.operation());
}

#[tokio::test]
async fn no_field_is_required_and_nulls_are_present() {
    let context = Context::new().await;
    let answer = context.partner_a().create(&json!({})).await;
    assert_eq!(answer.status, 201);
    let body = answer.json();
    let wanted = json!({
        "id": body["id"],
        "name": null,
        "registrationNumber": null,
        "countryCode": null,
        "type": null,
        "bankAccount": null,
        "createdAt": "2026-03-01T12:00:00.123456Z",
    });
    assert_eq!(body, wanted);
}

#[tokio::test]
async fn null_means_absent_everywhere_and_bank_account_null_counts_as_absent() {
    let context = Context::new().await;
    let nulls = json!({
        "name": null, "registrationNumber": null, "countryCode": null, "type": null, "bankAccount": null,
    });
    let empty = kept(&context, &context.partner_a().create(&json!({})).await).await.description;
    assert_eq!(kept(&context, &context.partner_a().create(&nulls).await).await.description, empty);
}

#[tokio::test]
async fn nulls_are_present_inside_a_bank_account() {
    let context = Context::new().await;
    let given = json!({ "bankAccount": { "iban": null, "bic": null, "currencyCode": "EUR" } });
    let body = context.partner_a().create(&given).await.json();
    let wanted = json!({
        "currencyCode": "EUR", "accountName": null, "sortCode": null, "accountNumber": null, "bic": null,
        "accountType": null, "iban": null,
    });
    assert_eq!(body["bankAccount"], wanted);
    let body = context.partner_a().create(&json!({ "bankAccount": {} })).await.json();
    assert!(body["bankAccount"].as_object().is_some_and(|account| account.values().all(Value::is_null)), "{body}");
}

#[tokio::test]
async fn only_the_last_four_characters_of_account_number_and_iban_are_shown() {
    let context = Context::new().await;
    for (number, shown) in [("12345678", "****5678"), ("12345", "*2345"), ("1234", "1234"), ("7", "7")] {
        let body = context.partner_a().create(&json!({ "bankAccount": { "accountNumber": number } })).await.json();
        assert_eq!(body["bankAccount"]["accountNumber"], shown);
    }
    let given = json!({ "bankAccount": { "iban": "DE89 3704 0044 0532 0130 00" } });
    let body = context.partner_a().create(&given).await.json();
    assert_eq!(body["bankAccount"]["iban"], "******************3000");
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let context = Context::new().await;
    let mut given = buyer();
    given["vatNumber"] = json!({ "deep": [1, 2.5e10, true, null, "x"] });
    given["id"] = "3e7b118e-bb4c-4e4b-981d-a62526cbbdce".into();
    given["createdAt"] = 7.into();
    given["bankAccount"]["swift"] = json!([]);
    given["Name"] = 1.into();
    given["BANKACCOUNT"] = 1.into();
    let answer = context.partner_a().create(&given).await;
    assert_eq!(answer.status, 201);
    assert_ne!(answer.json()["id"], given["id"]);
    let plain = kept(&context, &context.partner_a().create(&buyer()).await).await;
    assert_eq!(kept(&context, &answer).await.description, plain.description);
}

#[tokio::test]
async fn content_type_is_optional() {
    let context = Context::new().await;
    let answer = context.partner_a().post(BUYERS).body(buyer().to_string()).send().await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.json()["bankAccount"]["bic"], "BUKBGB22");
}

#[tokio::test]
async fn without_an_idempotency_key_every_creation_is_a_buyer_of_its_own() {
    let context = Context::new().await;
    let (first, second) =
        (context.partner_a().create(&buyer()).await.json(), context.partner_a().create(&buyer()).await.json());
    assert_ne!(first["id"], second["id"]);
    assert_eq!(context.event_types().await, ["buyer.created", "buyer.created"]);
}
