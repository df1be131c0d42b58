//! The OpenAPI documents: described without a store, finished, the same bytes in every process.

mod endpoint_examples;
mod examples;
mod facts;
mod finish;
mod no_store;
pub(crate) mod operator;
mod operator_examples;
pub(crate) mod partner;
#[cfg(test)]
mod quality;
mod samples;
mod schemas;
mod shared;
mod webhooks;

pub use samples::BASE;
pub use shared::in_place;

use crate::pages::Pages;
use crate::request_body::BODY;
use crate::shell::Route;
use crate::side::Side;
use serde_json::{Map, Value};

/// A document as a file of the folder `openapi/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The file's name.
    pub file: &'static str,
    /// The finished OpenAPI document as JSON, 3.0.3 (that of webhooks alone 3.1.0), indented, with a newline at the
    /// end.
    pub text: String,
}

/// Every document of the service.
pub fn documents() -> Vec<Document> {
    let partner = partner::document();
    let webhooks = format!("{:#}\n", webhooks::for_readers_of_3_1(&partner.value));
    vec![
        Document { file: "partner.json", text: partner.json() },
        Document { file: "operator.json", text: operator::document().json() },
        Document { file: "partner-webhooks.json", text: webhooks },
    ]
}

/// A finished document.
pub(crate) struct Finished {
    value: Value,
    /// Swagger UI's page for the raw document, and the raw document in it.
    page: String,
    raw: String,
}

impl Finished {
    pub fn json(&self) -> String {
        format!("{:#}\n", self.value)
    }

    pub fn pages(&self) -> Pages {
        let title = self.value["info"]["title"].as_str().expect("a document has a title");
        // Without this, browsers request an icon that does not exist.
        let head = format!("<title>{title}</title>\n    <link rel=\"icon\" href=\"data:,\">");
        let page = self.page.replacen("<title>Swagger UI</title>", &head, 1);
        // Deep links are on already.
        let options = "deepLinking: true,\n        displayRequestDuration: true,";
        let page = page.replacen("deepLinking: true,", options, 1);
        Pages {
            document: self.value.clone(),
            html: page.replace(&self.raw, &self.value.to_string()),
            json: self.json(),
            yaml: serde_yaml::to_string(&self.value).expect("what is JSON is YAML"),
            token_url: self.value["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"]["tokenUrl"]
                .as_str()
                .map(str::to_owned),
        }
    }

    /// The addresses of the operations.
    pub fn routes(&self, side: Side) -> Vec<Route> {
        let preflight = side.is_open_to_pages();
        let paths = self.value["paths"].as_object().into_iter().flatten();
        let route = |(template, operations): (&String, &Value)| {
            let operations = operations.as_object().into_iter().flatten();
            let mut methods: Vec<_> = operations.map(|(method, _)| method.to_uppercase()).collect();
            if preflight {
                let head = methods.iter().any(|method| method == "GET").then_some("HEAD");
                methods.extend(head.into_iter().chain(["OPTIONS"]).map(str::to_owned));
            }
            Route { template: template.clone(), allow: methods.join(", "), preflight, body: BODY }
        };
        paths.map(route).collect()
    }
}

/// The operations of a document.
fn operations_of(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().expect("the document has paths");
    paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_the_same_bytes_every_time() {
        assert_eq!(documents(), documents());
    }

    #[test]
    fn a_servers_own_token_url_is_the_only_difference() {
        let (committed, mut with) =
            (partner::document(), partner::served(None, Some("https://id.example/token?a=\"b\"")));
        let flow = &mut with.value["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"];
        assert_eq!(flow["tokenUrl"], "https://id.example/token?a=\"b\"");
        flow["tokenUrl"] = "https://auth.example/oauth/token".into();
        assert_eq!(with.json(), committed.json());
    }

    #[test]
    fn a_server_that_knows_its_address_names_it_in_place_of_none() {
        let url = "https://api.example/lendpay";
        let served = partner::served(Some(&format!("{url}/")), Some("https://auth.example/oauth/token"));
        assert_eq!(served.value["servers"][0]["url"], url);
        assert!(!served.json().contains(samples::BASE));
        let neutral = served.json().replace(url, samples::BASE);
        let neutral = neutral.replacen(&format!("\"url\": \"{}\"", samples::BASE), "\"url\": \"/\"", 1);
        let neutral = neutral.replacen(&format!("\"url\": \"{}/\"", samples::BASE), "\"url\": \"/\"", 1);
        assert_eq!(neutral, partner::document().json());
    }

    #[test]
    fn either_form_of_authentication_suffices_and_the_token_needs_its_scope() {
        let document = partner::document().value;
        for (path, scope) in [
            ("/lending/applications/{applicationId}/offers/{offerId}/accept", "lending.offers.accept"),
            ("/payments/buyers", "payments.buyers.create"),
            ("/lending/applications/{applicationId}/offers/{offerId}/decline", "lending.offers.decline"),
        ] {
            let wanted = serde_json::json!([{ "ApiKey": [] }, { "OAuth2": [scope] }]);
            assert_eq!(document["paths"][path]["post"]["security"], wanted);
        }
    }

    #[test]
    fn the_page_holds_the_finished_document() {
        let document = partner::document();
        let pages = document.pages();
        assert!(pages.html.contains("\"openapi\":\"3.0.3\""));
        for option in ["deepLinking: true,", "displayRequestDuration: true,"] {
            let start = pages.html.rfind("SwaggerUIBundle({").expect("the page starts Swagger UI");
            assert!(pages.html[start..].contains(option), "{option}");
        }
        assert!(!pages.html.contains("\"openapi\": \"3.0.0\""));
        let from_yaml: Value = serde_yaml::from_str(&pages.yaml).expect("YAML");
        assert_eq!(from_yaml, document.value);
    }
}
