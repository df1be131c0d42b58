//! A real authorization server (npm's oidc-provider), and the README's way to get a token from it.

use crate::npm::node;
use crate::party::{AUDIENCE, BUYERS, Service};
use crate::process::readme_blocks;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// The server, running. It ends when its standard input does, and so with the test, however that ends.
pub struct RealIssuer {
    child: Child,
    pub url: String,
}

impl RealIssuer {
    /// Starts it with clients whose secret is `secret`; the end of a client's id tells the algorithm of its tokens.
    pub fn start(clients: &[&str]) -> Self {
        let mut node = node("issuer.mjs");
        node.arg(AUDIENCE).args(clients).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = node.spawn().expect("node starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut url).expect("the issuer's address");
        let url = url.trim_end().to_owned();
        assert!(url.starts_with("http://"), "the issuer ended early");
        Self { child, url }
    }
}

impl Drop for RealIssuer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_token_that_is_fetched_as_the_readme_says_works_on_both_operations() {
    let clients = ["northwind-es256", "contoso-eddsa", "fabrikam-rs256", "tailspin-ps256"];
    let [commands] = readme_blocks("Accept OAuth 2.0 tokens")[..] else { panic!("one block") };
    let issuer = RealIssuer::start(&clients);
    let mut service = Service::with_issuer(&clients, &issuer.url, &[]);
    service.wait_for_keys();
    for (client, offer) in clients.iter().zip(&service.offers) {
        let script = format!(
            "set -e\n{}\necho; echo \"$TOKEN\"\n",
            commands.replace("http://127.0.0.1:8080", &format!("http://{}", service.server.address))
        );
        let mut bash = Command::new("bash");
        bash.args(["-c", &script]).env("CLIENT_ID", client).env("CLIENT_SECRET", "secret");
        bash.env("TOKEN_URL", format!("{}/token", issuer.url)).env("AUDIENCE", AUDIENCE);
        let output = bash.output().expect("bash runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let (created, token) = text.trim_end().rsplit_once('\n').expect("an answer and a token");
        assert!(created.contains("\"name\":\"Northwind Bicycles Ltd\""), "{client}: {text}");
        assert_eq!(service.post_with(offer, token).status, 200, "{client}");
        assert_eq!(service.post_with(offer, token).status, 200, "{client}");
        assert_eq!(service.post_with(BUYERS, token).status, 201, "{client}");
    }
}

#[test]
fn a_token_for_another_resource_or_with_fewer_scopes_is_refused() {
    let issuer = RealIssuer::start(&["northwind-es256"]);
    let mut service = Service::with_issuer(&["northwind-es256"], &issuer.url, &[]);
    service.wait_for_keys();
    let fetch = |scope: &str, resource: &str| {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-u", "northwind-es256:secret", "-d", "grant_type=client_credentials", "-d"]);
        curl.arg(format!("scope={scope}")).arg("-d").arg(format!("resource={resource}"));
        let output = curl.arg(format!("{}/token", issuer.url)).output().expect("curl runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["access_token"].as_str().expect("a token").to_owned()
    };
    let all = "lending.offers.accept payments.buyers.create";
    assert!(service.accepts(&fetch(all, AUDIENCE)));
    assert!(!service.accepts(&fetch(all, "https://another.example")));
    let token = fetch("lending.offers.accept", AUDIENCE);
    assert_eq!(service.post_with(&service.offers[0], &token).status, 200);
    assert_eq!(service.post_with(BUYERS, &token).status, 403);
}
