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
    /// Adds `/docs`, `/openapi.json`, `/openapi.yaml` and a way there from `/`, and says which addresses these are.
    pub fn add(self, mut router: poem::Route) -> (poem::Route, Vec<Route>) {
        let pages: [(&str, BoxEndpoint<'static, Response>); 4] = [
            ("/", redirect("/docs").boxed()),
            ("/docs", fixed("text/html; charset=utf-8", self.html).boxed()),
            ("/openapi.json", fixed("application/json", self.json).boxed()),
            ("/openapi.yaml", fixed("application/yaml", self.yaml).boxed()),
        ];
        let mut routes = Vec::new();
        for (path, page) in pages {
            router = router.at(path, get(page));
            routes.push(Route { template: path.to_owned(), allow: "GET, HEAD".to_owned(), preflight: false });
        }
        (router, routes)
    }
}

fn fixed(content_type: &'static str, text: String) -> impl Endpoint<Output = Response> {
    let bytes: Arc<str> = text.into();
    make_sync(move |_| Response::builder().content_type(content_type).body(bytes.to_string()))
}

fn redirect(to: &'static str) -> impl Endpoint<Output = Response> {
    make_sync(move |_| {
        let mut response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT).finish();
        response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
        response
    })
}
