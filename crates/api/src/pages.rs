//! The pages for people and generators: Swagger UI and the document in both forms. Nothing is loaded from outside.

use crate::shell::Route;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use poem::endpoint::{BoxEndpoint, make_sync};
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, EndpointExt as _, Response, get};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// What the pages show.
pub(crate) struct Pages {
    pub html: String,
    pub json: String,
    pub yaml: String,
    /// Where Swagger UI fetches access tokens, if it does.
    pub token_url: Option<String>,
}

impl Pages {
    /// Adds `/docs`, `/openapi.json`, `/openapi.yaml` below `prefix` and a way there from `/`, and says which addresses these
    /// are.
    pub fn add(self, mut router: poem::Route, prefix: &str) -> (poem::Route, Vec<Route>) {
        let docs = format!("{prefix}/docs");
        let policy = policy(&self.html, self.token_url.as_deref());
        let pages: [(String, BoxEndpoint<'static, Response>); 4] = [
            ("/".to_owned(), redirect(&docs).boxed()),
            (docs, fixed("text/html; charset=utf-8", self.html, policy).boxed()),
            (format!("{prefix}/openapi.json"), fixed("application/json", self.json, None).boxed()),
            (format!("{prefix}/openapi.yaml"), fixed("application/yaml", self.yaml, None).boxed()),
        ];
        let mut routes = Vec::new();
        for (path, page) in pages {
            router = router.at(&path, get(page));
            routes.push(Route { template: path, allow: "GET, HEAD".to_owned(), preflight: false });
        }
        (router, routes)
    }
}

fn fixed(content_type: &'static str, text: String, policy: Option<HeaderValue>) -> impl Endpoint<Output = Response> {
    let bytes: Arc<str> = text.into();
    make_sync(move |_| {
        let mut response = Response::builder().content_type(content_type).body(bytes.to_string());
        let headers = response.headers_mut();
        // The same for everybody, and new with each release.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        if let Some(policy) = &policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        }
        response
    })
}

fn redirect(to: &str) -> impl Endpoint<Output = Response> + use<> {
    let to = HeaderValue::from_str(to).unwrap_or_else(|_| HeaderValue::from_static("/"));
    make_sync(move |_| {
        let mut response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT).finish();
        response.headers_mut().insert(header::LOCATION, to.clone());
        response
    })
}

/// Lets exactly the page's own scripts run (CSP Level 3, section 2.3.1), and lets them call this service and the token URL.
/// Styles are free: Swagger UI sets them as it goes.
fn policy(html: &str, token_url: Option<&str>) -> Option<HeaderValue> {
    let hash = |script: &str| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)));
    let scripts: String = inlined_scripts(html).into_iter().map(hash).collect();
    // These would end the list; a token from such an address has to be fetched by other means.
    let token_url = token_url.filter(|url| !url.contains([';', ',', ' '])).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src{scripts}; style-src 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {token_url}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    policy.try_into().ok()
}

/// What stands between the tags of scripts, as a browser reads them: up to the first end tag.
fn inlined_scripts(html: &str) -> Vec<&str> {
    let mut scripts = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once("<script") {
        let Some((script, next)) = after.split_once('>').and_then(|(_, text)| text.split_once("</script>")) else {
            break;
        };
        scripts.push(script);
        rest = next;
    }
    scripts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy_of(html: &str, token_url: &str) -> String {
        policy(html, Some(token_url)).expect("a header").to_str().expect("ASCII").to_owned()
    }

    #[test]
    fn the_policy_names_every_script_of_the_page() {
        let html = "<head><script charset=\"utf-8\">alert(1)</script></head><script>\n'<script' </script><p>";
        assert_eq!(inlined_scripts(html), ["alert(1)", "\n'<script' "]);
        // echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
        let policy = policy_of(html, "https://auth.example/oauth/token");
        assert!(
            policy.contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=' 'sha256-"),
            "{policy}"
        );
        assert!(policy.contains("connect-src 'self' https://auth.example/oauth/token;"), "{policy}");
        assert!(!policy_of(html, "https://auth.example/a;script-src *").contains('*'));
    }
}
