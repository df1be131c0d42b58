//! The pages for people and generators: Swagger UI and the document in both forms. Nothing is loaded from outside.

use crate::shell::Route;
use poem::endpoint::{BoxEndpoint, make_sync};
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, EndpointExt as _, Response, get};
use std::sync::Arc;

/// What the pages show.
pub(crate) struct Pages {
    pub html: String,
    pub json: String,
    pub yaml: String,
}

impl Pages {
    /// Adds `/docs`, `/openapi.json`, `/openapi.yaml` below `prefix` and a way there from `/`, and says which addresses these
    /// are.
    pub fn add(self, mut router: poem::Route, prefix: &str) -> (poem::Route, Vec<Route>) {
        let docs = format!("{prefix}/docs");
        let pages: [(String, BoxEndpoint<'static, Response>); 4] = [
            ("/".to_owned(), redirect(&docs).boxed()),
            (docs, fixed("text/html; charset=utf-8", self.html).boxed()),
            (format!("{prefix}/openapi.json"), fixed("application/json", self.json).boxed()),
            (format!("{prefix}/openapi.yaml"), fixed("application/yaml", self.yaml).boxed()),
        ];
        let mut routes = Vec::new();
        for (path, page) in pages {
            router = router.at(&path, get(page));
            routes.push(Route { template: path, allow: "GET, HEAD".to_owned(), preflight: false });
        }
        (router, routes)
    }
}

fn fixed(content_type: &'static str, text: String) -> impl Endpoint<Output = Response> {
    let bytes: Arc<str> = text.into();
    make_sync(move |_| Response::builder().content_type(content_type).body(bytes.to_string()))
}

fn redirect(to: &str) -> impl Endpoint<Output = Response> + use<> {
    let to = HeaderValue::from_str(to).unwrap_or_else(|_| HeaderValue::from_static("/"));
    make_sync(move |_| {
        let mut response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT).finish();
        response.headers_mut().insert(header::LOCATION, to.clone());
        response
    })
}
