//! Every row of contract 1.2–1.4 in the document, with type, format, nullability and names.

use crate::context::document;
use serde_json::{Value, json};

/// A row of a table of the contract: field, type, format, nullable.
type Row<'r> = (&'r str, &'r str, Option<&'r str>, bool);

/// What the document says of a field, references followed.
fn field(schema: &Value, name: &str) -> (String, Option<String>, bool) {
    let property = &schema["properties"][name];
    let field = document().resolved(property);
    let text = |key: &str| field[key].as_str().map(str::to_owned);
    (text("type").unwrap_or_default(), text("format"), property["nullable"] == true)
}

/// Sees to it that a schema has exactly these rows.
fn has_rows(schema: &Value, rows: &[Row<'_>]) {
    assert_eq!(schema["type"], "object");
    let names: Vec<_> = schema["properties"].as_object().expect("properties").keys().collect();
    let mut wanted: Vec<_> = rows.iter().map(|row| row.0).collect();
    wanted.sort_unstable();
    let mut found = names.clone();
    found.sort();
    assert_eq!(found, wanted);
    for (name, kind, format, nullable) in rows {
        let wanted = ((*kind).to_owned(), format.map(str::to_owned), *nullable);
        assert_eq!(field(schema, name), wanted, "{name}");
    }
}

/// The names of an enumeration, without null.
fn names(schema: &Value, field: &str) -> Vec<Value> {
    let values = document().resolved(&schema["properties"][field])["enum"].as_array().expect("an enumeration");
    values.iter().filter(|value| !value.is_null()).cloned().collect()
}

fn required(schema: &Value) -> Vec<&str> {
    let fields = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut fields: Vec<_> = fields.iter().map(|field| field.as_str().expect("a name")).collect();
    fields.sort_unstable();
    fields
}

/// The schema of a request's or response's body.
fn body(content: &'static Value) -> &'static Value {
    document().resolved(&content["content"]["application/json"]["schema"])
}

fn offer() -> &'static Value {
    body(&document().raw("AcceptOffer")["responses"]["200"])
}

fn payload() -> &'static Value {
    body(&document().raw("CreateBuyer")["requestBody"])
}

#[test]
fn the_document_is_openapi_3_0_3_at_any_host() {
    let document = &document().value;
    assert_eq!(document["openapi"], "3.0.3");
    let servers = document["servers"].as_array().expect("servers");
    assert_eq!(servers.iter().map(|server| &server["url"]).collect::<Vec<_>>(), ["/"]);
    let version: Vec<_> = document["info"]["version"].as_str().expect("a version").split('.').collect();
    assert!(version.len() == 3 && version.iter().all(|part| part.parse::<u32>().is_ok()), "semantic: {version:?}");
}

#[test]
fn every_row_of_the_contract_is_there_and_nothing_else() {
    let paths = document().value["paths"].as_object().expect("paths");
    let mut found: Vec<_> = paths
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("a path item");
            methods
                .iter()
                .map(move |(method, operation)| (path.as_str(), method.as_str(), operation["operationId"].clone()))
        })
        .collect();
    found.sort_by_key(|(path, method, _)| (*path, *method));
    let offers = "/lending/applications/{applicationId}/offers";
    let offer = format!("{offers}/{{offerId}}");
    let (accept, decline) = (format!("{offer}/accept"), format!("{offer}/decline"));
    let wanted = [
        ("/events", "get", "ListEvents"),
        ("/lending/applications", "get", "ListApplications"),
        (offers, "get", "ListOffers"),
        (&offer, "get", "GetOffer"),
        (&accept, "post", "AcceptOffer"),
        (&decline, "post", "DeclineOffer"),
        ("/payments/buyers", "get", "ListBuyers"),
        ("/payments/buyers", "post", "CreateBuyer"),
        ("/payments/buyers/{buyerId}", "get", "GetBuyer"),
    ];
    assert_eq!(found, wanted.map(|(path, method, id)| (path, method, json!(id))));
}

/// Every operationId.
fn operations() -> Vec<&'static str> {
    let mut ids: Vec<_> = document().declared().map(|(id, _)| id).collect();
    ids.dedup();
    ids
}

#[test]
fn every_operation_takes_an_api_key_in_x_service_api_key() {
    for id in operations() {
        let schemes = document().raw(id)["security"].as_array().expect("security");
        assert!(schemes.contains(&json!({ "ApiKey": [] })), "{id}: the key alone suffices: {schemes:?}");
    }
    let scheme = &document().value["components"]["securitySchemes"]["ApiKey"];
    assert_eq!(
        (&scheme["type"], &scheme["in"], &scheme["name"]),
        (&json!("apiKey"), &json!("header"), &json!("X-Service-ApiKey"))
    );
}

#[test]
fn accept_takes_two_uuids_in_the_path() {
    let parameters = document().raw("AcceptOffer")["parameters"].as_array().expect("parameters");
    let found: Vec<_> = parameters
        .iter()
        .map(|p| (&p["name"], &p["in"], &p["required"], &p["schema"]["type"], &p["schema"]["format"]))
        .collect();
    let (place, yes, kind, format) = (json!("path"), json!(true), json!("string"), json!("uuid"));
    let row = |name| (name, &place, &yes, &kind, &format);
    assert_eq!(found, [row(&json!("applicationId")), row(&json!("offerId"))]);
}

#[test]
fn accept_takes_a_body_of_unknown_shape_or_none() {
    let request = &document().raw("AcceptOffer")["requestBody"];
    assert_ne!(request["required"], true);
    let schema = body(request);
    for value in [json!({}), Value::Null, json!([1]), json!("x"), json!({ "a": 1 })] {
        assert!(document().validator(schema).is_valid(&value), "{value}");
    }
}

#[test]
fn reads_answer_what_the_two_operations_of_part_1_answer() {
    let schema = |id: &str, status: &str| {
        &document().raw(id)["responses"][status]["content"]["application/json"]["schema"]
    };
    let items = |id: &str| {
        let list = document().resolved(schema(id, "200"));
        assert_eq!(required(list), ["items", "next"]);
        assert_eq!(field(list, "next"), ("string".to_owned(), None, true));
        &list["properties"]["items"]["items"]
    };
    for id in ["DeclineOffer", "GetOffer"] {
        assert_eq!(schema(id, "200"), schema("AcceptOffer", "200"), "{id}");
    }
    assert_eq!(items("ListOffers"), schema("AcceptOffer", "200"));
    assert_eq!(schema("GetBuyer", "200"), schema("CreateBuyer", "201"));
    assert_eq!(items("ListBuyers"), schema("CreateBuyer", "201"));
}

#[test]
fn offer_has_the_fields_of_the_contract() {
    has_rows(
        offer(),
        &[
            ("id", "string", Some("uuid"), false),
            ("status", "string", None, false),
            ("details", "string", None, false),
            ("fundingType", "string", None, false),
            ("offerType", "string", None, false),
            ("annualPercentageRate", "number", Some("double"), false),
            ("interestRate", "number", Some("double"), true),
            ("expiryAt", "string", Some("date-time"), true),
            ("redirectUrl", "string", Some("uri"), true),
            ("amount", "number", Some("double"), true),
            ("duration", "string", None, true),
            ("statusChangedAt", "string", Some("date-time"), false),
        ],
    );
}

#[test]
fn offer_requires_what_the_contract_requires() {
    let wanted = ["annualPercentageRate", "details", "fundingType", "id", "offerType", "status", "statusChangedAt"];
    assert_eq!(required(offer()), wanted);
}

#[test]
fn offer_enumerations_have_the_names_of_the_contract() {
    let statuses = ["Offered", "Expired", "CustomerAccepted", "CustomerDeclined", "Advanced", "Archived"];
    assert_eq!(names(offer(), "status"), statuses);
    assert_eq!(names(offer(), "fundingType"), ["TermLoan"]);
    assert_eq!(names(offer(), "offerType"), ["Indicative", "Underwritten"]);
    let durations = ["HalfYear", "Year", "TwoYears", "ThreeYears", "FourYears", "FiveYears", "SixYears"];
    assert_eq!(names(offer(), "duration"), durations);
}

#[test]
fn the_buyer_payload_has_the_fields_of_the_contract_and_requires_none() {
    has_rows(
        payload(),
        &[
            ("name", "string", None, true),
            ("registrationNumber", "string", None, true),
            ("countryCode", "string", None, true),
            ("type", "integer", Some("int32"), true),
            ("bankAccount", "object", None, false),
        ],
    );
    assert_eq!(required(payload()), Vec::<&str>::new());
    assert_eq!(names(payload(), "type"), [0]);
}

#[test]
fn the_bank_account_of_the_payload_has_seven_strings_and_requires_none() {
    let account = document().resolved(&payload()["properties"]["bankAccount"]);
    let names = ["currencyCode", "accountName", "sortCode", "accountNumber", "bic", "accountType", "iban"];
    has_rows(account, &names.map(|name| (name, "string", None, false)));
    assert_eq!(required(account), Vec::<&str>::new());
}

#[test]
fn the_created_buyer_has_the_fields_of_the_contract() {
    let buyer = body(&document().raw("CreateBuyer")["responses"]["201"]);
    has_rows(
        buyer,
        &[
            ("id", "string", Some("uuid"), false),
            ("name", "string", None, true),
            ("registrationNumber", "string", None, true),
            ("countryCode", "string", None, true),
            ("type", "integer", Some("int32"), true),
            ("bankAccount", "object", None, true),
            ("createdAt", "string", Some("date-time"), false),
        ],
    );
    let headers = document().raw("CreateBuyer")["responses"]["201"]["headers"].as_object().expect("headers");
    for header in ["Location", "Idempotency-Replayed", "X-Request-Id"] {
        assert!(headers.contains_key(header), "{header}");
    }
}

#[test]
fn a_lending_error_has_an_error_code_and_a_payments_error_has_none() {
    let rows: [Row<'_>; 6] = [
        ("title", "string", None, false),
        ("message", "string", None, false),
        ("errors", "array", None, false),
        ("date", "string", Some("date-time"), false),
        ("operationId", "string", None, false),
        ("errorCode", "string", None, false),
    ];
    for (name, rows) in [("LendingError", &rows[..]), ("PaymentsError", &rows[..5])] {
        let schema = document().schema(name);
        has_rows(schema, rows);
        assert_eq!(document().resolved(&schema["properties"]["errors"]["items"])["type"], "string");
    }
}

#[test]
fn every_failure_of_an_operation_has_the_error_of_its_area() {
    for id in operations() {
        let lending = document().raw(id)["tags"] == json!(["Lending"]);
        let error = if lending { "LendingError" } else { "PaymentsError" };
        let responses = document().raw(id)["responses"].as_object().expect("responses");
        for (status, response) in responses.iter().filter(|(status, _)| status.starts_with(['4', '5'])) {
            let reference = &response["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(*reference, format!("#/components/schemas/{error}"), "{id} {status}");
        }
    }
}

#[test]
fn the_statuses_of_the_contract_are_declared() {
    for (id, statuses) in [
        ("AcceptOffer", &["200", "401", "403", "404", "408", "409", "413", "500", "503"][..]),
        ("CreateBuyer", &["201", "400", "401", "403", "408", "413", "415", "422", "500", "503"]),
        ("DeclineOffer", &["200", "401", "403", "404", "408", "409", "413", "429", "500", "503"]),
        ("ListApplications", &["200", "400", "401", "403", "429", "500", "503"]),
        ("ListOffers", &["200", "400", "401", "403", "404", "429", "500", "503"]),
        ("GetOffer", &["200", "304", "400", "401", "403", "404", "429", "500", "503"]),
        ("ListBuyers", &["200", "400", "401", "403", "429", "500", "503"]),
        ("GetBuyer", &["200", "304", "400", "401", "403", "404", "429", "500", "503"]),
        ("ListEvents", &["200", "400", "401", "403", "409", "429", "500", "503"]),
    ] {
        let responses = document().raw(id)["responses"].as_object().expect("responses");
        for status in statuses {
            assert!(responses.contains_key(*status), "{id} {status}");
        }
    }
}

#[test]
fn every_example_is_what_its_schema_says() {
    let mut seen = 0;
    for id in operations() {
        let operation = document().raw(id);
        let responses = operation["responses"].as_object().expect("responses").values();
        for content in responses.chain([&operation["requestBody"]]) {
            let media = &content["content"]["application/json"];
            for (name, example) in media["examples"].as_object().into_iter().flatten() {
                let validator = document().validator(&media["schema"]);
                let wrong: Vec<_> = validator.iter_errors(&example["value"]).map(|e| e.to_string()).collect();
                assert!(wrong.is_empty(), "{id} {name}: {wrong:?}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 90, "there are examples to look at: {seen}");
}
