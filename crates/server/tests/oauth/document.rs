//! The document of a server with OAuth 2.0: the committed one but for the token URL.

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
fn a_server_without_oauth_serves_the_committed_document() {
    let service = Service::start(&["northwind"], &[]);
    assert_eq!(text(&service, "/openapi.json"), include_str!("../../../../openapi/partner.json"));
}

fn text(service: &Service, path: &str) -> String {
    let mut response = client().get(format!("http://{}{path}", service.server.address)).call().expect("an answer");
    response.body_mut().read_to_string().expect("text")
}
