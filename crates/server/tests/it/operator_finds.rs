//! Finding things from the command line: by names, by filters, to the end of a list; as tables, JSON and CSV.

use crate::data::fill;
use crate::operator::{Both, KEY};
use serde_json::{Value, json};
use std::path::Path;

/// A service in a directory, and what its commands print as JSON.
fn started(directory: &Path) -> Both {
    Both::start(&directory.join("data"), &[])
}

fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().unwrap_or_else(|| panic!("{field}: {item}"))
}

fn one(mut items: Vec<Value>) -> Value {
    assert_eq!(items.len(), 1, "{items:?}");
    items.remove(0)
}

/// Adds a partner; its id.
fn partner(both: &Both, name: &str) -> String {
    text(&one(both.run_json(&["partner", "add", name])), "id").to_owned()
}

/// Puts an offer of an application; its id.
fn offer(both: &Both, directory: &Path, application: &str, more: &Value) -> String {
    let mut offer = json!({
        "applicationId": application, "details": "x", "fundingType": "TermLoan", "offerType": "Underwritten",
        "annualPercentageRate": 0.0905,
    });
    for (name, value) in more.as_object().expect("an object") {
        offer[name] = value.clone();
    }
    let file = directory.join("offer.json");
    std::fs::write(&file, offer.to_string()).expect("a file");
    text(&one(both.run_json(&["offer", "put", file.to_str().expect("UTF-8")])), "id").to_owned()
}

#[test]
fn a_partner_is_found_by_its_name_where_its_id_is_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = started(directory.path());
    let (north, ltd) = (partner(&both, "Südwind & Co"), partner(&both, "Südwind Ltd"));
    for (arguments, wanted) in [
        (&["partner", "list"][..], &[&north, &ltd][..]),
        (&["partner", "list", "--name", "süDWIND"], &[&north, &ltd]),
        (&["partner", "list", "--name", "ltd"], &[&ltd]),
        (&["partner", "list", "--oauth-client-id", "none"], &[]),
    ] {
        let mut found: Vec<_> = both.run_json(arguments).iter().map(|item| text(item, "id").to_owned()).collect();
        let mut wanted: Vec<_> = wanted.iter().map(|id| (*id).clone()).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{arguments:?}");
    }

    let key = one(both.run_json(&["key", "create", "südwind & CO", "first", "--area", "payments"]));
    assert_eq!(one(both.run_json(&["key", "list", &north]))["keyId"], key["keyId"]);
    let shown = one(both.run_json(&["partner", "show", "Südwind & Co"]));
    assert_eq!((text(&shown, "id"), &shown["keys"][0]["keyId"]), (north.as_str(), &key["keyId"]));
    let shown = both.run(&["partner", "show", &north]);
    assert!(
        shown.contains("Südwind & Co") && shown.contains(text(&key, "keyId")) && shown.contains("payments"),
        "{shown}"
    );
    let application = one(both.run_json(&["application", "add", "Südwind & Co"]));
    assert_eq!(text(&application, "partnerId"), north);
    assert_eq!(one(both.run_json(&["application", "show", text(&application, "id")])), application);
    assert_eq!(both.run_json(&["application", "list", "--partner", "Südwind & Co"]), [application]);
    assert_eq!(both.run_json(&["application", "list", "--partner", &ltd]), Vec::<Value>::new());

    let problem = both.fails(&["partner", "show", "südwind"], KEY);
    for told in ["no partner is called südwind", &format!("Südwind Ltd ({ltd})"), &format!("Südwind & Co ({north})")]
    {
        assert!(problem.contains(told), "{told}: {problem}");
    }
    assert!(both.fails(&["partner", "show", "nobody"], KEY).contains("no partner is called nobody"));
    let other = partner(&both, "SÜDWIND LTD");
    let problem = both.fails(&["key", "create", "Südwind Ltd", "x"], KEY);
    for told in ["several partners are called Südwind Ltd", &ltd, &other] {
        assert!(problem.contains(told), "{told}: {problem}");
    }
    assert!(!problem.contains(&north), "{problem}");
    assert!(both.fails(&["partner", "show", &lendpay_api::uuid().to_string()], KEY).contains("404 Partner not found"));
}

#[test]
fn a_list_goes_to_its_end_or_to_its_limit() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(&directory.path().join("data"), 503);
    let both = started(directory.path());
    let application = data.application.to_string();
    let all = both.run_json(&["offer", "list", &application]);
    assert_eq!(all.len(), 503);
    for arguments in [&["offer", "list"][..], &["offer", "list", "--partner", "Test", "--status", "Offered"]] {
        assert_eq!(both.run_json(arguments), all, "{arguments:?}");
    }
    for limit in [1, 500, 502, 9_999] {
        let some = both.run_json(&["offer", "list", "--limit", &limit.to_string()]);
        assert_eq!(some[..], all[..limit.min(503)], "{limit}");
    }
    let events = both.run(&["events", "--type", "offer.created", "--limit", "502", "--csv"]);
    assert_eq!(events.lines().count(), 503);
    let table = both.run(&["offer", "list", &application]);
    assert_eq!(table.lines().count(), 504, "one heading");
    let refused = both.command(&["offer", "list", "--limit", "0"]).output().expect("the binary runs");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn offers_are_found_shown_and_moved() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = started(directory.path());
    partner(&both, "Northwind");
    let application = text(&one(both.run_json(&["application", "add", "Northwind"])), "id").to_owned();
    let soon =
        offer(&both, directory.path(), &application, &json!({ "expiryAt": "2099-01-02T12:00:00Z", "amount": 25000.5 }));
    let late = offer(&both, directory.path(), &application, &json!({ "expiryAt": "2099-01-03T00:00:00Z" }));
    let never = offer(&both, directory.path(), &application, &json!({ "amount": 9, "details": "a, \"b\"" }));

    let found = |arguments: &[&str]| -> Vec<String> {
        both.run_json(&[&["offer", "list"], arguments].concat()).iter().map(|it| text(it, "id").to_owned()).collect()
    };
    assert_eq!(found(&["--expires-before", "2099-01-03"]), [soon.as_str()], "a date is its beginning");
    assert_eq!(found(&["--expires-before", "2099-01-03T00:00:01Z", "--status", "Offered"]).len(), 2);
    let shown = one(both.run_json(&["offer", "show", &application, &soon]));
    assert_eq!((&shown["amount"], &shown["annualPercentageRate"]), (&json!(25000.5), &json!(0.0905)));
    let record = both.run(&["offer", "show", &application, &soon]);
    for line in ["RATE         0.0905", "AMOUNT       25000.5", "EXPIRES      2099-01-02T12:00:00Z", "INTEREST     -"] {
        assert!(record.lines().any(|found| found == line), "{line}\n{record}");
    }

    let moved =
        |action: &str, offer: &str| one(both.run_json(&["offer", action, &application, offer]))["status"].clone();
    assert_eq!(moved("decline", &soon), "CustomerDeclined");
    assert_eq!(moved("archive", &late), "Archived");
    let problem = both.fails(&["offer", "advance", &application, &never], KEY);
    assert!(problem.contains("409 Transition not allowed"), "{problem}");
    assert_eq!(found(&["--status", "CustomerDeclined"]), [soon.as_str()]);
    assert_eq!(found(&["--partner", "Northwind", "--status", "Offered"]), [never.as_str()]);
    assert!(both.fails(&["offer", "show", &application, &application], KEY).contains("404 Offer not found"));

    let csv = both.run(&["offer", "list", "--csv"]);
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let fields: Vec<_> = shown.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut headers: Vec<_> = rows.headers().expect("a line").iter().map(str::to_owned).collect();
    headers.sort();
    let mut sorted = fields.clone();
    sorted.sort_unstable();
    assert_eq!(headers, sorted, "every field of the answer");
    let rows: Vec<std::collections::HashMap<String, String>> =
        rows.deserialize().collect::<Result<_, _>>().expect("lines");
    let row = rows.iter().find(|row| row["id"] == never).expect("it is there");
    let values = ["details", "amount", "expiryAt", "annualPercentageRate"].map(|field| row[field].as_str());
    assert_eq!(values, ["a, \"b\"", "9", "", "0.0905"]);
}

#[test]
fn buyers_are_found_and_only_who_asks_for_one_sees_its_account() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = started(directory.path());
    let mut buyers = Vec::new();
    for (name, number) in [("Northwind", "1"), ("Southwind", "1"), ("Southwind", "2")] {
        let partners = both.run_json(&["partner", "list", "--name", name]);
        if partners.is_empty() {
            partner(&both, name);
        }
        let key = text(&one(both.run_json(&["key", "create", name, "x"])), "key").to_owned();
        let body = json!({ "name": "Bicycles", "registrationNumber": number, "bankAccount": { "iban": "GB33BUKB20201555555555" } });
        let headers = [("x-service-apikey", key.as_str())];
        let answer = both.server.post("/payments/buyers", &headers, &body.to_string()).expect("an answer");
        assert_eq!(answer.status, 201);
        buyers.push(text(&answer.body, "id").to_owned());
    }
    let found = |arguments: &[&str]| both.run_json(&[&["buyer", "list"], arguments].concat()).len();
    assert_eq!(found(&[]), 3);
    assert_eq!(found(&["--partner", "southwind"]), 2);
    assert_eq!(found(&["--registration-number", "1"]), 2);
    assert_eq!(found(&["--partner", "Southwind", "--registration-number", "1"]), 1);
    let table = both.run(&["buyer", "list"]);
    assert!(table.contains("Bicycles") && !table.contains("GB33"), "{table}");
    for shown in [both.run(&["buyer", "show", &buyers[0]]), both.run(&["buyer", "list", "--csv"])] {
        assert!(shown.contains("GB33BUKB20201555555555"), "{shown}");
    }
    assert!(
        both.run(&["buyer", "list", "--csv"]).starts_with("id,partnerId,name,registrationNumber,countryCode,type,bank")
    );
    assert_eq!(one(both.run_json(&["buyer", "show", &buyers[2]]))["registrationNumber"], "2");
    let problem = both.fails(&["buyer", "show", "../events"], KEY);
    assert!(problem.contains("is no id"), "{problem}");
}
