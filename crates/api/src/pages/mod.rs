//! The pages for people and generators: guides, reference, Swagger UI, and the document in both forms. Nothing is
//! loaded from outside.
//!
//! | module | subject |
//! |---|---|
//! | `texts` | the guides, which `build.rs` makes from Markdown |
//! | `life_cycle` | the picture in one of them |
//! | `reference` | the document as a page for reading |
//! | `site` | what these pages look like |

#[cfg(test)]
mod checks;
pub(crate) mod life_cycle;
mod reference;
pub(crate) mod site;
mod texts;

use crate::negotiation;
use crate::request_body::BODY;
use crate::shell::Route;
use crate::side::Side;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use poem::endpoint::{BoxEndpoint, make_sync};
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, EndpointExt as _, Request, Response, get};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};
use texts::Text;

/// What the pages show.
pub(crate) struct Pages {
    /// The document.
    pub document: Value,
    /// Swagger UI with it.
    pub html: String,
    pub json: String,
    pub yaml: String,
    /// Where Swagger UI fetches access tokens, if it does.
    pub token_url: Option<String>,
}

impl Pages {
    /// Adds the pages of a side: the start page and the guides, `/reference`, `/docs`, `/openapi.json`,
    /// `/openapi.yaml`, all below the side's prefix, a redirect from `/docs/`, and an empty `/favicon.ico`, which
    /// browsers ask for. Returns the addresses of these.
    pub fn add(self, mut router: poem::Route, side: Side) -> (poem::Route, Vec<Route>) {
        let prefix = side.pages();
        let (docs, guides, path) = (format!("{prefix}/docs"), format!("{prefix}/guides/"), reference::path(side));
        let html = complete(&self.html);
        let policy = policy(&html, self.token_url.as_deref());
        let document = self.document;
        let mut pages: Vec<(String, BoxEndpoint<'static, Response>)> = vec![
            ("/favicon.ico".to_owned(), make_sync(|_| Response::from(StatusCode::NO_CONTENT)).boxed()),
            (format!("{docs}/"), redirect(&docs).boxed()),
            (docs, Page::new("text/html; charset=utf-8", html, Some(policy)).serve().boxed()),
            (format!("{prefix}/openapi.json"), Page::new("application/json", self.json, None).serve().boxed()),
            (format!("{prefix}/openapi.yaml"), Page::new("application/yaml", self.yaml, None).serve().boxed()),
            (path, own_page(move || reference::page(side, &document)).boxed()),
        ];
        let guide = |text: &'static Text| (text.path(side), own_page(move || text.page(side)).boxed());
        pages.extend(Text::of(side).iter().map(guide));
        if !prefix.is_empty() {
            pages.push(("/".to_owned(), redirect(&format!("{prefix}/")).boxed()));
        }
        let mut templates: Vec<String> = Vec::new();
        for (path, page) in pages {
            router = router.at(&path, get(page));
            // Counted together.
            let template = if path.starts_with(&guides) { format!("{guides}{{guide}}") } else { path };
            if !templates.contains(&template) {
                templates.push(template);
            }
        }
        let route = |template| Route { template, allow: "GET, HEAD".to_owned(), preflight: false, body: BODY };
        (router, templates.into_iter().map(route).collect())
    }
}

/// A page of ours at an address, which is made when it is first asked for.
pub(crate) fn own_page(make: impl FnOnce() -> String + Send + 'static) -> impl Endpoint<Output = Response> {
    Page::of_ours(make).serve()
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
    /// Made, compressed and hashed when first asked for: most processes serve no page.
    made: LazyLock<Made, Box<dyn FnOnce() -> Made + Send>>,
    gzip: OnceLock<Bytes>,
    digest: OnceLock<String>,
}

struct Made {
    plain: Bytes,
    policy: Option<HeaderValue>,
}

impl Page {
    fn new(content_type: &'static str, text: String, policy: Option<HeaderValue>) -> Self {
        Self::later(content_type, move || Made { plain: text.into(), policy })
    }

    /// A page of ours, which runs its own scripts and fetches nothing.
    fn of_ours(make: impl FnOnce() -> String + Send + 'static) -> Self {
        Self::later("text/html; charset=utf-8", move || {
            let html = make();
            Made { policy: Some(strict_policy(&html)), plain: html.into() }
        })
    }

    fn later(content_type: &'static str, make: impl FnOnce() -> Made + Send + 'static) -> Self {
        let (gzip, digest) = Default::default();
        Self { content_type, made: LazyLock::new(Box::new(make)), gzip, digest }
    }

    fn serve(self) -> impl Endpoint<Output = Response> {
        make_sync(move |request| self.answer(&request))
    }

    /// RFC 9110: content coding (12.5.3), entity tags (8.8.3), `If-None-Match` (13.1.2), `Vary` (12.5.5).
    fn answer(&self, request: &Request) -> Response {
        let gzip = negotiation::prefers_gzip(request.headers());
        let Made { plain, policy } = &*self.made;
        let digest = self.digest.get_or_init(|| BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(plain)));
        let tag = if gzip { format!("\"{digest}-gzip\"") } else { format!("\"{digest}\"") };
        let mut response = if negotiation::has_tag(request.headers(), &tag) {
            StatusCode::NOT_MODIFIED.into()
        } else {
            let bytes = if gzip { self.gzip.get_or_init(|| compress(plain)) } else { plain };
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
        if let Some(policy) = policy {
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

/// Lets exactly the page's own scripts run (CSP Level 3, section 2.3.1), and lets them call this service and the token
/// URL. Styles are free: Swagger UI sets them as it goes.
fn policy(html: &str, token_url: Option<&str>) -> HeaderValue {
    let scripts = hashes(html, "script");
    // Others would end the list, or the header; a token from such an address has to be fetched by other means.
    let allowed = |url: &&str| url.bytes().all(|byte| byte.is_ascii_graphic() && !b";,".contains(&byte));
    let token_url = token_url.filter(allowed).unwrap_or_default();
    restricted(&format!(
        "script-src{scripts}; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self' {token_url}"
    ))
}

/// Lets exactly the page's own scripts and styles apply, and nothing be fetched.
fn strict_policy(html: &str) -> HeaderValue {
    let (scripts, styles) = (hashes(html, "script"), hashes(html, "style"));
    restricted(&format!("script-src{scripts}; style-src{styles}; img-src data:"))
}

fn restricted(allowed: &str) -> HeaderValue {
    let policy = format!("default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    policy.try_into().expect("it is visible ASCII")
}

/// The hashes of what stands inline, each after a space.
fn hashes(html: &str, tag: &str) -> String {
    let hash = |text: &str| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    inlined(html, tag).into_iter().map(hash).collect()
}

/// What stands between the tags of scripts or styles, as a browser reads them: up to the first end tag.
fn inlined<'h>(html: &'h str, tag: &str) -> Vec<&'h str> {
    let (start, end) = (format!("<{tag}"), format!("</{tag}>"));
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once(&start) {
        let Some((text, next)) = after.split_once('>').and_then(|(_, text)| text.split_once(&end)) else { break };
        found.push(text);
        rest = next;
    }
    found
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
        assert_eq!(inlined(html, "script"), ["alert(1)", "\n'<script' "]);
        // echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
        let policy = policy_of(html, "https://auth.example/oauth/token");
        assert!(
            policy.contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=' 'sha256-"),
            "{policy}"
        );
        assert!(policy.contains("connect-src 'self' https://auth.example/oauth/token;"), "{policy}");
        assert!(!policy_of(html, "https://auth.example/a;script-src *").contains('*'));
        assert!(policy_of(html, "https://auth.example/\n").contains("connect-src 'self' ;"));
        let strict = strict_policy("<style>a {}</style><script>alert(1)</script>");
        assert_eq!(
            strict.to_str().expect("ASCII"),
            "default-src 'none'; script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; \
             style-src 'sha256-mkSHzL7faOU7/U/v8Umg+058R69+vN2A2xmE3Fz1q98='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
    }
}
