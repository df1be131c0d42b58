//! The pages and the document in both forms.

use crate::context::{Context, document};
use flate2::read::GzDecoder;
use poem::http::Method;
use serde_json::{Value, json};
use std::io::Read as _;

const HTML: &str = "text/html; charset=utf-8";

const PAGES: [(&str, &str); 6] = [
    ("/", HTML),
    ("/guides/errors", HTML),
    ("/reference", HTML),
    ("/docs", HTML),
    ("/openapi.json", "application/json"),
    ("/openapi.yaml", "application/yaml"),
];

/// The tags of a page with these names, as they are written.
fn tags<'h>(html: &'h str, names: &[&str]) -> Vec<&'h str> {
    let opens = html.match_indices('<').map(|(at, _)| &html[at + 1..]);
    let tag = |rest: &'h str| {
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let whole = rest.split('>').next().unwrap_or_default();
        names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)).then_some(whole)
    };
    opens.filter_map(tag).collect()
}

/// The exported document without OAuth 2.0, which these servers do not have. Nothing else differs.
fn served() -> Value {
    let mut value = document().value.clone();
    value["components"]["securitySchemes"].as_object_mut().expect("schemes").shift_remove("OAuth2").expect("it is there");
    for item in value["paths"].as_object_mut().expect("paths").values_mut() {
        for operation in item.as_object_mut().expect("a path item").values_mut() {
            assert_eq!(operation["security"].as_array_mut().map(|all| all.remove(0)), Some(json!({ "ApiKey": [] })));
            operation["security"] = json!([{ "ApiKey": [] }]);
        }
    }
    value
}

/// The pages that the start page lists.
async fn listed(context: &Context) -> Vec<String> {
    let start = context.anonymous().get("/").send().await;
    let (_, nav) = start.text().split_once("<nav").expect("a list of contents");
    nav.split("href=\"").skip(1).map(|rest| rest.split('"').next().expect("a link").to_owned()).collect()
}

#[tokio::test]
async fn every_page_is_small_and_runs_nothing_but_its_own() {
    let context = Context::new().await;
    let pages = listed(&context).await;
    for wanted in ["/", "/reference", "/docs", "/guides/authentication", "/guides/changelog"] {
        assert!(pages.iter().any(|page| page == wanted), "{wanted}: {pages:?}");
    }
    for page in pages.iter().filter(|page| *page != "/docs") {
        let answer = context.anonymous().get(page).header("accept-encoding", "gzip").send().await;
        let most = if page == "/reference" { 400_000 } else { 100_000 };
        assert!(answer.status == 200 && answer.bytes.len() < most, "{page}: {}", answer.bytes.len());
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{page}: {policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{page}: {policy}");
    }
}

#[tokio::test]
async fn pages_are_there_without_a_key() {
    let context = Context::new().await;
    for (page, content_type) in PAGES {
        let answer = context.anonymous().get(page).send().await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(content_type)), "{page}");
        assert!(!answer.bytes.is_empty(), "{page}");
    }
}

#[tokio::test]
async fn head_answers_as_get_without_a_body() {
    let context = Context::new().await;
    for page in ["/", "/docs", "/docs/", "/openapi.json", "/openapi.yaml"] {
        let get = context.anonymous().get(page).send().await;
        let head = context.anonymous().call(Method::HEAD, page).send().await;
        assert_eq!(head.status, get.status, "{page}");
        for header in ["content-type", "location", "content-length", "etag"] {
            assert_eq!(head.header(header), get.header(header), "{page}");
        }
        assert_eq!(head.bytes, b"", "{page}");
    }
}

#[tokio::test]
async fn a_page_comes_compressed_when_that_is_asked_for() {
    let context = Context::new().await;
    for (page, content_type) in PAGES {
        let plain = context.anonymous().get(page).send().await;
        assert_eq!(plain.header("content-encoding"), None);
        let gzip = context.anonymous().get(page).header("accept-encoding", "br;q=1, gzip;q=0.8, *;q=0").send().await;
        assert_eq!(gzip.header("content-encoding"), Some("gzip"));
        assert_ne!(gzip.header("etag"), plain.header("etag"));
        let mut text = Vec::new();
        GzDecoder::new(&*gzip.bytes).read_to_end(&mut text).expect("gzip");
        assert_eq!(text, plain.bytes);
        assert!(gzip.bytes.len() * 2 < plain.bytes.len(), "{page}: {}", gzip.bytes.len());
        for answer in [plain, gzip] {
            assert_eq!(answer.header("content-type"), Some(content_type));
            assert_eq!(answer.header("content-length"), Some(&*answer.bytes.len().to_string()));
            assert_eq!(answer.header("vary"), Some("Accept-Encoding"));
        }
    }
}

#[tokio::test]
async fn a_page_that_the_client_has_is_not_sent_again() {
    let context = Context::new().await;
    for (page, _) in PAGES {
        for encoding in ["identity", "gzip"] {
            let ask = |tags: &str| {
                let call = context.anonymous().get(page).header("accept-encoding", encoding);
                call.header("if-none-match", tags).send()
            };
            let first = ask("\"another\"").await;
            let tag = first.header("etag").expect("a tag");
            for tags in [tag.to_owned(), format!("W/\"x\", W/{tag}"), "*".to_owned()] {
                let again = ask(&tags).await;
                assert_eq!((again.status, &*again.bytes), (304, &b""[..]), "{page} {tags}");
                for header in ["etag", "vary", "cache-control"] {
                    assert_eq!(again.header(header), first.header(header), "{page}");
                }
            }
        }
    }
}

#[tokio::test]
async fn docs_are_a_document_of_today_with_its_language_and_viewport() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/docs").send().await;
    let (head, _) = answer.text().split_once("<style").expect("a head");
    assert!(head.starts_with("<!doctype html>\n<html lang=\"en\">"), "{head}");
    assert!(head.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"), "{head}");
}

#[tokio::test]
async fn docs_with_a_slash_and_the_icon_are_answered() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/docs/").send().await;
    assert_eq!((answer.status, answer.header("location")), (307, Some("/docs")));
    let icon = context.anonymous().get("/favicon.ico").send().await;
    assert_eq!((icon.status, &*icon.bytes), (204, &b""[..]));
}

#[tokio::test]
async fn docs_load_nothing_from_outside() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/docs").send().await;
    let tags = tags(answer.text(), &["script", "link", "img", "iframe", "base", "object", "embed", "source", "video"]);
    assert!(tags.iter().any(|tag| tag.starts_with("script")), "there are tags to look at: {tags:?}");
    for tag in tags {
        let tag = tag.to_lowercase().replace(['"', '\'', ' '], "");
        for attribute in ["src=", "href=", "data="] {
            for outside in ["http:", "https:", "//"] {
                assert!(!tag.contains(&format!("{attribute}{outside}")), "{tag}");
            }
        }
    }
    assert!(!answer.text().contains("@import"), "no style sheet is fetched");
}

#[tokio::test]
async fn docs_keep_no_credentials() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/docs").send().await;
    let options = answer.text().rsplit("SwaggerUIBundle({").next().expect("the page starts Swagger UI");
    assert!(options.contains("deepLinking: true") && !options.contains("persistAuthorization"), "{options}");
}

#[tokio::test]
async fn docs_show_the_document() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/docs").send().await;
    assert!(answer.text().contains(&served().to_string()));
}

#[tokio::test]
async fn openapi_json_is_byte_for_byte_the_exported_document_without_the_oauth_that_is_not_configured() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/openapi.json").send().await;
    assert_eq!(answer.text(), format!("{:#}\n", served()));
}

#[tokio::test]
async fn openapi_yaml_has_the_same_value() {
    let context = Context::new().await;
    let answer = context.anonymous().get("/openapi.yaml").send().await;
    let value: Value = serde_yaml::from_str(answer.text()).expect("YAML");
    assert_eq!(value, served());
}
