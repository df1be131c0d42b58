//! A request on its way in and its answer on its way out.

use super::Context;
use super::check::check;
use futures_util::Stream;
use lendpay_api::Clock as _;
use poem::http::header::HOST;
use poem::http::{HeaderMap, HeaderValue, Method};
use poem::{Body, Endpoint as _, Request};
use serde_json::Value;
use std::fmt;
use std::io;

/// A request that is being put together.
pub struct Call {
    context: Context,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Body,
    request: Request,
}

impl Call {
    pub fn new(context: Context, method: Method, path: &str) -> Self {
        let (headers, body) = (HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost"))]), Body::empty());
        Self { context, method, path: path.to_owned(), headers, body, request: Request::default() }
    }

    /// Adds a header; one of the same name that is there stays.
    pub fn header(self, name: &'static str, value: &str) -> Self {
        self.raw_header(name, value.as_bytes())
    }

    /// Adds a header of any bytes.
    pub fn raw_header(mut self, name: &'static str, value: &[u8]) -> Self {
        self.headers.append(name, HeaderValue::from_bytes(value).expect("a header value"));
        self
    }

    /// Adds an extension, as a listener does.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.request.extensions_mut().insert(value);
        self
    }

    /// A body of known length, without a Content-Type.
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Body::from_vec(bytes.into());
        self
    }

    /// A body of JSON with its Content-Type.
    pub fn json(self, value: &Value) -> Self {
        self.header("content-type", "application/json").body(value.to_string())
    }

    /// A body without a length, as with `Transfer-Encoding: chunked`.
    pub fn stream(mut self, chunks: impl Stream<Item = io::Result<Vec<u8>>> + Send + 'static) -> Self {
        self.body = Body::from_bytes_stream(chunks);
        self
    }

    /// Sends it, and checks what holds for every answer.
    pub async fn send(self) -> Answer {
        let Self { context, method, path, headers, body, mut request } = self;
        request.set_method(method.clone());
        *request.uri_mut() = path.parse().expect("a URI");
        *request.headers_mut() = headers;
        request.set_body(body);
        let response = context.endpoint().get_response(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.into_vec().await.expect("an answer's body can be read");
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, bytes };
        let path = path.split('?').next().unwrap_or_default();
        check(method.as_str(), path, &answer, context.clock().now());
        answer
    }
}

/// An answer that has passed the check.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The body.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).expect("a body is UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(self.text()).expect("the body is JSON")
    }

    /// A header that is there at most once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let values = self.every(name);
        assert!(values.len() < 2, "{name} is there more than once: {values:?}");
        values.first().copied()
    }

    /// Every value of a header.
    pub fn every(&self, name: &str) -> Vec<&str> {
        self.headers.get_all(name).iter().map(|value| value.to_str().expect("visible ASCII")).collect()
    }

    /// The id of the request.
    pub fn operation(&self) -> &str {
        self.header("x-request-id").expect("checked when it came")
    }

    /// The messages of an error.
    pub fn errors(&self) -> Vec<String> {
        serde_json::from_value(self.json()["errors"].clone()).expect("errors is a list of strings")
    }

    /// The body of an error without what differs from request to request.
    pub fn timeless(&self) -> Value {
        let mut body = self.json();
        for field in ["date", "operationId"] {
            body[field] = Value::Null;
        }
        body
    }

    /// Sees to it that this is an error with a status and, in the lending area, with an `errorCode`.
    #[track_caller]
    pub fn is_error(&self, status: u16, code: Option<&str>) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.json().get("errorCode").and_then(Value::as_str), code, "{self:?}");
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = String::from_utf8_lossy(&self.bytes);
        let shown: String = body.chars().take(2_000).collect();
        write!(f, "{} {:?} {shown}", self.status, self.headers)
    }
}
