//! The document that a server serves: the committed one, with the OAuth 2.0 that is configured or without any.

use crate::party::Service;
use crate::process::client;
use serde_json::Value;

#[test]
fn a_server_tells_its_own_token_url_and_nothing_else_differs() {
    let token_url = "https://id.example/tenant/token";
    let service = Service::start(
        &["northwind"],
        &[
            "--oauth-issuer",
            // Nobody is there, and nobody needs to be.
            "http://127.0.0.1:9",
            "--oauth-audience",
            "https://api.example",
            "--oauth-token-url",
            token_url,
        ],
    );
    let served = text(&service, "/openapi.json");
    let committed = include_str!("../../../../openapi/partner.json");
    assert_eq!(served, committed.replacen("https://auth.example/oauth/token", token_url, 1));
    assert_ne!(served, committed);
    let yaml = text(&service, "/openapi.yaml");
    assert!(yaml.contains(token_url) && !yaml.contains("auth.example"));
    let docs = text(&service, "/docs");
    assert!(docs.contains(token_url) && !docs.contains("auth.example"));

    let document: Value = serde_json::from_str(committed).expect("JSON");
    let flow = &document["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"];
    assert_eq!(flow["tokenUrl"], "https://auth.example/oauth/token");
}

#[test]
fn a_server_without_oauth_serves_the_committed_document_without_it() {
    let service = Service::start(&["northwind"], &[]);
    let mut wanted: Value = serde_json::from_str(include_str!("../../../../openapi/partner.json")).expect("JSON");
    let schemes = wanted["components"]["securitySchemes"].as_object_mut().expect("schemes");
    assert!(schemes.shift_remove("OAuth2").is_some());
    for item in wanted["paths"].as_object_mut().expect("paths").values_mut() {
        for operation in item.as_object_mut().expect("a path item").values_mut() {
            let security = operation["security"].as_array_mut().expect("security");
            security.retain(|alternative| alternative.get("OAuth2").is_none());
            assert_eq!(security.len(), 1, "the key is left");
        }
    }
    assert_eq!(text(&service, "/openapi.json"), format!("{wanted:#}\n"));
    for page in ["/openapi.json", "/openapi.yaml", "/docs"] {
        assert!(!text(&service, page).contains("auth.example"), "{page}");
    }
}

fn text(service: &Service, path: &str) -> String {
    let mut response = client().get(format!("http://{}{path}", service.server.address)).call().expect("an answer");
    response.body_mut().read_to_string().expect("text")
}
