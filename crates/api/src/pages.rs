//! The pages for people and generators: Swagger UI and the document in both forms. Nothing is loaded from outside.

use crate::negotiation;
use crate::request_body::BODY;
use crate::shell::Route;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use poem::endpoint::{BoxEndpoint, make_sync};
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, EndpointExt as _, Request, Response, get};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::sync::OnceLock;

/// What the pages show.
pub(crate) struct Pages {
    pub html: String,
    pub json: String,
    pub yaml: String,
    /// Where Swagger UI fetches access tokens, if it does.
    pub token_url: Option<String>,
}

impl Pages {
    /// Adds `/docs`, `/openapi.json`, `/openapi.yaml` below `prefix`, redirects from `/` and `/docs/`, and an empty
    /// `/favicon.ico`, which browsers ask for. Returns the addresses of these.
    pub fn add(self, mut router: poem::Route, prefix: &str) -> (poem::Route, Vec<Route>) {
        let docs = format!("{prefix}/docs");
        let html = complete(&self.html);
        let policy = policy(&html, self.token_url.as_deref());
        let pages: [(String, BoxEndpoint<'static, Response>); 6] = [
            ("/".to_owned(), redirect(&docs).boxed()),
            ("/favicon.ico".to_owned(), make_sync(|_| Response::from(StatusCode::NO_CONTENT)).boxed()),
            (format!("{docs}/"), redirect(&docs).boxed()),
            (docs, Page::new("text/html; charset=utf-8", html, Some(policy)).serve().boxed()),
            (format!("{prefix}/openapi.json"), Page::new("application/json", self.json, None).serve().boxed()),
            (format!("{prefix}/openapi.yaml"), Page::new("application/yaml", self.yaml, None).serve().boxed()),
        ];
        let mut routes = Vec::new();
        for (path, page) in pages {
            router = router.at(&path, get(page));
            routes.push(Route { template: path, allow: "GET, HEAD".to_owned(), preflight: false, body: BODY });
        }
        (router, routes)
    }
}

/// A page without scripts.
pub(crate) fn plain_page(html: String) -> impl Endpoint<Output = Response> {
    let policy = policy(&html, None);
    Page::new("text/html; charset=utf-8", html, Some(policy)).serve()
}

/// Adds what Swagger UI's page lacks: the document type, the language and the viewport.
fn complete(html: &str) -> String {
    const HEAD: &str = "<head>\n    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
    let html = html.trim_start().replacen("<html charset=\"UTF-8\">", "<html lang=\"en\">", 1);
    format!("<!doctype html>\n{}", html.replacen("<head>", HEAD, 1))
}

/// A page that is the same for everybody. All answers share its bytes.
struct Page {
    content_type: &'static str,
    policy: Option<HeaderValue>,
    plain: Bytes,
    /// Compressed and hashed when first asked for: most processes serve no page.
    gzip: OnceLock<Bytes>,
    digest: OnceLock<String>,
}

impl Page {
    fn new(content_type: &'static str, text: String, policy: Option<HeaderValue>) -> Self {
        let (gzip, digest) = Default::default();
        Self { content_type, policy, plain: text.into(), gzip, digest }
    }

    fn serve(self) -> impl Endpoint<Output = Response> {
        make_sync(move |request| self.answer(&request))
    }

    /// RFC 9110: content coding (12.5.3), entity tags (8.8.3), `If-None-Match` (13.1.2), `Vary` (12.5.5).
    fn answer(&self, request: &Request) -> Response {
        let gzip = negotiation::prefers_gzip(request.headers());
        let digest = self.digest.get_or_init(|| BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&self.plain)));
        let tag = if gzip { format!("\"{digest}-gzip\"") } else { format!("\"{digest}\"") };
        let mut response = if negotiation::has_tag(request.headers(), &tag) {
            StatusCode::NOT_MODIFIED.into()
        } else {
            let bytes = if gzip { self.gzip.get_or_init(|| compress(&self.plain)) } else { &self.plain };
            let mut response = Response::builder().content_type(self.content_type).body(bytes.clone());
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_LENGTH, bytes.len().into());
            if gzip {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::from_str(&tag).expect("base64 is visible ASCII"));
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        // New with each release: to be asked about again each time.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        if let Some(policy) = &self.policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        }
        response
    }
}

fn compress(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("a Vec takes everything").into()
}

fn redirect(to: &str) -> impl Endpoint<Output = Response> + use<> {
    let to = HeaderValue::from_str(to).expect("paths of ours are visible ASCII");
    make_sync(move |_| {
        let mut response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT).finish();
        response.headers_mut().insert(header::LOCATION, to.clone());
        response
    })
}

/// Lets exactly the page's own scripts run (CSP Level 3, section 2.3.1), and lets them call this service and the token URL.
/// Styles are free: Swagger UI sets them as it goes.
fn policy(html: &str, token_url: Option<&str>) -> HeaderValue {
    let hash = |script: &str| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)));
    let scripts: String = inlined_scripts(html).into_iter().map(hash).collect();
    // Others would end the list, or the header; a token from such an address has to be fetched by other means.
    let allowed = |url: &&str| url.bytes().all(|byte| byte.is_ascii_graphic() && !b";,".contains(&byte));
    let token_url = token_url.filter(allowed).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src{scripts}; style-src 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {token_url}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    policy.try_into().expect("it is visible ASCII")
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
        policy(html, Some(token_url)).to_str().expect("ASCII").to_owned()
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
        assert!(policy_of(html, "https://auth.example/\n").contains("connect-src 'self' ;"));
    }
}
